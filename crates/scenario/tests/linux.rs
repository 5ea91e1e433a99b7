//! Scenario files that say only "as in Linux": the law of a host, the parameters of a queue.

extern crate elephan_scenario as scenario;

use base::Value;
use queue::Limit;
use scenario::{Scenario, ScenarioError, from_canonical, read};

/// A file with one link and one group, to which the arguments are added.
fn file(link: &str, flows: &str) -> Result<Scenario, ScenarioError> {
    let buffered = ["buffer", "limit", "profile"].iter().any(|word| link.contains(word));
    let buffer = if buffered { "" } else { "buffer = \"5 packets\"" };
    read(&format!(
        "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\n{buffer}\n{link}\n[[flows]]\npath = [\"l\"]\n\
         rtt = \"100 ms\"\n{flows}\n"
    ))
}

fn small(link: &str, flows: &str) -> Scenario {
    let scenario = file(link, flows).unwrap();
    assert_eq!(from_canonical(&scenario.canonical()).as_ref(), Ok(&scenario));
    scenario
}

#[test]
fn a_host_of_linux_runs_the_laws_of_linux() {
    let control = |more: &str| small("", more).groups[0].control.clone();
    let linux = |control: &str| small("", &format!("tcp = \"linux\"\n{control}")).groups[0].control.clone();
    let cubic = control("control = { law = \"cubic\", variant = \"linux\", slow_start = \"hystart-linux\" }");
    // Linux's default, by its name, in a table, and beside other keys.
    for said in ["", "control = \"cubic\"", "control = { law = \"cubic\" }", "control = \"TcpCubic\""] {
        assert_eq!(linux(said), cubic, "{said}");
    }
    assert_eq!(control("tcp = { profile = \"linux\", delayed_ack = 1 }"), cubic);
    // What a file says is kept.
    for said in [
        "{ law = \"cubic\", variant = \"rfc9438\" }",
        "{ law = \"cubic\", variant = \"linux\", slow_start = \"classic\" }",
        "{ law = \"cubic\", variant = \"linux\", beta = 0.5 }",
        "\"highspeed\"",
        "\"bbr3\"",
        "\"bbr1\"",
    ] {
        assert_eq!(linux(&format!("control = {said}")), control(&format!("control = {said}")), "{said}");
    }
    assert_eq!(linux("control = { slow_start = \"limited\" }").law, cubic.law);
    // BBR is version 1 there, version 3 elsewhere.
    assert_eq!(linux("control = \"bbr\"").law, control("control = \"bbr1\"").law);
    assert_eq!(linux("control = { law = \"bbr\" }").law.card().name, "bbr1");
    assert_eq!(control("control = \"bbr\"").law, control("control = \"bbr3\"").law);
    // Without the profile nothing changes, and the canonical form says which law it is.
    assert_eq!(control("tcp = { min_rto = \"200 ms\" }").name(), "reno");
    assert!(small("", "tcp = \"linux\"").canonical().contains("\"law\":\"cubic\",\"slow_start\":{\"ack_delta"));
}

#[test]
fn a_queue_with_a_profile_has_linuxs_parameters() {
    let link = |keys: &str| small(keys, "").links[0].clone();
    let pie = link("queue = { discipline = \"pie\", profile = \"linux\" }");
    let said =
        link("buffer = \"1000 packets\"\nqueue = { discipline = \"pie\", ecn = false, decay_when_empty = true }");
    assert_eq!(pie, said);
    // What the file gives is kept, under the names of tc too.
    let pie = link(
        "buffer = \"50 packets\"\nqueue = { discipline = \"pie\", profile = \"linux\", ecn = true, target = \"5 ms\" }",
    );
    let said =
        link("buffer = \"50 packets\"\nqueue = { discipline = \"pie\", target = \"5 ms\", decay_when_empty = true }");
    assert_eq!(pie, said);
    let limit = link("queue = { discipline = \"codel\", profile = \"linux\", limit = \"70 packets\" }").buffer;
    assert_eq!(limit, Limit::Packets(70));
    let red = |keys: &str| {
        let queue = format!("queue = {{ discipline = \"red\", profile = \"linux\", limit = \"1.2 MB\"{keys} }}");
        link(&queue).queue.values().into_iter().filter(|(name, _)| name.ends_with("_th")).collect::<Vec<_>>()
    };
    let packets = |min: u32, max: u32| {
        [("min_th", min), ("max_th", max)].map(|(name, n)| (name, Value::Text(format!("{n} packets")))).to_vec()
    };
    // 1.2 MB are 800 packets; tc: a quarter of them, and a third of that.
    assert_eq!(red(", max = \"150 packets\""), packets(50, 150));
    assert_eq!(red(", min = \"50 packets\""), packets(50, 150));
    assert_eq!(red(", min = \"30 packets\", max = \"200 packets\""), packets(30, 200));
    for (discipline, packets) in [("codel", 1000), ("fq-codel", 10_240), ("sfq", 127), ("dualpi2", 10_000)] {
        let queue = format!("queue = {{ discipline = \"{discipline}\", profile = \"linux\" }}");
        assert_eq!(link(&queue).buffer, Limit::Packets(packets), "{discipline}");
    }
}

#[test]
fn what_is_no_profile_gets_one_line() {
    let says = |link: &str, flows: &str| file(link, flows).unwrap_err().to_string();
    let queue = |keys: &str| says(&format!("queue = {{ {keys} }}"), "");
    let known = "red, pie, sfq, codel, fq-codel and dualpi2 have one";
    assert_eq!(
        queue("discipline = \"pie\", profile = \"windows\""),
        "links[0].queue.profile: unknown profile \"windows\"; must be \"linux\""
    );
    assert_eq!(
        queue("discipline = \"drr\", profile = \"linux\""),
        format!("links[0].queue.profile: drr has no profile \"linux\"; {known}")
    );
    assert_eq!(
        queue("discipline = \"pie\", profile = true"),
        "links[0].queue.profile: must be text such as \"linux\", not true or false"
    );
    // Linux's RED has no limit of its own.
    assert_eq!(
        queue("discipline = \"red\", profile = \"linux\""),
        "links[0].buffer: missing; write for example buffer = \"1250 packets\", or \"unlimited\""
    );
    assert_eq!(
        says("buffer = \"unlimited\"\nqueue = { discipline = \"red\", profile = \"linux\" }", ""),
        "links[0].queue.max_th: is a share of a buffer without limit; give packets, bytes or a time"
    );
    // Parameters of BBR's version 3, which Linux does not ship.
    assert_eq!(
        says("", "tcp = \"linux\"\ncontrol = { law = \"bbr\", loss_thresh = 0.1 }"),
        "flows[0].control.law: \"bbr\" is version 1 under tcp = \"linux\" (\"bbr1\"), as Linux ships it; write \"bbr3\" for version 3"
    );
    assert_eq!(
        says("", "tcp = \"linux\"\ncontrol = { law = \"bbr\", los_thresh = 0.1 }").split(';').next(),
        Some("flows[0].control.los_thresh: unknown key")
    );
}
