//! The repository's scenario files, and small files that show the meaning of each form of a value.

extern crate elephan_scenario as scenario;

use base::{Bytes, Rate, Span, Value};
use queue::Limit;
use scenario::{
    Access, By, Hop, Link, LinkDelay, LinkRate, Pareto, Pick, Ranged, Record, Rtt, Scenario, Start, Stop, Values,
    from_canonical, read,
};
use traffic::TrafficSpec;
use transport::{Options, Recovery};

const HSTCP_1G: &str = include_str!("../../../scenarios/hstcp-1g.toml");
const HSTCP_2G5: &str = include_str!("../../../scenarios/hstcp-2g5.toml");
const ELASTIC_50M: &str = include_str!("../../../scenarios/elastic-50m.toml");

#[test]
fn the_first_papers_links_are_what_it_says() {
    let slow = read(HSTCP_1G).unwrap();
    assert_eq!(slow.links[0].rate, LinkRate::same(Rate(1_000_000_000)));
    assert_eq!(slow.links[0].buffer, Limit::Packets(1250));
    assert_eq!(slow.groups[0].rtt, Rtt::Given(Values::Spread(Span::micros(115_500), Span::micros(124_500))));
    assert_eq!(slow.groups[0].packet, Bytes(1000));
    assert_eq!(slow.use_of(0).mean_rtt(), Some(Span::millis(120)));
    assert_eq!(slow.use_of(0).bdp_packets(), Some(15_000.0));
    let fast = read(HSTCP_2G5).unwrap();
    assert_eq!(fast.use_of(0).mean_rtt(), Some(Span::millis(90)));
    for scenario in [slow, fast] {
        assert_eq!(from_canonical(&scenario.canonical()), Ok(scenario));
    }
}

#[test]
fn the_fourth_papers_buffer_is_the_bdp_of_its_one_tcp_flow() {
    let scenario = read(ELASTIC_50M).unwrap();
    assert_eq!((scenario.links[0].buffer, scenario.use_of(0).bdp_packets()), (Limit::Packets(625), Some(625.0)));
    assert_eq!((scenario.use_of(0).flows(), scenario.use_of(0).background()), (1, 25));
    let background = &scenario.groups[1];
    // Half the link.
    assert_eq!(
        background.traffic.rate(background.packet).map(|rate| rate.0 * u64::from(background.count)),
        Some(25_000_000)
    );
    assert_eq!(from_canonical(&scenario.canonical()), Ok(scenario));
}

/// A file with one link and one group, to which the arguments are added.
fn small(link: &str, flows: &str) -> Scenario {
    let link = if link.contains("buffer") || link.contains("limit") {
        link.to_owned()
    } else {
        format!("buffer = \"5 packets\"\n{link}")
    };
    let flows = if flows.contains("rtt") { flows.to_owned() } else { format!("rtt = \"100 ms\"\n{flows}") };
    let text = format!(
        "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\n{link}\n[[flows]]\npath = [\"l\"]\n{flows}\n"
    );
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(from_canonical(&scenario.canonical()).as_ref(), Ok(&scenario));
    scenario
}

#[test]
fn defaults_are_those_of_the_design() {
    let scenario = small("", "");
    assert_eq!(
        (scenario.title.as_str(), scenario.warmup, scenario.replications, scenario.seed),
        ("", Span::ZERO, 1, 1)
    );
    assert_eq!(
        scenario.record,
        Record { every: Some(Span::millis(100)), trace: vec![], packets: vec![], delays: false }
    );
    assert_eq!((scenario.links[0].delay.clone(), scenario.links[0].loss.clone()), (LinkDelay::same(Span::ZERO), None));
    assert_eq!(scenario.links[0].queue.card().name, "drop-tail");
    let group = &scenario.groups[0];
    assert_eq!((group.name.as_str(), group.count, group.packet), ("flows1", 1, Bytes(1500)));
    assert_eq!((group.control.law.card().name, group.control.slow_start.card().name), ("reno", "classic"));
    assert_eq!((group.recovery, &group.traffic), (Recovery::Sack, &TrafficSpec::named("bulk").unwrap()));
    assert_eq!((&group.start, group.stop), (&Start::Between(Span::ZERO, Span::ZERO), None));
    assert_eq!(group.access, Access { rate: None, buffer: None, delay: None });
    assert_eq!(group.tcp, Options::default());
}

#[test]
fn buffers_come_out_in_packets_or_bytes() {
    let buffer = |text: &str| small(&format!("buffer = \"{text}\""), "count = 4").links[0].buffer;
    assert_eq!(buffer("1250 packets"), Limit::Packets(1250));
    assert_eq!(buffer("125 kB"), Limit::Bytes(Bytes(125_000)));
    assert_eq!(buffer("unlimited"), Limit::Unlimited);
    // 1 Gbit/s times 100 ms are 12.5 MB, or 8333.3 packets of 1500 B; the root of four flows halves that.
    assert_eq!(buffer("bdp"), Limit::Packets(8333));
    assert_eq!(buffer("0.1 bdp"), Limit::Packets(833));
    assert_eq!(buffer("10 % bdp"), buffer("0.1 bdp"));
    assert_eq!(buffer("10 % of bdp"), buffer("0.1 bdp"));
    assert_eq!(buffer("0"), Limit::Packets(0));
    assert_eq!(buffer("bdp/sqrt(n)"), Limit::Packets(4167));
    assert_eq!(buffer("0.5 bdp/sqrt(n)"), Limit::Packets(2083));
    assert_eq!(buffer("5 ms"), Limit::Packets(417));
    assert_eq!(buffer("1 ns"), Limit::Packets(1));
}

#[test]
fn thresholds_are_said_in_any_unit_and_shown_in_packets() {
    let shown =
        |queue: &str| small(&format!("buffer = \"1250 packets\"\nqueue = {{ {queue} }}"), "").links[0].queue.values();
    let red = shown("discipline = \"red\", min_th = \"10 % of buffer\", max_th = \"5 ms\"");
    let value = |name| red.iter().find(|row| row.0 == name).expect("of red").1.clone();
    let bdp = shown("discipline = \"red\", min_th = \"0.5 bdp\", max_th = \"bdp\"");
    assert_eq!(bdp, shown("discipline = \"red\", min_th = \"50 % bdp\", max_th = \"100 % of bdp\""));
    // 1 Gbit/s times 5 ms are 416.7 packets of 1500 B.
    assert_eq!(value("min_th"), Value::Text("125 packets".into()));
    assert_eq!(value("max_th"), Value::Text(format!("{} packets", 625_000.0 / 1500.0)));
    assert_eq!(value("w_q"), Value::Number(0.002));
    assert_eq!(
        shown("discipline = \"drop-tail\", ecn_threshold = 65"),
        [("ecn_threshold", Value::Text("65 packets".into()))]
    );
}

#[test]
fn the_words_of_tc_make_the_same_queue() {
    let plain = "discipline = \"red\", gentle = false, count = \"classic\"";
    let tc = format!("{plain}, limit = \"600 kB\", min = \"45 kB\", max = \"135 kB\", probability = 0.02");
    let ours = format!("{plain}, min_th = \"30 packets\", max_th = \"90 packets\", max_p = 0.02");
    let links = |keys: &str| small(keys, "").links[0].clone();
    assert_eq!(links(&format!("queue = {{ {tc} }}")), links(&format!("buffer = \"600 kB\"\nqueue = {{ {ours} }}")));
}

#[test]
fn the_bdp_weighs_groups_by_their_flows() {
    let two = "count = 3\nrtt = \"100 ms\"\n[[flows]]\npath = [\"l\"]\npacket = \"500 B\"\nrtt = { uniform = [\"10 ms\", \"30 ms\"] }";
    let scenario = small("buffer = \"bdp\"", two);
    assert_eq!(scenario.use_of(0).flows(), 4);
    assert_eq!(scenario.use_of(0).mean_rtt(), Some(Span::millis(80)));
    assert_eq!(scenario.use_of(0).mean_packet(), Some(1250.0));
    assert_eq!(scenario.use_of(0).bdp_bytes(), Some(1e7));
    assert_eq!(scenario.links[0].buffer, Limit::Packets(8000));
}

#[test]
fn round_trip_times_are_values_spreads_or_draws() {
    let with = |text: &str| small("delay = \"10 ms\"", &format!("count = 2\nrtt = {text}"));
    let rtt = |text: &str| with(text).groups[0].rtt.clone();
    let range = |text: &str| {
        let scenario = with(text);
        let group = &scenario.groups[0];
        [group.min_rtt(&scenario), group.mean_rtt(&scenario), group.max_rtt(&scenario)]
    };
    assert_eq!(rtt("\"10 ms\""), Rtt::Given(Values::Same(Span::millis(10))));
    assert_eq!(range("[\"20 ms\", \"40 ms\"]"), [20, 30, 40].map(Span::millis));
    let spread = Values::Spread(Span::millis(20), Span::millis(50));
    assert_eq!(rtt("{ from = \"20 ms\", to = \"50 ms\" }"), Rtt::Given(spread));
    assert_eq!(range("{ uniform = [\"20 ms\", \"50 ms\"] }"), [20, 35, 50].map(Span::millis));
    // The values of Andrew et al. 2005: the smallest is 100 ms / 6.
    let law = |by| Rtt::Pareto(Pareto { mean: Span::millis(100), shape: 1.2, max: Span::secs(10), by });
    let pareto = "{ pareto = { mean = \"100 ms\", shape = 1.2 } }";
    assert_eq!(
        (rtt(pareto), range(pareto)[..2].to_vec()),
        (law(By::Draws), vec![Span(16_666_666_667), Span::millis(100)])
    );
    // The quantiles of two flows are as 1 to 3^(1/1.2) = 2.4980, with a mean of 100 ms.
    let quantiles = "{ pareto = { mean = \"100 ms\", shape = 1.2, by = \"quantiles\" } }";
    assert_eq!(rtt(quantiles), law(By::Quantiles));
    let [least, mean, most] = range(quantiles).map(|rtt| (rtt.as_secs() * 1e6).round());
    assert_eq!((least, mean, most), (57_175.0, 100_000.0, 142_825.0));
}

/// A scenario with servers, a bottleneck and clients as in the web cases of Zhang et al. 2005, and with these flows.
fn clusters(flows: &str) -> Scenario {
    let text = format!(
        "duration = \"10 s\"\n[[links]]\nname = \"server\"\ncount = 200\nrate = \"1 Gbit/s\"\n\
         delay = {{ uniform = [\"10 ms\", \"20 ms\"] }}\nbuffer = \"bdp/sqrt(n)\"\n\
         [[links]]\nname = \"core\"\nrate = \"1 Gbit/s\"\ndelay = \"25 ms\"\nbuffer = \"5000 packets\"\n\
         [[links]]\nname = \"client\"\ncount = 1000\nrate = {{ uniform = [\"100 Mbit/s\", \"155 Mbit/s\"] }}\n\
         delay = {{ uniform = [\"20 ms\", \"50 ms\"] }}\nbuffer = \"50 packets\"\n\
         [[flows]]\npath = [\"server[*]\", \"core\", \"client[*]\"]\nrtt = \"auto\"\n{flows}\n"
    );
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(from_canonical(&scenario.canonical()).as_ref(), Ok(&scenario));
    scenario
}

#[test]
fn arrays_of_links_are_clusters_of_servers_and_clients() {
    let scenario =
        clusters("count = 800\n[[flows]]\npath = [\"core\", \"client[7]\"]\nrtt = \"1 s\"\npacket = \"500 B\"");
    let Link { count, rate, delay, .. } = scenario.links[2].clone();
    assert_eq!(
        (count, rate.mean(scenario.duration), delay.mean(scenario.duration)),
        (1000, Rate(127_500_000), Span::millis(35))
    );
    assert_eq!(rate, LinkRate::Fixed(Ranged::Uniform(Rate(100_000_000), Rate(155_000_000))));
    let path = |group: usize| scenario.groups[group].path.iter().map(|hop| (hop.link, hop.pick)).collect::<Vec<_>>();
    assert_eq!(path(0), [(0, Pick::Each), (1, Pick::One(0)), (2, Pick::Each)]);
    assert_eq!(path(1), [(1, Pick::One(0)), (2, Pick::One(7))]);
    // Propagation there and back: 2 (10 + 25 + 20) ms at least, 2 (15 + 25 + 35) ms in the mean.
    let group = &scenario.groups[0];
    let rtts = [group.min_rtt(&scenario), group.mean_rtt(&scenario), group.max_rtt(&scenario)];
    assert_eq!(rtts, [110, 150, 190].map(Span::millis));
    assert_eq!((scenario.use_of(0).flows(), scenario.use_of(0).flows_each()), (800, Some(4.0)));
    // 1 Gbit/s times 150 ms are 12,500 packets of 1500 B; each server sends four flows.
    assert_eq!(scenario.links[0].buffer, Limit::Packets(6250));
    // An array that is named as a whole counts as one link with the sum of the rates. A member that a group names is another.
    let fair = scenario.fair();
    assert_eq!(fair.rates, [2e11, 1e9, 1.275e11, 1.275e8]);
    assert_eq!((fair.paths, fair.caps), (vec![vec![0, 1, 2], vec![1, 2, 3]], vec![1.275e8, f64::INFINITY]));
}

#[test]
fn round_trips_over_delays_that_change_are_means_over_time_with_a_range() {
    let rtts = |link: &str, flow: &str| {
        let scenario = small(link, flow);
        assert_eq!(from_canonical(&scenario.canonical()).as_ref(), Ok(&scenario));
        let group = &scenario.groups[0];
        [group.min_rtt(&scenario), group.mean_rtt(&scenario), group.max_rtt(&scenario)].map(|rtt| rtt.as_secs() * 1e3)
    };
    let steps = "delay = { steps = [[\"0 s\", \"20 ms\"], [\"3 s\", \"60 ms\"]], period = \"4 s\" }";
    // The forward delay is 30 ms on average; the return path is constant.
    assert_eq!(rtts(steps, "rtt = \"auto\""), [50.0, 60.0, 90.0]);
    assert_eq!(rtts(steps, "rtt = \"100 ms\""), [90.0, 100.0, 130.0]);
    assert_eq!(rtts(steps, "count = 2\nrtt = { from = \"100 ms\", to = \"120 ms\" }"), [90.0, 110.0, 150.0]);
    // Uniform jitter counts with half of its maximum, exponential jitter with its mean.
    assert_eq!(rtts("delay = \"10 ms\"\njitter = \"4 ms\"", "rtt = \"auto\""), [22.0, 24.0, 26.0]);
    assert_eq!(
        rtts(&format!("{steps}\njitter = {{ exponential = \"2 ms\" }}"), "rtt = \"100 ms\"")[..2],
        [88.0, 100.0]
    );
    // A delay that is drawn once per link does not change over time.
    let drawn = "delay = { uniform = [\"10 ms\", \"20 ms\"] }\njitter = \"2 ms\"";
    assert_eq!(rtts(drawn, "rtt = \"auto\""), [21.0, 32.0, 43.0]);
}

#[test]
fn round_trips_that_no_array_allows_are_refused() {
    let file = |link: &str, flow: &str| {
        let text = format!(
            "duration = \"1 s\"\n[[links]]\nname = \"a\"\ncount = 3\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"\n{link}\n\
             [[flows]]\nrtt = \"auto\"\n{flow}\n"
        );
        read(&text).map_or_else(|error| error.to_string(), |_| "it was read".to_owned())
    };
    let crossed = "is on the round trip already; links are directed and crossed once";
    let far = "delay = \"1 ms\"";
    for (link, flow, message) in [
        (far, "path = [\"a[1]\", \"a[2]\"]", "it was read".to_owned()),
        (far, "path = [\"a[1]\", \"a[1]\"]", format!("flows[0].path[1]: \"a[1]\" {crossed}")),
        (far, "path = [\"a[1]\"]\nreturn = [\"a[*]\"]", format!("flows[0].return[0]: \"a[*]\" {crossed}")),
        (far, "path = [\"a[3]\"]", "flows[0].path[0]: there are 3 of \"a\", counted from 0".to_owned()),
        (far, "path = [\"b\"]", "flows[0].path[0]: unknown link \"b\"; known: \"a[*]\"".to_owned()),
        ("", "path = [\"a[1]\"]", "flows[0].rtt: \"auto\" comes to 0 s; must lie between 1 us and 50 s".to_owned()),
        (
            "delay = { uniform = [\"1 s\", \"30 s\"] }",
            "path = [\"a[1]\"]",
            "flows[0].rtt: \"auto\" comes to 60 s; must lie between 1 us and 50 s".to_owned(),
        ),
    ] {
        assert_eq!(file(link, flow), message);
    }
    let many = file(
        "\n[[links]]\nname = \"b\"\ncount = 99998\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"",
        "path = [\"a[*]\"]",
    );
    assert_eq!(many, "links: must be at most 100000 links in all");
}

#[test]
fn an_array_of_one_is_a_link() {
    let link = small("count = 1", "").links[0].clone();
    assert_eq!(link, small("", "").links[0]);
    let with = |path: &str| {
        let flows = format!("rtt = \"20 ms\"\n[[flows]]\npath = [\"{path}\"]\nrtt = \"20 ms\"");
        small("", &flows).groups[1].path.clone()
    };
    for path in ["l", "l[*]", "l[0]"] {
        assert_eq!(with(path), [Hop::alone(0)]);
    }
}

#[test]
fn access_links_differ_between_flows_or_do_not() {
    let access = |text: &str| small("", &format!("access = {{ {text} }}")).groups[0].access.clone();
    let rate = |text: &str| access(&format!("rate = {text}")).rate;
    let mbit = |n: u64| Rate(n * 1_000_000);
    assert_eq!(rate("\"10 Mbit/s\""), Some(Values::Same(mbit(10))));
    assert_eq!(rate("{ uniform = [\"10 Mbit/s\", \"20 Mbit/s\"] }"), Some(Values::Uniform(mbit(10), mbit(20))));
    assert_eq!(rate("{ from = \"10 Mbit/s\", to = \"20 Mbit/s\" }"), Some(Values::Spread(mbit(10), mbit(20))));
    assert_eq!(rate("[\"10 Mbit/s\", \"20 Mbit/s\"]"), Some(Values::List(vec![mbit(10), mbit(20)])));
    assert_eq!(rate("\"unlimited\""), None);
    let delay = access("delay = { uniform = [\"1 ms\", \"2 ms\"] }").delay;
    assert_eq!(delay, Some(Values::Uniform(Span::millis(1), Span::millis(2))));
    // An access delay counts twice in a round trip that is made of delays.
    let auto = small("delay = \"10 ms\"", "rtt = \"auto\"\naccess = { delay = \"5 ms\" }");
    assert_eq!(auto.use_of(0).mean_rtt(), Some(Span::millis(30)));
}

#[test]
fn flows_come_and_go() {
    let start = |text: &str| small("", &format!("count = 3\nstart = {text}")).groups[0].start.clone();
    let stop = |text: &str| small("", &format!("stop = {text}")).groups[0].stop;
    let s = Span::secs;
    assert_eq!(start("\"2 s\""), Start::Between(s(2), s(2)));
    assert_eq!(start("{ from = \"1 s\", to = \"2 s\" }"), Start::Between(s(1), s(2)));
    let every = start("{ from = \"1 s\", every = \"10 s\" }");
    assert_eq!((&every, every.last(3)), (&Start::Every { from: s(1), every: s(10) }, s(21)));
    assert_eq!(start("[\"1 s\", \"2 s\", \"5 s\"]"), Start::List(vec![s(1), s(2), s(5)]));
    assert_eq!(stop("\"5 s\""), Some(Stop::Between(s(5), s(5))));
    assert_eq!(stop("{ from = \"5 s\", to = \"6 s\" }"), Some(Stop::Between(s(5), s(6))));
    assert_eq!(stop("{ after = \"5 s\" }"), Some(Stop::After(s(5))));
    assert_eq!(stop("{ after = { exponential = \"5 s\" } }"), Some(Stop::AfterExponential(s(5))));
}

#[test]
fn the_identity_does_not_depend_on_spellings() {
    let one = small("queue = \"drop-tail\"", "control = \"hstcp\"\ntraffic = \"ftp\"");
    let other = small(
        "queue = { discipline = \"pfifo\" }",
        "control = { law = \"highspeed\", low_window = 38, slow_start = \"classic\" }\ntraffic = { kind = \"bulk\" }",
    );
    assert_eq!(one.canonical(), other.canonical());
    assert_eq!(one.id(), other.id());
    let seeded = Scenario { seed: 2, ..one.clone() };
    assert_ne!(one.id(), seeded.id());
}

#[test]
fn tables_stand_in_the_canonical_form_as_they_were_written() {
    let control = |tables: &str| small("", &format!("control = {{ law = \"tabulated\"{tables} }}"));
    let canonical =
        control(", increase = [[1, 1], [38.0, 1], [1e3, 0.1]], decrease = [[1, 0.30000000000000004]]").canonical();
    let form = r#""control":{"decrease":[[1.0,0.30000000000000004]],"increase":[[1.0,1.0],[38.0,1.0],[1000.0,0.1]],"#;
    assert!(canonical.contains(form), "{canonical}");
    // The default is Reno's table, which is written like any other.
    assert_eq!(control(""), control(", increase = [[1, 1]], decrease = [[1, 0.5]]"));
}

#[test]
fn recovery_is_sack_unless_the_profile_or_the_law_is_made_for_rack() {
    let recovery = |more: &str| small("", more).groups[0].recovery;
    assert_eq!(recovery(""), Recovery::Sack);
    assert_eq!(recovery("tcp = \"linux\""), Recovery::Rack);
    assert_eq!(recovery("tcp = \"linux\"\nrecovery = \"sack\""), Recovery::Sack);
    assert_eq!(recovery("control = \"bbr\""), Recovery::Rack);
    assert_eq!(recovery("control = \"bbr1\""), Recovery::Rack);
    assert_eq!(recovery("control = \"bbr\"\nrecovery = \"sack\""), Recovery::Sack);
}

#[test]
fn a_profile_takes_keys_beside_it() {
    let tcp = |form: &str| small("", &format!("tcp = {form}")).groups[0].tcp.clone();
    assert_eq!(tcp("{ profile = \"linux\" }"), Options::linux());
    let changed = tcp("{ profile = \"linux\", send_jitter = \"12 us\", delayed_ack = 1 }");
    let expected = Options { send_jitter: Span::micros(12), delayed_ack: 1, ..Options::linux() };
    assert_eq!(changed, expected);
    // A key that is given with its default value still replaces the value of the profile.
    let default = Options::default();
    assert_ne!(default.initial_window, Options::linux().initial_window);
    let window = tcp(&format!("{{ profile = \"linux\", initial_window = {} }}", default.initial_window));
    assert_eq!(window, Options { initial_window: default.initial_window, ..Options::linux() });
    // The recovery is the profile's, too, and the canonical form that of the keys.
    let beside = small("", "tcp = { profile = \"linux\", min_rto = \"200 ms\" }");
    let alone = small("", "tcp = \"linux\"");
    assert_eq!(beside.groups[0].recovery, Recovery::Rack);
    assert_eq!(beside.canonical(), alone.canonical());
}

#[test]
fn the_form_of_a_file_may_be_stated_and_is_no_part_of_the_scenario() {
    let text = "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"\n[[flows]]\n\
                path = [\"l\"]\nrtt = \"100 ms\"\n";
    let plain = read(text).unwrap();
    assert_eq!(read(&format!("format = {}\n{text}", scenario::FORMAT)).unwrap().id(), plain.id());
    let newer = read(&format!("format = {}\n{text}", scenario::FORMAT + 1)).unwrap_err().to_string();
    assert_eq!(newer, "format: the file is for a newer elephan; this one reads form 1");
    assert!(read(&format!("format = \"1\"\n{text}")).unwrap_err().to_string().starts_with("format: must be 1"));
}

#[test]
fn bbr_is_refused_without_selective_acknowledgements() {
    for law in ["bbr3", "bbr1"] {
        let text = format!(
            "duration = \"10 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"5 packets\"\n[[flows]]\n\
             path = [\"l\"]\nrtt = \"100 ms\"\ncontrol = \"{law}\"\nrecovery = \"reno\"\n"
        );
        let message = format!("flows[0].recovery: {law} needs selective acknowledgements; use sack, prr or rack");
        assert_eq!(read(&text).unwrap_err().to_string(), message);
    }
}

#[test]
fn datagrams_have_no_sender_to_speak_of() {
    let flow = "traffic = { kind = \"poisson\", rate = \"1.25 Mbit/s\" }\ntcp = { send_jitter = \"8 us\" }";
    let scenario = small("", flow);
    assert_eq!(scenario.groups[0].traffic.rate(scenario.groups[0].packet), Some(Rate(1_250_000)));
    assert_eq!(scenario.groups[0].tcp, Options { send_jitter: Span::micros(8), ..Options::default() });
    let canonical = scenario.canonical();
    for part in [
        "\"control\":null",
        "\"recovery\":null",
        "\"tcp\":{\"send_jitter_ps\":8000000}",
        "\"traffic\":{\"kind\":\"poisson\",\"rate\":\"1.25 Mbit/s\",\"size\":\"constant\"}",
    ] {
        assert!(canonical.contains(part), "{part} in {canonical}");
    }
    // Combinations that a file cannot have are refused in the canonical form as well.
    let control = "\"control\":{\"law\":\"reno\",\"slow_start\":{\"kind\":\"classic\"}}";
    for (from, to, message) in [
        ("\"control\":null", control, "flows[0].control: does not go with poisson traffic"),
        ("\"recovery\":null", "\"recovery\":\"sack\"", "flows[0].recovery: does not go with poisson traffic"),
        ("poisson", "cbr", "flows[0].traffic.size: unknown key; known here: kind, rate"),
        (
            "poisson\",\"rate\":\"1.25 Mbit/s\",\"size\":\"constant\"",
            "bulk\"",
            "flows[0].control: does not go with bulk traffic",
        ),
    ] {
        let error = from_canonical(&canonical.replace(from, to)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn only_tcp_counts_where_a_buffer_is_sized() {
    let tcp = "count = 4\nrtt = \"100 ms\"\npacket = \"1500 B\"\n";
    let datagrams = "[[flows]]\ncount = 25\npath = [\"l\"]\nrtt = \"10 ms\"\npacket = \"100 B\"\ntraffic = \"poisson\"";
    let mixed = small("buffer = \"bdp/sqrt(n)\"", &format!("{tcp}{datagrams}"));
    assert_eq!((mixed.use_of(0).flows(), mixed.use_of(0).background()), (4, 25));
    assert_eq!((mixed.use_of(0).mean_rtt(), mixed.use_of(0).mean_packet()), (Some(Span::millis(100)), Some(1500.0)));
    assert_eq!(mixed.links[0].buffer, Limit::Packets(4167));
    // Without TCP flows the datagrams count.
    let alone = small("buffer = \"bdp\"", "rtt = \"10 ms\"\ncount = 25\npacket = \"100 B\"\ntraffic = \"poisson\"");
    assert_eq!((alone.use_of(0).flows(), alone.use_of(0).background()), (25, 0));
    assert_eq!(alone.links[0].buffer, Limit::Packets(12_500));
}

#[test]
fn every_tcp_key_is_read() {
    let tcp = |text: &str| small("", &format!("tcp = {text}")).groups[0].tcp.clone();
    assert_eq!(tcp("\"linux\""), Options::linux());
    for text in [
        "min_rto = \"200 ms\"",
        "rto_granularity = \"10 ms\"",
        "initial_window = 10",
        "initial_ssthresh = 20",
        "receive_window = 64",
        "receive_window = \"linux\"",
        "receive_window = { max = \"32 MiB\" }",
        "delayed_ack = 2",
        "delayed_ack_timeout = \"40 ms\"",
        "limited_transmit = false",
        "ecn = \"on\"",
        "send_jitter = \"8 us\"",
    ] {
        assert_ne!(tcp(&format!("{{ {text} }}")), Options::default(), "{text}");
    }
    assert_eq!(tcp("{ initial_ssthresh = \"none\", receive_window = \"none\", ecn = false }"), Options::default());
}

#[test]
fn the_canonical_form_of_the_first_link() {
    insta::assert_snapshot!(read(HSTCP_1G).unwrap().canonical());
}

#[test]
fn a_receive_window_that_cannot_grow_is_refused() {
    for (window, said) in [
        ("\"windows\"", ": unknown receive_window \"windows\"; available: none, linux"),
        ("{ max = \"64 KiB\" }", ": max must not be less than initial, 131072 B"),
        ("{ max = \"1 kB\" }", ".max: must lie between 4096 B and 2.147483647 GB, not 1000 B"),
        ("{ share = 2 }", ".share: must lie between 0.01 and 1"),
    ] {
        let text = HSTCP_1G.replace("min_rto = \"1 s\"", &format!("receive_window = {window}"));
        assert_eq!(read(&text).unwrap_err().to_string(), format!("flows[0].tcp.receive_window{said}"));
    }
}

#[test]
fn rates_that_change_stand_for_their_means_and_come_back_from_their_canonical_form() {
    let with = |rate: &str| {
        let text = HSTCP_1G.replace("rate   = \"1 Gbit/s\"", &format!("rate = {rate}"));
        assert_ne!(text, HSTCP_1G);
        let scenario = read(&text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(from_canonical(&scenario.canonical()).as_ref(), Ok(&scenario), "{rate}");
        scenario
    };
    let mbit = |mbit: u64| Rate(1_000_000 * mbit);
    // The run takes 200 s.
    for (rate, mean) in [
        ("{ steps = [[\"0 s\", \"100 Mbit/s\"], [\"50 s\", \"200 Mbit/s\"]] }", mbit(175)),
        ("{ steps = [[\"0 s\", \"100 Mbit/s\"], [\"6 s\", \"200 Mbit/s\"]], period = \"8 s\" }", mbit(125)),
        ("{ opportunities = \"1 2x3 4 8\" }", Rate(6 * 8 * 1504 * 125)),
        ("{ sine = { mean = \"70 Mbit/s\", amplitude = \"20 Mbit/s\", period = \"3 s\" } }", mbit(70)),
        ("{ markov = { rates = [\"100 Mbit/s\", \"0 bit/s\"], times = [\"3 s\", \"1 s\"] } }", mbit(75)),
    ] {
        let scenario = with(rate);
        assert_eq!(scenario.mean_rate(0), mean, "{rate}");
        assert_eq!(scenario.use_of(0).port().rate, mean);
    }
}
