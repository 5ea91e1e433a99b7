//! Links that change, lose packets in bursts or shape them, written wrong: each with its message, one line, the place first.

extern crate elephan_scenario as scenario;

use scenario::read;

/// Message on reading a link with these lines, which may include `rate` and `delay`.
fn message(lines: &str) -> String {
    let rate = if lines.starts_with("rate") { "" } else { "rate = \"1 Gbit/s\"" };
    let text = format!(
        "duration = \"20 s\"\n[[links]]\nname = \"l\"\n{rate}\nbuffer = \"100 packets\"\n{lines}\n\
         [[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\npacket = \"1500 B\"\n"
    );
    read(&text).map_or_else(|error| error.to_string(), |_| "it was read".into())
}

fn all_refused(cases: &[(&str, &str)]) {
    for (lines, expected) in cases {
        let expected = expected.replace("{FORM}", FORM);
        assert_eq!(message(lines), format!("links[0].{expected}"), "{lines}");
    }
}

const FORM: &str = r#"must be a rate such as "1 Gbit/s" or a table such as { steps = [["0 s", "50 Mbit/s"], ["3 s", "5 Mbit/s"]] }, { trace = "cellular.up" } or { uniform = ["100 Mbit/s", "155 Mbit/s"] }; one of its forms"#;

#[test]
fn rates_that_change() {
    all_refused(&[
        ("rate = {}", "rate: {FORM}"),
        ("rate = { steps = [] }", "rate.steps: must not be empty"),
        (r#"rate = { steps = [["1 s", "5 Mbit/s"]] }"#, r#"rate.steps[0]: must begin at "0 s""#),
        (
            r#"rate = { steps = [["0 s", "5 Mbit/s"], ["0 s", "7 Mbit/s"]] }"#,
            "rate.steps[1]: must begin later than the step in front of it",
        ),
        (
            r#"rate = { steps = [["0 s", "5 Mbit/s"], ["1 s"]] }"#,
            r#"rate.steps[1]: must be a time and a rate, such as ["3 s", "5 Mbit/s"]"#,
        ),
        (
            r#"rate = { steps = [["0 s", "5 Mbit/s"], ["1 s", "5 bit/s"]] }"#,
            "rate.steps[1][1]: must lie between 1 kbit/s and 1000 Tbit/s, not 5 bit/s",
        ),
        (
            r#"rate = { steps = [["0 s", "5 Mbit/s"], ["1 s", "0 bit/s"]] }"#,
            "rate.steps: must let something pass in the end, or have a period",
        ),
        (r#"rate = { steps = [["0 s", "0 bit/s"]], period = "1 s" }"#, "rate.steps: must let something pass"),
        (
            r#"rate = { steps = [["0 s", "5 Mbit/s"], ["1 s", "0 bit/s"]], period = "1 s" }"#,
            "rate.steps: must all begin before the end of the period",
        ),
        (
            r#"rate = { opportunities = "5 4" }"#,
            "rate.opportunities: entry 2: 4 ms comes before the one in front of it; sort them",
        ),
        (
            r#"rate = { steps = [["0 s", "0 bit/s"], ["30 s", "1 Mbit/s"]] }"#,
            "rate: must let something pass before the end of the run: its mean is below 1 bit/s",
        ),
        (
            r#"rate = { opportunities = "30000000" }"#,
            "rate: must let something pass before the end of the run: its mean is below 1 bit/s",
        ),
        (r#"rate = { opportunities = "5", period = "1 s" }"#, "rate.period: is for steps only"),
        (
            r#"rate = { opportunities = "5", sine = { mean = "5 Mbit/s", amplitude = "5 Mbit/s", period = "1 s" } }"#,
            "rate: {FORM}",
        ),
        (
            r#"rate = { trace = "cellular.up" }"#,
            "rate.trace: a file is read by the command line and by Python; what it holds goes into opportunities",
        ),
        (
            r#"rate = { sine = { mean = "5 Mbit/s", amplitude = "6 Mbit/s", period = "1 s" } }"#,
            "rate.sine.amplitude: must not be above the mean",
        ),
        (
            r#"rate = { sine = { mean = "5 Mbit/s", amplitude = "5 Mbit/s", period = "1 us" } }"#,
            "rate.sine.period: must lie between 1 ms and 1000000 s, not 1 us",
        ),
        (
            r#"rate = { markov = { rates = ["0 bit/s", "0 bit/s"], times = ["1 s", "1 s"] } }"#,
            "rate.markov.rates: must not both be 0: nothing would ever pass",
        ),
        (
            r#"rate = { markov = { rates = ["5 Mbit/s"], times = ["1 s", "1 s"] } }"#,
            r#"rate.markov.rates: must be a list of two rates such as ["100 Mbit/s", "10 Mbit/s"]"#,
        ),
    ]);
}

const DELAY: &str = r#"must be a time such as "50 ms" or a table such as { steps = [["0 s", "20 ms"], ["15 s", "45 ms"]] }, { trace = "passes.csv" } or { uniform = ["10 ms", "20 ms"] }; one of its forms"#;

#[test]
fn delays_that_change_and_jitter() {
    all_refused(&[
        ("delay = {}", &format!("delay: {DELAY}")),
        (r#"delay = { steps = [["0 s", "1 ms"]], uniform = ["1 ms", "2 ms"] }"#, &format!("delay: {DELAY}")),
        (r#"delay = ["1 ms"]"#, &format!("delay: {}", DELAY.replace("; one of its forms", ""))),
        ("delay = { steps = [] }", "delay.steps: must not be empty"),
        (r#"delay = { steps = [["1 s", "5 ms"]] }"#, r#"delay.steps[0]: must begin at "0 s""#),
        (
            r#"delay = { steps = [["0 s", "5 ms"], ["2 s", "6 ms"], ["1 s", "7 ms"]] }"#,
            "delay.steps[2]: must begin later than the step in front of it",
        ),
        (
            r#"delay = { steps = [["0 s", "5 ms"], ["1 s"]] }"#,
            r#"delay.steps[1]: must be a list of two times such as ["10 ms", "200 ms"]"#,
        ),
        (
            r#"delay = { steps = [["0 s", "5 ms"], ["1 s", "2 h"]] }"#,
            "delay.steps[1]: must lie between 0 s and 3600 s, not 7200 s",
        ),
        (
            r#"delay = { steps = [["0 s", "5 ms"], ["1 s", "7 ms"]], period = "1 s" }"#,
            "delay.steps: must all begin before the end of the period",
        ),
        (r#"delay = { uniform = ["1 ms", "2 ms"], period = "1 s" }"#, "delay.period: is for steps only"),
        (
            r#"delay = { trace = "passes.csv" }"#,
            "delay.trace: a file is read by the command line and by Python; what it holds goes into steps",
        ),
        (r#"jitter = "2 h""#, "jitter: must lie between 0 s and 3600 s, not 7200 s"),
        (r#"jitter = "-1 ms""#, r#"jitter: "-1 ms" is out of range; times lie between 0 and 11 days"#),
        (r#"jitter = { uniform = ["2 ms", "1 ms"] }"#, "jitter.uniform: the first time must not be above the second"),
        (r#"jitter = { exponential = "2 min" }"#, "jitter.exponential: must lie between 0 s and 60 s, not 120 s"),
        (r#"jitter = { normal = "2 ms" }"#, "jitter.normal: unknown key; known here: uniform, exponential"),
        (
            "jitter = {}",
            r#"jitter: must be a time such as "2 ms" or a table such as { uniform = ["1 ms", "3 ms"] } or { exponential = "1 ms" }; one of its forms"#,
        ),
    ]);
    // Round trips of 100 ms: what links propagate in the mean over the 20 s must not be more, and none may be above 50 s.
    let of_flow = |lines: &str| message(lines).replace("flows[0].rtt: ", "");
    let steps = r#"delay = { steps = [["0 s", "90 ms"], ["10 s", "120 ms"]] }"#;
    assert_eq!(of_flow(steps), "100 ms is below the 105 ms that its links propagate");
    assert_eq!(of_flow(&steps.replace("10 s", "15 s")), "it was read");
    assert_eq!(of_flow("delay = \"95 ms\"\njitter = \"12 ms\""), "100 ms is below the 101 ms that its links propagate");
    assert_eq!(of_flow("delay = \"95 ms\"\njitter = \"10 ms\""), "it was read");
    let far = of_flow(r#"delay = { steps = [["0 s", "0 s"], ["19.99 s", "51 s"]] }"#);
    assert_eq!(far, "must lie between 1 us and 50 s, not 51.0745 s");
}

#[test]
fn loss_in_bursts_and_in_intervals() {
    all_refused(&[
        (
            "loss = { gilbert = { enter = 0.1, leave = 0.0 } }",
            "loss.gilbert.leave: must be above 0: the chain would stay bad for ever",
        ),
        (
            "loss = { bursts = { mean = 0.9, length = 2 } }",
            "loss.bursts.mean: must be at most length / (1 + length): a packet at least lies between two bursts",
        ),
        (r#"loss = { during = [["2 s", "1 s"]] }"#, "loss.during[0]: must end later than it begins"),
        (
            r#"loss = { during = [["1 s", "3 s"], ["2 s", "4 s"]], random = 0.1 }"#,
            "loss.during[1]: must not begin before the end of the one in front of it, 3 s",
        ),
    ]);
}

#[test]
fn buckets_and_batches() {
    all_refused(&[
        (r#"policer = { rate = "9 Mbit/s", burst = "1499 B" }"#, "policer.burst: must hold a packet at least, 1500 B"),
        (r#"shaper = { rate = "9 Mbit/s", burst = "1 kB" }"#, "shaper.burst: must hold a packet at least, 1500 B"),
        (r#"batch = "0 s""#, r#"batch: must be above 0, or "none""#),
    ]);
}

/// Message on reading a file with a pool and one link.
fn of_pool(pool: &str, link: &str) -> String {
    let text = format!(
        "duration = \"20 s\"\n[[pools]]\nname = \"chip\"\n{pool}\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\n{link}\n\
         [[flows]]\npath = [\"l\"]\nrtt = \"100 ms\"\npacket = \"1500 B\"\n"
    );
    read(&text).map_or_else(|error| error.to_string(), |_| "it was read".into())
}

#[test]
fn pools_and_links_that_draw_on_them() {
    let (size, link) = (r#"size = "12 MB""#, r#"pool = "chip""#);
    assert_eq!(of_pool(size, link), "it was read");
    assert_eq!(of_pool(r#"size = "8000 packets""#, "pool = \"chip\"\nbuffer = \"1 MB\"\nalpha = 0.5"), "it was read");
    for (pool, said) in [
        ("", r#"pools[0].size: missing; write for example size = "12 MB""#),
        (
            r#"size = "5 ms""#,
            "pools[0].size: \"5 ms\" is out of range; pools are in bytes or packets: links of many rates and round trips share them",
        ),
        (r#"size = "2000 GB""#, "pools[0].size: \"2000 GB\" is out of range; pools hold 1000 GB at most"),
        (
            r#"size = "2 TB""#,
            "pools[0].size: unknown unit \"TB\" in \"2 TB\"; pools are in packets, B, kB, MB, GB, KiB, MiB or GiB",
        ),
        (
            "size = \"1 MB\"\nsharing = \"fair\"",
            "pools[0].sharing: unknown sharing \"fair\"; available: complete, static, dynamic",
        ),
        ("size = \"1 MB\"\nalpha = 0", "pools[0].alpha: must lie between 0.000001 and 1000000"),
        ("size = \"1 GB\"\nsharin = 1", "pools[0].sharin: unknown key; did you mean `sharing`?"),
    ] {
        assert_eq!(of_pool(pool, link), said);
    }
    for (link, said) in [
        (r#"pool = "chop""#, "links[0].pool: unknown pool \"chop\"; did you mean \"chip\"?"),
        (
            "pool = \"chip\"\nqueue = \"codel\"",
            "links[0].queue: codel cannot share a pool; drop-tail, red, ared, gared, pd-red, rem and pie can",
        ),
        (
            "pool = \"chip\"\nqueue = \"blue\"",
            "links[0].queue: blue cannot share a pool; drop-tail, red, ared, gared, pd-red, rem and pie can",
        ),
        (r#"pool = "none""#, "links[0].buffer: missing; write for example buffer = \"1250 packets\", or \"unlimited\""),
        (r#"buffer = "1 MB""#, "pools[0]: no link draws on it; write pool = \"chip\" in a [[links]] table"),
    ] {
        assert_eq!(of_pool(size, link), said);
    }
    let without = message(r#"pool = "chip""#);
    assert_eq!(without, "links[0].pool: there is no pool \"chip\"; write a [[pools]] table with its name and size");
    // 1 TB is 8 * 10^12 bits: at 8 Mbit/s 10^6 s, and what takes longer is refused.
    let slow = |mbit: u32| {
        of_pool(
            r#"size = "1000 GB""#,
            &format!("pool = \"chip\"\nshaper = {{ rate = \"{mbit} Mbit/s\", burst = \"9 kB\" }}"),
        )
    };
    assert_eq!(slow(8), "it was read");
    assert_eq!(slow(7), "pools[0].size: would take more than 11 days to drain at 7 Mbit/s");
}

#[test]
fn traces_that_packets_go_round_without_a_delay() {
    let text = |delay: &str, both: bool| {
        let trace = "rate = { opportunities = \"1\" }\nbuffer = \"9 packets\"";
        let link = |name: &str| format!("[[links]]\nname = \"{name}\"\ndelay = \"{delay}\"\n{trace}\n");
        let flow =
            |path: &str, back: &str| format!("[[flows]]\npath = [\"{path}\"]\nreturn = [\"{back}\"]\nrtt = \"9 ms\"\n");
        let flows = [flow("a", "b"), if both { flow("b", "a") } else { String::new() }].concat();
        let text = format!("duration = \"2 s\"\n{}{}{flows}", link("a"), link("b"));
        read(&text).map_or_else(|error| error.to_string(), |_| "it was read".into())
    };
    assert_eq!(text("0 s", true), "links[0].delay: must be at least 1 us: packets go round between traces here");
    for (delay, both) in [("0 s", false), ("1 us", true)] {
        assert_eq!(text(delay, both), "it was read");
    }
}

const REORDER: &str = r#"must be a table such as { late = 0.01, by = "10 ms" }, { early = 0.25, by = "10 ms" } or { paths = ["0 s", "5 ms"] }, or "jitter""#;

#[test]
fn rules_of_reordering() {
    all_refused(&[
        ("reorder = \"all\"", &format!("reorder: {REORDER}")),
        ("reorder = {}", &format!("reorder: {REORDER}; one of its forms")),
        (r#"reorder = { late = 0.1, early = 0.1, by = "1 ms" }"#, &format!("reorder: {REORDER}; one of its forms")),
        ("reorder = { late = 0.1 }", "reorder.by: missing; write for example by = \"10 ms\""),
        (r#"reorder = { late = 1.5, by = "1 ms" }"#, "reorder.late: must lie between 0 and 1"),
        (r#"reorder = { paths = ["1 ms"] }"#, "reorder.paths: must be 2 to 1024 delays"),
        (r#"reorder = { paths = ["1 ms", "2 ms"], gap = 3 }"#, "reorder.gap: is for late and early only"),
        (r#"reorder = { late = 0.5, by = "1 ms", spray = "random" }"#, "reorder.spray: is for paths only"),
    ]);
    for rule in
        ["\"none\"", "\"jitter\"", r#"{ early = 0.25, by = "1 ms", gap = 5 }"#, r#"{ paths = ["0 s", "1 ms"] }"#]
    {
        assert_eq!(message(&format!("reorder = {rule}")), "it was read");
    }
    // The mean counts: a tenth of 200 ms above 85.
    assert_eq!(
        message("delay = \"85 ms\"\nreorder = { late = 0.1, by = \"200 ms\" }"),
        "flows[0].rtt: 100 ms is below the 105 ms that its links propagate"
    );
}
