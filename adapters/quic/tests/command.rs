//! The program: one document, or one line that says what is wrong and exit code 2.

use std::process::{Command, Output};

fn elephan_quic(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_elephan-quic")).args(words).output().unwrap()
}

#[test]
fn list_has_a_version_for_each_law() {
    let done = elephan_quic(&["list"]);
    let said: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let laws = said["laws"].as_array().unwrap();
    assert_eq!(laws.len(), elephan_quic::laws::LAWS.len());
    assert!(laws.iter().all(|law| law["version"].as_str().unwrap().split('.').count() == 3));
}

#[test]
fn bad_input_is_one_line_that_names_the_place() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/testbed-senders.toml");
    for (words, said) in [
        (&["birds"][..], "elephan-quic: there is no \"birds\"; it is list, run or script"),
        (&["run", scenario], "--law: must be given, such as --law quinn/cubic"),
        (&["run", scenario, "--law"], "--law: must be followed by a value"),
        (&["run", scenario, "--law", "quinn/bird"], "--law: there is no \"quinn/bird\"; it is one of quinn/cubic,"),
        (
            &["run", scenario, "--law", "quinn/cubic", "--offload", "0"],
            "--offload: must be a whole number from 1 to 64",
        ),
        (&["run", scenario, "--law", "quinn/cubic", "--fast"], "elephan-quic run: there is no option --fast"),
        (&["run", "no.toml", "--law", "quinn/cubic"], "no.toml: "),
    ] {
        let done = elephan_quic(words);
        let line = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), done.stdout.len(), line.lines().count()), (Some(2), 0, 1), "{words:?}: {line}");
        assert!(line.starts_with(said), "{line}");
    }
}
