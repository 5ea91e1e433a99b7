//! The twins of the kernel's laws in the place of the simulator's: the same windows, to what a file's head says.

extern crate elephan_law as law;

use base::{Span, Value};
use law::rounds::{Path, rounds};
use law::{LawSpec, Signal, StartSpec};

const LAWS: [&str; 5] = ["highspeed", "ghstcp", "nr-hstcp", "scalable", "htcp"];

fn windows(law: &str, arithmetic: &str) -> Vec<f64> {
    let mut spec = LawSpec::named(law).unwrap();
    spec.set("arithmetic", &Value::Text(arithmetic.into())).unwrap().unwrap();
    let mut control = spec.build(&StartSpec::named("classic").unwrap(), 2.0, 1000.0).unwrap();
    let path = Path { base_rtt: Span::millis(100), bdp: 1e6 };
    let events = [(60, Signal::Loss), (90, Signal::Timeout), (120, Signal::Loss)];
    rounds(&mut control, path, &events, 160).iter().map(|round| round.cwnd).collect()
}

#[test]
fn on_a_path_without_a_queue_windows_are_those_of_floating_point() {
    for law in LAWS {
        for (round, (exact, twin)) in windows(law, "exact").into_iter().zip(windows(law, "kernel")).enumerate() {
            assert_eq!(twin, twin.trunc(), "{law}: whole segments");
            // A segment for each cut and for the one under way; 1 % for H-TCP, whose alpha moves with every ACK and not
            // once a round trip.
            let limit = if law == "htcp" { 4.0 + 0.01 * exact } else { 4.0 + 5e-4 * exact };
            assert!((twin - exact).abs() < limit, "{law}, round {round}: {twin}, not {exact}");
        }
    }
}

#[test]
fn what_the_kernel_cannot_do_is_refused_by_name() {
    for (law, parameter, value, said) in [
        ("ghstcp", "window", Value::Text("sliding".into()), "window: must be \"tumbling\" in the kernel"),
        ("nr-hstcp", "rtt", Value::Text("min".into()), "rtt: must be \"srtt\" in the kernel"),
        ("htcp", "throughput_change", Value::Number(20.0), "throughput_change: must be below 16 in the kernel"),
    ] {
        let mut spec = LawSpec::named(law).unwrap();
        spec.set("arithmetic", &Value::Text("kernel".into())).unwrap().unwrap();
        spec.set(parameter, &value).unwrap().unwrap();
        let error = spec.build(&StartSpec::named("classic").unwrap(), 2.0, f64::INFINITY).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
}
