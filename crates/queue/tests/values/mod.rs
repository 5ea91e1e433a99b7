//! Random parameters for disciplines, whichever there are: values by the kind of the default.

use base::{Param, Span, Value};
use queue::QueueSpec;

const NUMBERS: &[f64] = &[
    0.0, 1e-9, 1e-6, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.9, 0.99, 1.0, 1.001, 1.5, 2.0, 3.0, 5.0, 7.0,
    10.0, 16.0, 64.0, 100.0, 1000.0, 65_536.0,
];
const SPANS: &[&str] = &[
    "0 s", "1 ps", "10 us", "37 us", "100 us", "333 us", "1 ms", "1 ms", "2 ms", "5 ms", "10 ms", "10 ms", "50 ms",
    "300 ms", "1 s", "100 s", "250 h",
];
const AMOUNTS: &[&str] = &[
    "auto",
    "0 packets",
    "1 B",
    "7 B",
    "40 B",
    "300 B",
    "1500 B",
    "9000 B",
    "0.5 packets",
    "1 packets",
    "1 packets",
    "2.5 packets",
    "4 packets",
    "7 packets",
    "10 packets",
    "20 packets",
    "100 packets",
    "1000000 packets",
    "1 ps",
    "100 us",
    "1 ms",
    "5 ms",
    "20 ms",
    "1 s",
    "250 h",
    "1 % of buffer",
    "25 % of buffer",
    "100 % of buffer",
    "0.01 bdp",
    "0.1 bdp",
    "1 bdp",
];

/// Every word that a discipline knows; most know only two of them.
const WORDS: &[&str] = &[
    "head",
    "tail",
    "drr",
    "start-time",
    "packets",
    "bytes",
    "wait",
    "classic",
    "recur",
    "random",
    "weighted",
    "time-shifted",
    "clock",
    "arrivals",
];

/// Upper bound of the number of parameters of a discipline.
pub const MOST: usize = 24;

/// The value that `draw` stands for, of the kind of the row's default.
pub fn value(spec: &QueueSpec, row: &Param, draw: u32) -> Value {
    let of = |texts: &[&str]| Value::Text(texts[draw as usize % texts.len()].to_owned());
    match &row.default {
        Value::Bool(_) => Value::Bool(draw.is_multiple_of(2)),
        Value::Number(_) => Value::Number(NUMBERS[draw as usize % NUMBERS.len()]),
        // A number that may be left open is no amount.
        Value::Text(_) if takes(spec, row, &Value::Number(0.5)) && !takes(spec, row, &Value::Text("1 B".into())) => {
            Value::Number(NUMBERS[draw as usize % NUMBERS.len()])
        }
        // No discipline takes a table yet.
        Value::Pairs(_) => row.default.clone(),
        Value::Text(text) if text == "auto" || text.ends_with("packets") && text != "packets" => of(AMOUNTS),
        Value::Text(text) if base::text::span(text).is_ok_and(|span| span >= Span::ZERO) => of(SPANS),
        Value::Text(_) => {
            let known: Vec<&str> =
                WORDS.iter().copied().filter(|word| takes(spec, row, &Value::Text((*word).into()))).collect();
            of(&known)
        }
    }
}

fn takes(spec: &QueueSpec, row: &Param, value: &Value) -> bool {
    spec.clone().set(row.name, value).is_some_and(|set| set.is_ok())
}
