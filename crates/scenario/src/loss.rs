//! Loss that is not caused by the queue: one law, which applies always or in given intervals.
//!
//! Source: E. N. Gilbert, Capacity of a burst-noise channel, Bell System Technical Journal 39 (1960); E. O. Elliott, Estimates of
//! error rates for codes on burst-noise channels, Bell System Technical Journal 42 (1963).

use crate::names::Names;
use crate::node::Node;
use crate::table::{self, Defs, KeyType};
use crate::{ScenarioError, limits};
use base::text::format_span;
use base::{Key, Span};
use serde_json::{Value as Json, json};

/// Injected loss, decided before the packet reaches the queue.
#[derive(Clone, Debug, PartialEq)]
pub enum Loss {
    /// Each packet is lost with this probability.
    Random(f64),
    /// Every n-th packet is lost.
    Every(u64),
    /// Losses by a Markov chain of two states (Gilbert).
    Gilbert(Gilbert),
    /// Loss only in these intervals, which are in order: by another rule, or of every packet.
    During(Vec<(Span, Span)>, Option<Box<Loss>>),
}

base::keys! {
    /// One of random, every, gilbert and bursts, or none of them beside during.
    pub struct LossTable {
        /// Each packet with this probability.
        random: Option<f64> = None, in 0.0..=1.0, since "0.1";
        /// Every n-th packet.
        every: Option<u64> = None, in 2..=1_000_000_000_000, since "0.1";
        /// Losses in bursts, by a chain of two states that moves after each packet.
        gilbert: Option<Gilbert> = None, since "0.1";
        /// The same in two numbers: nothing is lost in one state, everything in the other.
        bursts: Option<Bursts> = None, since "0.1";
        /// Intervals in which arriving packets are lost, in order, their ends excluded: [["10 s", "10.5 s"]]. Without
        /// another rule all packets in them are lost.
        during: Vec<(Span, Span)> = Vec::new(), eg "10 s", in limits::INSTANT, since "0.1";
    }
}

base::keys! {
    /// The chain of Gilbert and Elliott.
    pub struct Gilbert {
        /// Probability to go from the good state to the bad one after a packet.
        enter: f64, eg "0.001", in 0.0..=1.0;
        /// Probability to go back.
        leave: f64, eg "0.25", in 0.0..=1.0;
        /// Share of packets lost in the good state.
        good: f64 = 0.0, in 0.0..=1.0;
        /// Share of packets lost in the bad state.
        bad: f64 = 1.0, in 0.0..=1.0;
    }
}

base::keys! {
    /// Loss in bursts.
    pub struct Bursts {
        /// Share of all packets that are lost.
        mean: f64, eg "0.01", in 0.0..=1.0;
        /// Mean number of packets lost in a row.
        length: f64, eg "4", unit "packets", in 1.0..=1e9;
    }
}

impl Bursts {
    /// The Markov chain: a burst ends after each packet with probability 1/length, and the chain is in the bad state for
    /// the mean share of time.
    fn chain(&self) -> Gilbert {
        let leave = 1.0 / self.length;
        Gilbert { enter: leave * self.mean / (1.0 - self.mean), leave, good: 0.0, bad: 1.0 }
    }
}

impl LossTable {
    fn law(self, node: &Node) -> Result<Loss, ScenarioError> {
        let law = match (self.random, self.every, self.gilbert, self.bursts) {
            (None, None, None, None) => None,
            (Some(p), None, None, None) if p < 1.0 => Some(Loss::Random(p)),
            (Some(_), None, None, None) => {
                return Err(node.at("random").wrong("must be a probability, at least 0 and below 1"));
            }
            (None, Some(n), None, None) => Some(Loss::Every(n)),
            (None, None, Some(chain), None) => {
                if chain.leave <= 0.0 {
                    return Err(node
                        .at("gilbert")
                        .at("leave")
                        .wrong("must be above 0: the chain would stay bad for ever"));
                }
                Some(Loss::Gilbert(chain))
            }
            (None, None, None, Some(bursts)) => {
                if bursts.mean >= 1.0 || bursts.chain().enter > 1.0 {
                    let reason = "must be at most length / (1 + length): a packet at least lies between two bursts";
                    return Err(node.at("bursts").at("mean").wrong(reason));
                }
                Some(Loss::Gilbert(bursts.chain()))
            }
            _ => return Err(node.wrong(FORM)),
        };
        if self.during.is_empty() {
            return law.ok_or_else(|| node.wrong(FORM));
        }
        let mut last = Span::ZERO;
        for (i, &(from, to)) in self.during.iter().enumerate() {
            let at = Node { value: node.value, place: format!("{}.during[{i}]", node.place), names: node.names };
            if to <= from {
                return Err(at.wrong("must end later than it begins"));
            }
            if from < last {
                return Err(
                    at.wrong(format!("must not begin before the end of the one in front of it, {}", format_span(last)))
                );
            }
            last = to;
        }
        Ok(Loss::During(self.during, law.map(Box::new)))
    }
}

const FORM: &str =
    "must hold one of random = 1e-4, every = 10000, gilbert = { enter, leave } and bursts = { mean, length }";

impl From<&Loss> for LossTable {
    fn from(loss: &Loss) -> Self {
        let mut table = Self::default();
        match loss {
            Loss::Random(p) => table.random = Some(*p),
            Loss::Every(n) => table.every = Some(*n),
            Loss::Gilbert(chain) => table.gilbert = Some(chain.clone()),
            Loss::During(spans, law) => {
                table = law.as_ref().map_or(table, |law| Self::from(&**law));
                table.during.clone_from(spans);
            }
        }
        table
    }
}

impl KeyType for Loss {
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let table: LossTable = table::read(node, "a table such as { random = 1e-4 } or { every = 10000 }")?;
        table.law(node)
    }
    fn write(&self, names: &Names) -> Json {
        table::write(&LossTable::from(self), names)
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        table::restore::<LossTable>(node)?.law(node)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        let reference = defs.table::<LossTable>("LossTable");
        let beside = json!({ "required": ["during"], "maxProperties": 2 });
        defs.0["LossTable"]["minProperties"] = json!(1);
        defs.0["LossTable"]["anyOf"] = json!([{ "maxProperties": 1 }, beside]);
        reference
    }
}

table::table_types! {
    Gilbert = "Gilbert", "a table such as { enter = 0.001, leave = 0.25 }";
    Bursts = "Bursts", "a table such as { mean = 0.01, length = 4 }";
}
