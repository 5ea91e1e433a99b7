//! One run of a scenario, read from standard input, on one thread: what `make scaling` counts the instructions of. Prints the data
//! packets sent.

use std::io::Read;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let sent = read.and_then(|_| {
        let scenario = elephan::read(&text).map_err(|error| error.to_string())?;
        let outcome = elephan::simulate(&scenario, 0).map_err(|error| error.to_string())?;
        Ok(outcome.balance.sent)
    });
    match sent {
        Ok(packets) => println!("{packets}"),
        Err(reason) => {
            eprintln!("{reason}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
