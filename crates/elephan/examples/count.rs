//! Runs of scenarios, read from standard input with a line `---` between any two, one after the other on one thread: what `make
//! scaling` counts the instructions of. Prints for each the data packets sent.

use std::io::Read;
use std::process::ExitCode;

/// One run, by a name that a profiler finds; what it has counted is complete when this returns.
#[inline(never)]
fn counted_run(text: &str) -> Result<u64, String> {
    let scenario = elephan::read(text).map_err(|error| error.to_string())?;
    let outcome = elephan::simulate(&scenario, 0).map_err(|error| error.to_string())?;
    Ok(outcome.balance.sent)
}

fn main() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let runs = read.and_then(|_| text.split("\n---\n").map(counted_run).collect::<Result<Vec<_>, _>>());
    match runs {
        Ok(runs) => runs.iter().for_each(|packets| println!("{packets}")),
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
