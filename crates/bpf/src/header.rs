//! The laws' parameters as C code, so that an object has default parameters without a loader.
//!
//! Source: the laws of the simulator.

use law::kernel::Params;
use law::kernel::curve::Curve;
use law::kernel::params::Highspeed;
use std::fmt::Write;

/// The content of `crates/law/kernel/defaults.h`.
#[must_use]
pub fn header(p: &Params) -> String {
    let mut text = String::from(
        "/* SPDX-License-Identifier: GPL-2.0-only OR MIT OR Apache-2.0 */\n\
         /* The laws' parameters and curves by default. Generated: make bpf writes it. */\n\
         #ifndef EL_DEFAULTS_H\n#define EL_DEFAULTS_H\n\n#include \"params.h\"\n",
    );
    for (name, curve) in [
        ("HIGHSPEED_A", &p.highspeed.a),
        ("HIGHSPEED_B", &p.highspeed.b),
        ("NR_HSTCP_A", &p.nr_hstcp.a),
        ("NR_HSTCP_B", &p.nr_hstcp.b),
    ] {
        table(&mut text, name, curve);
    }
    assert_eq!(p.ghstcp.highspeed, p.highspeed, "one pair of curves for both");
    let (g, n, s, h) = (&p.ghstcp, &p.nr_hstcp, &p.scalable, &p.htcp);
    let rows = [
        format!(".highspeed = {},", of_highspeed(&p.highspeed)),
        format!(".ghstcp = {{ .highspeed = {},", of_highspeed(&g.highspeed)),
        format!(
            "\t.z_squared = {}ull, .least = {}, .factor = {}, .tick = {} }},",
            g.z_squared, g.least, g.factor, g.tick
        ),
        format!(".nr_hstcp = {{ .reference_rtt = {}, .reference_segment = {},", n.reference_rtt, n.reference_segment),
        format!("\t.min_decrease = {}, .max_decrease = {},", n.min_decrease, n.max_decrease),
        "\t.a = { { EL_NR_HSTCP_A } }, .b = { { EL_NR_HSTCP_B } } },".into(),
        format!(
            ".scalable = {{ .legacy_window = {}, .increase = {}, .decrease = {} }},",
            s.legacy_window, s.increase, s.decrease
        ),
        format!(".htcp = {{ .low_speed = {}, .beta_min = {}, .beta_max = {},", h.low_speed, h.beta_min, h.beta_max),
        format!("\t.throughput_change = {}, .adaptive_backoff = {},", h.throughput_change, h.adaptive_backoff),
        format!("\t.rtt_scaling = {}, .reference_rtt = {} }},", h.rtt_scaling, h.reference_rtt),
    ];
    writeln!(text, "\n#define EL_DEFAULTS {{ \\\n\t{} \\\n}}\n\n#endif", rows.join(" \\\n\t"))
        .expect("writing to a String cannot fail");
    text
}

fn of_highspeed(p: &Highspeed) -> String {
    format!(
        "{{ .low_window = {}, .least_b = {}, .a = {{ {{ EL_HIGHSPEED_A }} }}, .b = {{ {{ EL_HIGHSPEED_B }} }} }}",
        p.low_window, p.least_b
    )
}

fn table(text: &mut String, name: &str, curve: &Curve) {
    let rows: Vec<String> =
        curve.at.chunks(12).map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")).collect();
    writeln!(text, "\n#define EL_{name} \\\n\t{}", rows.join(", \\\n\t")).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_there() {
        let there = include_str!("../../law/kernel/defaults.h");
        assert!(header(&Params::default()) == there, "kernel/defaults.h is of other laws: make bpf writes it anew");
    }
}
