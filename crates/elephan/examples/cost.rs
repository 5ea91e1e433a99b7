//! One run of a scenario from standard input, its law Reno or CUBIC: that of the scenario (`built-in`), the one of `examples/own-law`
//! compiled in (`ours`) or the one of a library (its file), for a counter of instructions: `valgrind --tool=callgrind
//! target/release/examples/cost ours <scenario.toml`. Prints the data packets sent.

#[path = "../../../examples/own-law/src/cubic.rs"]
mod cubic;
#[path = "../../../examples/own-law/src/reno.rs"]
mod reno;

use cubic::Cubic;
use elephan::abi::LoadedLaw;
use elephan::{Error, FlowSite};
use reno::Reno;
use std::sync::Arc;

fn our_reno(flow: &FlowSite<'_>) -> Reno {
    Reno::new(flow.initial_window, flow.ssthresh)
}

/// The law of that name in a library.
fn found(file: &str, name: &str) -> Result<LoadedLaw, Box<dyn std::error::Error>> {
    let laws = elephan::abi::open(&std::fs::read(file)?)?.laws;
    Ok(laws.into_iter().find(|law| law.name == name).ok_or("no such law in it")?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scenario = elephan::read(&std::io::read_to_string(std::io::stdin())?).map_err(Error::from)?;
    let law = scenario.groups[0].control.law.card().name;
    let outcome = match (std::env::args().nth(1).as_deref(), law) {
        (Some("built-in"), _) => elephan::simulate(&scenario, 0)?,
        (Some("ours"), "reno") => elephan::simulate_with(&scenario, 0, our_reno)?,
        (Some("ours"), "cubic") => elephan::simulate_with(&scenario, 0, |flow| flow.windowed(Cubic::default()))?,
        (Some(file), "reno" | "cubic") => {
            let law = found(file, law)?;
            let defaults: Vec<f64> = law.parameters.iter().map(|parameter| parameter.1).collect();
            elephan::simulate_with(&scenario, 0, |flow| {
                law.control(&flow.site(), &defaults, Arc::new(|fault| panic!("{}: {}", fault.method, fault.reason)))
            })?
        }
        _ => return Err("say built-in, ours or a library, and a scenario of reno or cubic".into()),
    };
    println!("{}", outcome.balance.sent);
    Ok(())
}
