//! `elephan-quic`: runs a scenario of elephan with the congestion controls of QUIC stacks, and says which there are.

use elephan_quic::laws::{LAWS, Law, version};
use elephan_quic::script;
use elephan_quic::simulate::Choice;
use serde_json::{Value as Json, json};
use std::io::Read;
use std::process::ExitCode;

const HELP: &str = "\
elephan-quic list
elephan-quic script --law quinn/cubic
elephan-quic run SCENARIO --law quinn/cubic [--replication N] [--offload N] [--ack-every N] [--unpaced]

run prints one JSON document; script answers each line of standard input with one. SCENARIO is a file, or - for what comes on standard input: one link, bulk flows.
  --law NAME         one of those that `elephan-quic list` shows; it takes the place of the scenario's
  --replication N    from 0 (default)
  --offload N        datagrams that leave at once at most, 1 to 64 (default 10: segmentation offload, as on Linux)
  --ack-every N      packets after which receivers acknowledge, by the ACK-frequency extension (default: the stack's)
  --unpaced          packets leave when the window lets them (noq only)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match answer(&words) {
        Ok(text) => {
            if !text.is_empty() {
                println!("{text}");
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// Output for the arguments `words`.
fn answer(words: &[String]) -> Result<String, String> {
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["list"] => {
            let laws: Vec<Json> = LAWS.iter().map(Law::card).collect();
            Ok(json!({ "adapter": "elephan-quic", "version": version("elephan-quic"), "laws": laws }).to_string())
        }
        ["run", file, options @ ..] => run(file, options).map(|found| found.to_string()),
        ["script", options @ ..] => drive(options),
        [] | ["-h" | "--help", ..] => Ok(HELP.into()),
        [other, ..] => Err(format!("elephan-quic: there is no \"{other}\"; it is list, run or script")),
    }
}

/// Drives a sender by the lines of standard input, each of which is answered when it came.
fn drive(options: &[&str]) -> Result<String, String> {
    let ["--law", name] = options else {
        return Err("elephan-quic script: --law must be given, and nothing else".into());
    };
    let sender = Law::named(name).and_then(Law::scripted);
    let mut sender = sender.ok_or_else(|| format!("--law: a script cannot drive \"{name}\""))?;
    script::drive(&mut *sender, std::io::stdin().lock(), std::io::stdout().lock()).map(|()| String::new())
}

fn run(file: &str, options: &[&str]) -> Result<Json, String> {
    let (mut law, mut replication, mut choice) = (None, 0, Choice::default());
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let mut value = || rest.next().copied().ok_or_else(|| format!("{option}: must be followed by a value"));
        match *option {
            "--law" => {
                let name = value()?;
                let names = || LAWS.iter().map(|law| law.name).collect::<Vec<_>>().join(", ");
                law = Some(
                    Law::named(name)
                        .ok_or_else(|| format!("--law: there is no \"{name}\"; it is one of {}", names()))?,
                );
            }
            "--replication" => replication = whole(option, value()?, 0, 9999)?,
            "--offload" => choice.offload = whole(option, value()?, 1, 64)? as usize,
            "--ack-every" => choice.ack_every = Some(whole(option, value()?, 1, 1000)?),
            "--unpaced" => choice.unpaced = true,
            other => return Err(format!("elephan-quic run: there is no option {other}")),
        }
    }
    let law = law.ok_or("--law: must be given, such as --law quinn/cubic")?;
    let mut text = String::new();
    if file == "-" {
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("-: {error}"))?;
    } else {
        text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    }
    let scenario = scenario::read(&text).map_err(|error| format!("{file}: {error}"))?;
    let found = law.run(&scenario, replication, &choice).map_err(|why| format!("{file}: {why}"))?;
    Ok(json!({
        "law": law.name,
        "version": law.version(),
        "replication": replication,
        "links": [{
            "name": scenario.links[0].name,
            "utilization": found.utilization,
            "loss_ratio": found.loss_ratio,
            "queueing_delay_s": found.queueing_delay_s,
        }],
        "flows": found.flows.iter().map(|flow| json!({
            "start_s": flow.start.as_secs(),
            "base_rtt_s": flow.base_rtt.as_secs(),
            "goodput_bps": flow.goodput_bps,
            "sent": flow.sent,
            "lost": flow.lost,
            "cwnd_segments": flow.cwnd,
            "srtt_s": flow.srtt_s,
        })).collect::<Vec<_>>(),
        "every_s": found.every.as_secs(),
        "hash": found.hash.map(|hash| format!("{hash:016x}")),
    }))
}

fn whole(option: &str, text: &str, least: u32, most: u32) -> Result<u32, String> {
    let read = text.parse().ok().filter(|number| (least..=most).contains(number));
    read.ok_or_else(|| format!("{option}: must be a whole number from {least} to {most}"))
}
