//! Disciplines with random parameters.

use crate::values;
use base::Stream;
use queue::{Port, QueueSpec};

/// The discipline called `name` with those of the drawn values that it accepts on `port`, one after the other.
pub fn drawn(name: &str, port: &Port, draws: &[Option<u32>]) -> QueueSpec {
    let mut spec = QueueSpec::named(name).expect("registered");
    assert!(spec.rows().len() <= draws.len(), "MOST is less than {name} has");
    for (row, draw) in spec.rows().iter().zip(draws) {
        let Some(draw) = draw else { continue };
        let mut tried = spec.clone();
        let set = tried.set(row.name, &values::value(&spec, row, *draw)).expect("it has a row");
        let refused = set.and_then(|()| tried.build(port, Stream::new(0, 0, ("try", 0), "queue")).map(|_| ())).err();
        match refused {
            None => spec = tried,
            Some(error) => assert!(spec.rows().iter().any(|row| row.name == error.field), "{name}: {error}"),
        }
    }
    spec
}
