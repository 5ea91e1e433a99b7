//! The crate that puts all together: the same outcomes as its parts, and errors in one line.

use elephan::{Engine, Error, Options};

const TEXT: &str = r#"
duration = "3 s"
replications = 4
seed = 7
links = [{ name = "core", rate = "10 Mbit/s", delay = "20 ms", buffer = "25 packets" }]
flows = [{ name = "bulk", count = 2, path = ["core"], rtt = "80 ms", start = { from = "0 s", to = "1 s" } }]
"#;

#[test]
fn gives_what_the_simulator_gives_in_the_order_of_replications() {
    let scenario = elephan::read(TEXT).unwrap();
    let all = elephan::simulate_all(&scenario).unwrap();
    assert_eq!(all.len(), 4);
    for (replication, outcome) in all.iter().enumerate() {
        let plain = Options { engine: Engine::Reference, ..Options::default() };
        assert_eq!(outcome, &elephan::sim::simulate(&scenario, replication as u32, plain).unwrap());
    }
    assert_ne!(all[0], all[1], "replications draw their own starts");
}

#[test]
fn says_in_one_line_what_is_wrong_and_where() {
    let error = elephan::read(&TEXT.replace("25 packets", "25 parcels")).map_err(Error::from).unwrap_err();
    let line = error.to_string();
    assert!(line.starts_with("links[0].buffer: ") && line.lines().count() == 1, "{line}");
}
