//! Two laws and a queue of one's own on one link, beside those that are built in.

mod cubic;
mod reno;
mod tail;

use cubic::Cubic;
use elephan::law::Either;
use elephan::{Outcome, Simulation};
use reno::Reno;
use tail::Tail;

const SCENARIO: &str = r#"
duration = "60 s"
warmup = "10 s"
links = [{ name = "core", rate = "20 Mbit/s", delay = "20 ms", buffer = "40 packets" }]
flows = [
    { name = "a", path = ["core"], rtt = "60 ms", control = "reno" },
    { name = "b", path = ["core"], rtt = "80 ms", control = "cubic" },
]
"#;

fn show(name: &str, outcome: &Outcome) {
    let rates: Vec<String> = outcome.flows.iter().map(|flow| format!("{:.1} Mbit/s", flow.goodput_bps / 1e6)).collect();
    println!("{name:28} {:5.1} % busy, {}", 100.0 * outcome.links[0].utilization, rates.join(", "));
}

fn main() -> Result<(), elephan::Error> {
    let scenario = elephan::read(SCENARIO)?;
    show("as the scenario says", &elephan::simulate(&scenario, 0)?);

    // Every flow under a law of one's own.
    let cubic = elephan::simulate_with(&scenario, 0, |flow| flow.windowed(Cubic::default()))?;
    show("both under our CUBIC", &cubic);

    // One group under a law of one's own, the other as the scenario says.
    let mixed = elephan::simulate_with(&scenario, 0, |flow| match flow.group {
        "a" => Either::First(Reno::new(flow.initial_window, flow.ssthresh)),
        _ => Either::Second(flow.built_in()),
    })?;
    show("a under our Reno", &mixed);

    // A queue of one's own on one link.
    let tail = Simulation::new(&scenario).queue("core", |_link| Tail::new(20)).run()?;
    show("half the buffer, our queue", &tail);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_laws_and_our_queue_do_what_the_built_in_ones_do() -> Result<(), elephan::Error> {
        let scenario = elephan::read(SCENARIO)?;
        let ours = Simulation::new(&scenario)
            .control(|flow| match flow.group {
                "a" => Either::First(Reno::new(flow.initial_window, flow.ssthresh)),
                _ => Either::Second(flow.windowed(Cubic::default())),
            })
            .queue("core", |_link| Tail::new(40))
            .run()?;
        assert_eq!(ours, elephan::simulate(&scenario, 0)?);
        Ok(())
    }
}
