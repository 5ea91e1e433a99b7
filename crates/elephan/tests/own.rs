//! Laws and a queue written outside (the example `examples/own-law`) do what the built-in ones do, ACK by ACK, in both engines.

#[path = "../../../examples/own-law/src/cubic.rs"]
mod cubic;
#[path = "../../../examples/own-law/src/reno.rs"]
mod reno;
#[path = "../../../examples/own-law/src/tail.rs"]
mod tail;

use cubic::Cubic;
use elephan::abi::{Fault, LawLibrary, LibraryControl};
use elephan::base::{Header, RunMonitor, Span};
use elephan::law::{
    AckSample, AnyStart, CongestionControl, CongestionEvent, Control, Delivery, Either, Needs, Restart, Signal,
    Windowed,
};
use elephan::queue::NoOwn;
use elephan::sim::{Own, simulate_parts};
use elephan::{BuildError, Engine, Error, FlowSite, LinkSite, Options, Outcome, Scenario, Simulation};
use reno::Reno;
use std::sync::{Arc, Mutex};
use tail::Tail;

/// Link with a buffer small enough that windows are cut by losses and by timeouts.
fn link(flows: u32, buffer: u32, more: &str) -> String {
    format!(
        r#"
duration = "12 s"
warmup = "2 s"
links = [{{ name = "core", rate = "10 Mbit/s", delay = "10 ms", buffer = "{buffer} packets" }}]
[[flows]]
name = "f"
count = {flows}
path = ["core"]
rtt = {{ from = "40 ms", to = "61 ms" }}
packet = "1000 B"
start = {{ from = "0 s", to = "1 s" }}
{more}
"#
    )
}

fn read(text: &str, law: &str) -> Scenario {
    elephan::read(&format!("{text}control = \"{law}\"\n")).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn options(engine: Engine) -> Options {
    Options { engine, series: true, hash: true, ..Options::default() }
}

fn built_in(scenario: &Scenario, engine: Engine) -> Outcome {
    Simulation::new(scenario).options(options(engine)).run().expect("small")
}

fn none(_link: &LinkSite<'_>) -> Option<NoOwn> {
    None
}

/// Whether flows under `law` do what they do under that of `scenario`, with hashes over every window after every ACK: in both
/// engines, and in chunks on two threads. Returns the retransmissions and timeouts.
fn equal(name: &str, scenario: &Scenario, law: Make<'_>) -> (u64, u64) {
    let expected = built_in(scenario, Engine::Window);
    assert_ne!(expected.hash, 0, "{name}");
    for engine in [Engine::Window, Engine::Reference] {
        let ours = Simulation::new(scenario).options(options(engine)).control(law).run().expect("small");
        assert_eq!(ours, expected, "{name}, {engine:?}");
    }
    let monitor = RunMonitor::default();
    monitor.allow_threads(2);
    let chunked = Options { chunks: 3, ..options(Engine::Window) };
    let mut parts = Own { control: law, queue: none };
    let ours = simulate_parts(scenario, 0, chunked, &monitor, &mut parts).expect("small");
    assert_eq!(ours, Some(expected.clone()), "{name}, on threads");
    expected.flows.iter().fold((0, 0), |(sent, timed), flow| (sent + flow.retransmitted, timed + flow.timeouts))
}

/// A control whose ACKs the engine cannot take in runs.
#[derive(Clone, Debug)]
struct OneByOne<C>(C);

impl<C: CongestionControl> CongestionControl for OneByOne<C> {
    fn needs(&self) -> Needs {
        self.0.needs()
    }
    fn on_ack(&mut self, ack: &AckSample) {
        self.0.on_ack(ack);
    }
    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.0.on_congestion(event);
    }
    fn on_restart(&mut self, restart: &Restart) {
        self.0.on_restart(restart);
    }
    fn collapse(&mut self) {
        self.0.collapse();
    }
    fn cwnd(&self) -> f64 {
        self.0.cwnd()
    }
    fn ssthresh(&self) -> f64 {
        self.0.ssthresh()
    }
}

elephan::export_laws! {
    "reno" => |site| Reno::new(site.initial_window, site.ssthresh),
    "cubic" => |site| site.windowed(Cubic::default()),
    "measuring" { window = 20.0, pace = 300.0 } => |_| Measuring { window, pace },
    "told" { kept = 0.5 } => |site| {
        assert!(kept <= 1.0, "kept is {kept}; it must be at most 1");
        Told { drawn: site.stream("a").next_u64(), window: site.initial_window * kept }
    },
}

/// Every control of these tests in one type: for each type the whole engine is compiled once more.
type Ours = Either<
    Either<Reno, OneByOne<Reno>>,
    Either<Either<Windowed<Cubic, AnyStart>, LibraryControl<'static>>, Either<Measuring, Control>>,
>;
type Make<'a> = &'a dyn Fn(&FlowSite<'_>) -> Ours;

fn library(name: &str, flow: &FlowSite<'_>, more: &[f64]) -> Ours {
    Either::Second(Either::First(Either::Second(of_library(name, flow, more))))
}

fn our_reno(flow: &FlowSite<'_>) -> Ours {
    Either::First(Either::First(Reno::new(flow.initial_window, flow.ssthresh)))
}

fn one_by_one(flow: &FlowSite<'_>) -> Ours {
    Either::First(Either::Second(OneByOne(Reno::new(flow.initial_window, flow.ssthresh))))
}

fn our_cubic(flow: &FlowSite<'_>) -> Ours {
    Either::Second(Either::First(Either::First(flow.windowed(Cubic::default()))))
}

fn measuring(_flow: &FlowSite<'_>) -> Ours {
    Either::Second(Either::Second(Either::First(MEASURING)))
}

fn built(flow: &FlowSite<'_>) -> Ours {
    Either::Second(Either::Second(Either::Second(flow.built_in())))
}

/// A control as a library has it, called as elephan calls those of libraries.
fn of_library(name: &str, flow: &FlowSite<'_>, more: &[f64]) -> LibraryControl<'static> {
    let law = LawLibrary::of(&ELEPHAN_LAWS).unwrap().laws.into_iter().find(|law| law.name == name).unwrap();
    law.control(&flow.site(), more, Arc::new(|fault| *FAULT.lock().unwrap() = Some(fault)))
}

static FAULT: Mutex<Option<Fault>> = Mutex::new(None);

#[test]
fn reno_and_cubic_written_outside_have_the_windows_of_the_built_in_ones() {
    let mut seen = (0, 0);
    for (flows, buffer) in [(1, 30), (4, 20), (40, 5)] {
        for more in [
            "",
            "recovery = \"tahoe\"\n",
            "recovery = \"newreno\"\n",
            "recovery = \"rack\"\ntcp = { delayed_ack = 2 }\n",
            "tcp = { pacing = \"linux\" }\n",
            "recovery = \"prr\"\ntcp = { pacing = \"linux\", delayed_ack = 2, initial_window = 10, initial_ssthresh = 12 }\n",
            "traffic = { kind = \"pausing-bulk\", on = \"900 ms\", off = \"600 ms\" }\ntcp = { window_validation = \"linux\" }\n",
            "traffic = { kind = \"engset\", size = \"40 kB\", think = \"500 ms\" }\n",
        ] {
            let (name, text) = (format!("{flows} behind {buffer}, {more}"), link(flows, buffer, more));
            let reno = read(&text, "reno");
            let cubic = read(&text, "cubic");
            for (losses, timeouts) in [
                equal(&format!("reno, {name}"), &reno, &our_reno),
                equal(&format!("reno one by one, {name}"), &reno, &one_by_one),
                equal(&format!("cubic, {name}"), &cubic, &our_cubic),
                equal(&format!("reno in a library, {name}"), &reno, &|flow| library("reno", flow, &[])),
                equal(&format!("cubic in a library, {name}"), &cubic, &|flow| library("cubic", flow, &[])),
            ] {
                seen = (seen.0 + losses, seen.1 + timeouts);
            }
        }
    }
    assert!(seen.0 > 10_000 && seen.1 > 1000, "losses and timeouts are what the windows were held against: {seen:?}");
}

#[test]
fn another_law_has_other_windows() {
    // Or the comparison above would say nothing.
    let scenario = read(&link(4, 20, ""), "cubic");
    let ours = Simulation::new(&scenario).options(options(Engine::Window)).control(our_reno).run().unwrap();
    assert_ne!(ours.hash, built_in(&scenario, Engine::Window).hash);
}

#[test]
fn acks_through_a_link_and_two_kinds_of_control_in_one_run() {
    let text = r#"
duration = "12 s"
links = [
    { name = "core", rate = "10 Mbit/s", delay = "10 ms", buffer = "12 packets" },
    { name = "back", rate = "300 kbit/s", delay = "5 ms", buffer = "9 packets" },
]
flows = [
    { name = "a", path = ["core"], return = ["back"], rtt = "60 ms", control = "reno" },
    { name = "b", path = ["core"], return = ["back"], rtt = "80 ms", control = "cubic" },
    { name = "c", path = ["core"], rtt = "70 ms", control = "bbr" },
]
"#;
    let scenario = elephan::read(text).unwrap();
    let mixed = |flow: &FlowSite<'_>| match flow.group {
        "a" => our_reno(flow),
        "b" => our_cubic(flow),
        _ => built(flow),
    };
    equal("two of ours and one built in", &scenario, &mixed);
}

#[test]
fn what_a_flow_is_told_is_what_its_scenario_draws() {
    let text = link(3, 20, "packet = \"1000 B\"\n").replace("packet = \"1000 B\"\nstart", "start");
    let scenario =
        read(&text.replace("count = 3", "count = 3\ntcp = { initial_window = 4, header = \"60 B\" }"), "reno");
    let mut seen = Vec::new();
    let outcome = Simulation::new(&scenario)
        .replication(2)
        .control(|flow| {
            let draws = [flow.stream("a"), flow.stream("a"), flow.stream("b")].map(|mut stream| stream.next_u64());
            assert!(draws[0] == draws[1] && draws[0] != draws[2]);
            seen.push((flow.group.to_owned(), flow.index, flow.base_rtt, flow.start, draws[0]));
            assert_eq!((flow.replication, flow.packet.0, flow.mss.0), (2, 1000, 940));
            assert_eq!((flow.initial_window, flow.ssthresh), (4.0, f64::INFINITY));
            built(flow)
        })
        .run()
        .unwrap();
    assert_eq!(outcome, elephan::simulate(&scenario, 2).unwrap());
    let drawn: Vec<_> = outcome.flows.iter().map(|flow| (flow.index, flow.base_rtt, flow.start)).collect();
    assert_eq!(drawn, seen.iter().map(|one| (one.1, one.2, one.3)).collect::<Vec<_>>());
    assert!(seen.iter().all(|one| one.0 == "f") && seen[0].4 != seen[1].4 && seen[1].4 != seen[2].4);
}

#[test]
fn a_queue_written_outside_does_what_drop_tail_does() {
    for (flows, more) in
        [(4, "recovery = \"rack\"\n"), (30, ""), (2, "traffic = { kind = \"poisson\", rate = \"6 Mbit/s\" }\n")]
    {
        let text = link(flows, 20, more);
        let scenario = elephan::read(&text).unwrap();
        let expected = built_in(&scenario, Engine::Window);
        assert!(expected.links[0].dropped.iter().sum::<u64>() > 20);
        for engine in [Engine::Window, Engine::Reference] {
            let own = Simulation::new(&scenario).options(options(engine)).queue("core", |_link| Tail::new(20));
            assert_eq!(own.run().unwrap(), expected, "{engine:?}");
            let other = Simulation::new(&scenario).options(options(engine)).queue("core", |_link| Tail::new(19));
            assert_ne!(other.run().unwrap().hash, expected.hash);
        }
    }
}

#[test]
fn a_link_may_say_that_it_keeps_its_own() {
    let text = link(4, 20, "").replace("] \n[[", "]\n[[").replace(
        "links = [{",
        "links = [{ name = \"far\", count = 4, rate = \"9 Mbit/s\", buffer = \"9 packets\", queue = \"red\" }, {",
    );
    let scenario = elephan::read(&text.replace("path = [\"core\"]", "path = [\"far[*]\", \"core\"]")).unwrap();
    let mut asked = Vec::new();
    let ours = Simulation::new(&scenario)
        .options(options(Engine::Window))
        .queues(|link| {
            asked.push((link.name.to_owned(), link.member, link.port.rate.0));
            // A built-in one as one of one's own: it has its random stream, too.
            (link.member % 2 == 0).then(|| link.built_in())
        })
        .run()
        .unwrap();
    assert_eq!(ours, built_in(&scenario, Engine::Window));
    let far = |member| ("far".to_owned(), member, 9_000_000);
    assert_eq!(asked, [far(0), far(1), far(2), far(3), ("core".to_owned(), 0, 10_000_000)]);
}

#[derive(Clone, Debug)]
struct Measuring {
    window: f64,
    pace: f64,
}

const MEASURING: Measuring = Measuring { window: 20.0, pace: 300.0 };

impl CongestionControl for Measuring {
    fn needs(&self) -> Needs {
        Needs { deliveries: true, headers: true, marks: true, ..Needs::default() }
    }
    fn on_ack(&mut self, _ack: &AckSample) {
        unreachable!("deliveries come in the place of ACKs");
    }
    fn on_delivery(&mut self, delivery: &Delivery) {
        assert!(delivery.delivered > 0);
    }
    fn header(&self, _srtt: Span) -> Header {
        Header::NONE
    }
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn collapse(&mut self) {}
    fn cwnd(&self) -> f64 {
        self.window
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pace)
    }
}

#[test]
fn what_a_control_needs_it_gets_or_is_told_so() {
    let scenario = read(&link(2, 20, "recovery = \"rack\"\n"), "reno");
    let ours = |engine| Simulation::new(&scenario).options(options(engine)).control(measuring).run().unwrap();
    let outcome = ours(Engine::Window);
    assert_eq!(outcome, ours(Engine::Reference));
    for engine in [Engine::Window, Engine::Reference] {
        let in_library = |flow: &FlowSite<'_>| library("measuring", flow, &[20.0, 300.0]);
        assert_eq!(Simulation::new(&scenario).options(options(engine)).control(in_library).run().unwrap(), outcome);
    }
    // 300 segments of 1000 B in a second, or a window of 20 in 40 ms, whichever is less.
    let goodput: f64 = outcome.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!((goodput / (2.0 * 300.0 * 1000.0 * 8.0) - 1.0).abs() < 0.01, "{goodput}");
    let scenario = read(&link(2, 20, "recovery = \"newreno\"\n"), "reno");
    let refused = Simulation::new(&scenario).control(measuring).run().unwrap_err();
    assert_eq!(refused, Error::Build(BuildError::NeedsSelective { group: 0 }));
    assert!(refused.to_string().starts_with("flows[0].recovery: "));
}

#[test]
fn queues_in_places_where_none_can_be_are_refused_in_one_line() {
    let scenario = elephan::read(&link(2, 20, "")).unwrap();
    let lost = Simulation::new(&scenario).queue("cor", |_link| Tail::new(1)).run().unwrap_err();
    assert_eq!(lost.to_string(), "links: none is named \"cor\"");
    let text = link(2, 20, "")
        .replace("links = [{", "pools = [{ name = \"chip\", size = \"9 packets\" }]\nlinks = [{ pool = \"chip\",");
    let scenario = elephan::read(&text).unwrap_or_else(|e| panic!("{e}"));
    let pooled = Simulation::new(&scenario).queue("core", |_link| Tail::new(1)).run().unwrap_err();
    assert_eq!(
        pooled.to_string(),
        "links[0].pool: links with a queue of one's own share no memory; leave the pool out"
    );
}

/// Goes wrong where the test says so.
#[derive(Clone, Debug)]
struct Told {
    drawn: u64,
    window: f64,
}

impl CongestionControl for Told {
    fn on_ack(&mut self, ack: &AckSample) {
        assert!(ack.delivered < 40, "enough\nof it");
    }
    fn on_congestion(&mut self, _event: &CongestionEvent) {
        self.window = f64::NAN;
    }
    fn collapse(&mut self) {}
    fn cwnd(&self) -> f64 {
        self.window
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("drawn", self.drawn as f64);
    }
}

#[test]
fn a_law_in_a_library_that_goes_wrong_is_asked_nothing_more() {
    let scenario = read(&link(1, 20, ""), "reno");
    let mut seen = Vec::new();
    Simulation::new(&scenario)
        .control(|flow| {
            let law = |kept| of_library("told", flow, &[kept]);
            let (mut fresh, mut lost, unmade) = (law(1.0), law(0.5), law(2.0));
            let unmade_said = FAULT.lock().unwrap().take();
            let (mut gauge, drawn) = (0.0, flow.stream("a").next_u64());
            fresh.gauges(&mut |name, value| gauge = if name == "drawn" { value } else { 0.0 });
            assert_eq!((fresh.cwnd(), lost.cwnd(), gauge), (2.0, 1.0, drawn as f64));
            let clone = fresh.clone();
            let plain = AckSample::plain(flow.start, Span::millis(1));
            fresh.on_ack(&AckSample { delivered: 39, ..plain });
            assert!(FAULT.lock().unwrap().is_none());
            fresh.on_ack(&AckSample { delivered: 40, ..plain });
            let acked_said = FAULT.lock().unwrap().take();
            lost.on_congestion(&CongestionEvent::plain(flow.start, Signal::Loss, Span::millis(1)));
            let lost_said = FAULT.lock().unwrap().take();
            seen = [unmade_said, acked_said, lost_said].map(|fault| fault.unwrap()).to_vec();
            for mut dead in [fresh, lost, unmade] {
                dead.on_ack(&AckSample { delivered: 50, ..plain });
                dead.collapse();
                assert_eq!((dead.cwnd(), dead.clone().cwnd()), (1.0, 1.0));
            }
            assert!(FAULT.lock().unwrap().is_none());
            assert_eq!(clone.cwnd(), 2.0);
            built(flow)
        })
        .run()
        .unwrap();
    let said: Vec<_> = seen.iter().map(|fault| (fault.method, fault.reason.as_str())).collect();
    assert_eq!(said[0], ("make", "kept is 2; it must be at most 1"));
    assert_eq!(said[1], ("on_ack", "enough of it"));
    assert_eq!(said[2].0, "on_congestion");
    assert!(said[2].1.starts_with("left an invalid window: cwnd is NaN; it must be"), "{}", said[2].1);
}

#[test]
fn a_library_names_its_laws_and_their_parameters() {
    let laws = LawLibrary::of(&ELEPHAN_LAWS).unwrap().laws;
    let names: Vec<&str> = laws.iter().map(|law| law.name.as_str()).collect();
    assert_eq!(names, ["reno", "cubic", "measuring", "told"]);
    assert!(laws[0].parameters.is_empty());
    assert_eq!(laws[2].parameters, [("window".to_owned(), 20.0), ("pace".to_owned(), 300.0)]);
}
