//! Links that reorder packets: both engines agree whatever the rule, the discipline, the recovery and the traffic are, and packets come
//! as the rule says.

use crate::equality::{datagrams, dumbbell, equal};
use queue::QUEUES;
use sim::{Engine, Options, Outcome, simulate};

/// Rules, each with what else its link needs.
const RULES: [&str; 7] = [
    "reorder = { late = 0.02, by = \"7 ms\" }",
    "reorder = { early = 0.25, by = \"10 ms\" }",
    "reorder = { early = 1.0, by = \"4 ms\", gap = 5 }",
    "reorder = { paths = [\"1 ms\", \"4 ms\", \"3 ms\"] }",
    "reorder = { paths = [\"0 s\", \"2 ms\"], spray = \"random\" }\njitter = \"500 us\"",
    "reorder = \"jitter\"\njitter = \"4 ms\"",
    "reorder = \"jitter\"\njitter = { exponential = \"1 ms\" }\nbatch = \"3 ms\"",
];

#[test]
fn every_discipline_behind_which_packets_overtake_others() {
    for (i, queue) in QUEUES.iter().map(|entry| entry.card.name).enumerate() {
        let law = if queue == "xcp" { "control = { law = \"xcp\" }" } else { "tcp = { ecn = true }" };
        let rule = RULES[i % RULES.len()];
        let text = dumbbell(5, "40 packets", &format!("queue = {{ discipline = \"{queue}\" }}\n{rule}"), law);
        let link = &equal(&format!("{queue} {rule}"), &text.replace("\"8 s\"", "\"5 s\"")).links[0];
        assert!(link.propagation_min_s < link.propagation_s && link.propagation_s < link.propagation_max_s);
    }
}

#[test]
fn every_recovery_over_every_rule_also_where_acks_overtake_acks() {
    for (i, recovery) in ["tahoe", "reno", "newreno", "sack", "prr", "rack"].into_iter().enumerate() {
        for (j, rule) in RULES.into_iter().enumerate() {
            let tcp = ["{}", "\"linux\"", "{ dup_thresh = \"adaptive\", delayed_ack = 2 }"][(i + j) % 3];
            let law = ["reno", "cubic", "bbr1"][if i < 3 { j % 2 } else { j % 3 }];
            let back =
                "[[links]]\nname = \"back\"\nrate = \"5 Mbit/s\"\nbuffer = \"20 packets\"\nloss = { random = 0.01 }\n";
            let more = format!("recovery = \"{recovery}\"\ncontrol = \"{law}\"\ntcp = {tcp}\n");
            let text = dumbbell(2, "20 packets", rule, &more).replace("\"8 s\"", "\"4 s\"");
            let both = text.replace("[[flows]]", &format!("{back}{rule}\n[[flows]]\nreturn = [\"back\"]"));
            for text in [text, both] {
                equal(&format!("{recovery} {law} {rule} {tcp}"), &text);
            }
        }
    }
}

#[test]
fn transfers_headers_and_pools_over_links_in_series_that_reorder() {
    let link = |name: &str, more: &str| {
        format!("[[links]]\nname = \"{name}\"\nrate = \"8 Mbit/s\"\ndelay = \"3 ms\"\n{more}\n")
    };
    let flow = |path: &str, more: &str| format!("[[flows]]\ncount = 2\npath = [{path}]\nrtt = \"40 ms\"\n{more}\n");
    for (i, rule) in RULES.into_iter().enumerate() {
        let other = RULES[(i + 2) % RULES.len()];
        let pool = "pool = \"chip\"\n";
        let text = [
            "duration = \"4 s\"\n[[pools]]\nname = \"chip\"\nsize = \"40 packets\"\n".to_owned(),
            link("a", &format!("{pool}{rule}")),
            link("b", &format!("{pool}{other}")),
            link("c", &format!("buffer = \"30 packets\"\nqueue = \"xcp\"\n{other}")),
            flow("\"a\", \"b\"", "traffic = { kind = \"web\", size = \"20 kB\", think = \"50 ms\" }"),
            flow(
                "\"b\", \"a\"",
                "return = [\"c\"]\ntraffic = { kind = \"video\", size = \"40 kB\", every = \"90 ms\" }",
            ),
            flow("\"c\", \"a\"", "control = \"xcp\""),
            flow("\"a\", \"b\"", "traffic = { kind = \"ping\", every = \"7 ms\" }\ntcp = { send_jitter = \"1 ms\" }"),
        ]
        .concat();
        equal(rule, &text);
    }
}

/// Packets of 1500 bytes, one each millisecond, over link "a" of 1 Gbit/s with this rule to link "l", where their arrivals are recorded.
fn arrivals(rule: &str, seconds: u32) -> Vec<u64> {
    let text = format!(
        "duration = \"{seconds} s\"\n\
         record = {{ packets = [{{ link = \"l\", from = \"0 s\", to = \"{seconds} s\" }}] }}\n\
         [[links]]\nname = \"a\"\nrate = \"1 Gbit/s\"\nbuffer = \"50 packets\"\n{rule}\n\
         [[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"5000 packets\"\n\
         [[flows]]\npath = [\"a\", \"l\"]\nrtt = \"200 ms\"\npacket = \"1500 B\"\n\
         traffic = {{ kind = \"cbr\", rate = \"12 Mbit/s\" }}"
    );
    let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = Options { engine: Engine::Window, series: true, hash: true, ..Options::default() };
    let outcome: Outcome = simulate(&scenario, 0, options).expect("small");
    outcome.packets[0].rows.iter().map(|row| row.seq).collect()
}

/// Share of packets that arrive after one sent later.
fn overtaken(order: &[u64]) -> f64 {
    let mut highest = 0;
    let late = order.iter().filter(|&&seq| {
        highest = highest.max(seq);
        seq < highest
    });
    late.count() as f64 / order.len() as f64
}

#[test]
fn the_share_of_packets_that_are_overtaken_is_that_of_the_rule() {
    let n = 60_000.0_f64;
    let cases: [(&str, f64); 6] = [
        // Late by ten gaps: unless the ten that follow are all late.
        ("reorder = { late = 0.05, by = \"10500 us\" }", 0.05),
        // As late as less than a gap: nobody overtakes.
        ("reorder = { late = 0.5, by = \"900 us\" }", 0.0),
        // Early by two gaps and a half: it overtakes the two before it. One is overtaken unless itself or both that follow are not
        // early: (1 - p) (1 - (1 - p)^2).
        ("reorder = { early = 0.25, by = \"2500 us\" }", 0.75 * (1.0 - 0.75 * 0.75)),
        // One of five is early, by a gap and a half: it overtakes one.
        ("reorder = { early = 1.0, by = \"1500 us\", gap = 5 }", 0.2),
        // Two ways in turn that differ by a gap and a half: every packet of the longer one.
        ("reorder = { paths = [\"0 s\", \"1500 us\"] }", 0.5),
        // Overtaken if the next draws at least a gap less: uniform over two gaps, P(X - Y > 1/2) = (1/2)^2 / 2.
        ("reorder = \"jitter\"\njitter = \"2 ms\"", 0.125),
    ];
    for (rule, expected) in cases {
        let share = overtaken(&arrivals(rule, 60));
        // Five standard deviations of as many independent packets; neighbours are not quite.
        let tolerance = 5.0 * (2.0 * expected * (1.0 - expected) / n).sqrt() + 1e-4;
        assert!((share - expected).abs() <= tolerance, "{rule}: {share}, not {expected}");
    }
}

#[test]
fn datagrams_are_all_delivered_in_whatever_order() {
    for rule in RULES {
        let text = dumbbell(1, "12 packets", rule, "name = \"tcp\"");
        let traffic = "kind = \"poisson\", rate = \"1 Mbit/s\"";
        let outcome = equal(rule, &(text + &datagrams("few", 3, "\"l\"", traffic, "")));
        assert!(outcome.flows[1..].iter().all(|flow| flow.goodput_bps > 0.0));
    }
}

/// Share of segments sent again of a flow whose window stays at 40 segments, one for each 200 us, over a link that loses nothing;
/// `late` of the packets come three gaps and a half late.
fn sent_again(late: f64, tcp: &str, recovery: &str) -> f64 {
    let text = format!(
        "duration = \"60 s\"\nwarmup = \"2 s\"\n\
         [[links]]\nname = \"l\"\nrate = \"40 Mbit/s\"\nbuffer = \"500 packets\"\nreorder = {{ late = {late}, by = \"700 us\" }}\n\
         [[flows]]\npath = [\"l\"]\nrtt = \"2 ms\"\npacket = \"1000 B\"\ncontrol = {{ law = \"constant-rate\", increase = 1e-9, decrease = 1e-9 }}\nrecovery = \"{recovery}\"\n\
         tcp = {{ initial_window = 40, initial_ssthresh = 40.0{tcp} }}"
    );
    let outcome = equal(&text, &text);
    outcome.flows[0].retransmitted as f64 / outcome.flows[0].sent as f64
}

#[test]
fn a_segment_that_three_overtake_is_sent_again_unless_the_threshold_is_four() {
    // A packet that comes three gaps and a half late is overtaken by the three that follow, unless one of them is late, too: then
    // it is overtaken by fewer. So of all packets late * (1 - late)^3 are sent again with a threshold of three, of which the copies
    // are packets, too, and none with four.
    let late: f64 = 0.01;
    let spurious = late * (1.0 - late) * (1.0 - late) * (1.0 - late);
    for recovery in ["sack", "prr"] {
        let share = sent_again(late, "", recovery);
        assert!((share / (spurious / (1.0 + spurious)) - 1.0).abs() < 0.1, "{recovery}: {share}");
        assert_eq!(sent_again(late, ", dup_thresh = 4", recovery), 0.0, "{recovery}");
        // What adapts learns it from the first.
        assert!(sent_again(late, ", dup_thresh = \"adaptive\"", recovery) < 1e-4, "{recovery}");
    }
    // RACK waits for a quarter of the round trip, once it has seen that segments overtake others.
    assert!(sent_again(late, "", "rack") < 1e-4);
}

#[test]
fn every_law_undoes_what_proves_spurious() {
    let steps =
        r#"delay = { steps = [["0 s", "10 ms"], ["700 ms", "150 ms"], ["900 ms", "10 ms"]], period = "1.3 s" }"#;
    let settings = [
        ("auto", "rto = \"linux\", timestamps = true"),
        ("always", "min_rto = \"50 ms\""),
        ("always", "delayed_ack = 2"),
    ];
    for (i, (law, recovery)) in [
        ("law = \"cubic\"", "rack"),
        ("law = \"cubic\", variant = \"linux\"", "rack"),
        ("law = \"reno\"", "sack"),
        ("law = \"cubic\"", "prr"),
        ("law = \"bbr3\"", "rack"),
        ("law = \"scalable\"", "newreno"),
        ("law = \"dctcp\"", "rack"),
    ]
    .into_iter()
    .enumerate()
    {
        for (undo, tcp) in settings {
            let flow =
                format!("control = {{ {law} }}\nrecovery = \"{recovery}\"\ntcp = {{ undo = \"{undo}\", {tcp} }}\n");
            let text = dumbbell(2, "60 packets", RULES[i], &flow).replace("\"8 s\"", "\"5 s\"");
            equal(&format!("{} {flow}", RULES[i]), &text);
            let text = dumbbell(2, "60 packets", "", &flow).replace("delay = \"10 ms\"", steps);
            equal(&format!("spikes {flow}"), &text);
        }
    }
}
