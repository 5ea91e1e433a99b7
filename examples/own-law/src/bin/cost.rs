//! One run of a scenario from standard input, its laws our Reno and CUBIC or (`built-in`) those of the scenario, for a counter of
//! instructions: `valgrind --tool=callgrind target/release/cost ours <scenario.toml`. Prints the data packets sent.

#[path = "../cubic.rs"]
mod cubic;
#[path = "../reno.rs"]
mod reno;

use cubic::Cubic;
use elephan::{Error, FlowSite};
use reno::Reno;

fn our_reno(flow: &FlowSite<'_>) -> Reno {
    Reno::new(flow.initial_window, flow.ssthresh)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = elephan::read(&std::io::read_to_string(std::io::stdin())?).map_err(Error::from)?;
    let law = scenario.groups[0].control.law.card().name;
    let outcome = match (std::env::args().nth(1).as_deref(), law) {
        (Some("built-in"), _) => elephan::simulate(&scenario, 0)?,
        (Some("ours"), "reno") => elephan::simulate_with(&scenario, 0, our_reno)?,
        (Some("ours"), "cubic") => elephan::simulate_with(&scenario, 0, |flow| flow.windowed(Cubic::default()))?,
        _ => return Err("say ours or built-in, and a scenario of reno or cubic".into()),
    };
    println!("{}", outcome.balance.sent);
    Ok(())
}
