//! The `[[pools]]` tables: memory that the buffers of links share.

use crate::names::{self, Names, unknown};
use crate::node::Node;
use crate::schema::text;
use crate::table::{Defs, KeyType};
use crate::types::words;
use crate::{Link, ScenarioError, limits, table};
use base::text::{NUMBER, TextError, byte_units};
use base::{Amount, Bytes, Key, amount};
use queue::{Limit, MemorySize, SharedMemory, Sharing};
use serde_json::{Value as Json, json};

base::keys! {
    /// Memory that the buffers of several links share, as in switch chips: those that name it as their `pool`.
    pub struct Pool {
        /// Its name, for links.
        name: String, eg "chip", in limits::NAME;
        /// Size of the pool, for packets waiting at all its links, those in service excluded: "12 MB", or "8000
        /// packets" of any size.
        size: MemorySize, eg "12 MB";
        /// Share of each link: "complete" (all of it, while there is room), "static" (an equal share for each link) or "dynamic"
        /// (each below alpha times what is free: Choudhury and Hahne 1998).
        sharing: Sharing = Sharing::Dynamic;
        /// Factor alpha of dynamic thresholds: n links that are always full hold alpha/(1 + n alpha) of the pool each.
        alpha: f64 = 1.0, in ALPHA, needs [Is("sharing", "dynamic")];
    }
}

/// Switch chips use powers of two from 1/128 to 8, or no such limit, which corresponds to a large number.
pub(crate) const ALPHA: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

const EXAMPLE: &str = "12 MB";

words! {
    Sharing, "dynamic";
}

impl KeyType for Pool {
    const EXAMPLE: &'static str = "[[pools]]";
    const LIST: [&'static str; 2] = ["a list of tables, each headed [[pools]]", ""];
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        table::read(node, "a table headed [[pools]]")
    }
    fn write(&self, names: &Names) -> Json {
        table::write(self, names)
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        table::restore(node)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.table::<Self>("Pool")
    }
    fn listed(list: &[Self], names: &Names) -> Result<(), ScenarioError> {
        // This must precede the links, which refer to the names.
        names::learn(&names.pools, "pools", list.iter().map(|pool| (&pool.name, 1)))
    }
}

impl KeyType for MemorySize {
    const EXAMPLE: &'static str = EXAMPLE;
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        node.quantity(parse, EXAMPLE)
    }
    fn write(&self, _names: &Names) -> Json {
        match self {
            Self::Packets(n) => json!({ "packets": n }),
            Self::Bytes(n) => json!({ "bytes": n }),
        }
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        let of = |kind: &str| node.value.get(kind).and_then(Json::as_u64).filter(|n| *n <= MOST);
        match (of("packets"), of("bytes")) {
            (Some(n), None) => Ok(Self::Packets(n)),
            (None, Some(n)) => Ok(Self::Bytes(n)),
            _ => Err(node.wrong("must be { packets } or { bytes }")),
        }
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        text(&format!(r"{NUMBER}\s*({}|{})|0", amount::PACKETS, byte_units().join("|")))
    }
}

const UNITS: &str = "pools are in packets, B, kB, MB, GB, KiB, MiB or GiB";

/// Largest size in packets or bytes: 10^12.
const MOST: u64 = 1_000_000_000_000;

/// Reads the size of a pool.
fn parse(text: &str) -> Result<MemorySize, TextError> {
    let out_of_range = |range| Err(TextError::OutOfRange(text.into(), range));
    let amount = amount::parse(text, "the size of a pool", EXAMPLE).map_err(|error| match error {
        TextError::UnknownUnit { text, unit, .. } => TextError::UnknownUnit { text, unit, known: UNITS },
        other => other,
    })?;
    match amount {
        Amount::Packets(n) if n < 0.0 || n > f64::from(u32::MAX) || n != n.trunc() => {
            out_of_range("packets are whole numbers from 0 to 4294967295")
        }
        Amount::Packets(n) => Ok(MemorySize::Packets(n as u64)),
        Amount::Bytes(n) if n > MOST => out_of_range("pools hold 1000 GB at most"),
        Amount::Bytes(n) => Ok(MemorySize::Bytes(n)),
        _ => out_of_range("pools are in bytes or packets: links of many rates and round trips share them"),
    }
}

/// The pool that a link names, as an index into `Scenario::pools`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolName(pub usize);

impl KeyType for PoolName {
    const EXAMPLE: &'static str = "chip";
    fn read(node: &Node, key: &Key) -> Result<Self, ScenarioError> {
        let name = node.text(Self::EXAMPLE)?;
        let known: Vec<&str> = node.names.pools().iter().map(|pool| pool.0.as_str()).collect();
        if known.is_empty() {
            return Err(
                node.wrong(format!("there is no pool {name:?}; write a [[pools]] table with its name and size"))
            );
        }
        let found = known.iter().position(|pool| *pool == name);
        found.map(Self).ok_or_else(|| node.wrong(unknown(key.name, name, &known, &[])))
    }
    fn write(&self, names: &Names) -> Json {
        json!(names.pools()[self.0].0)
    }
    fn schema(_key: &Key, _defs: &mut Defs) -> Json {
        json!({ "type": "string" })
    }
}

impl<Buffer> crate::Scenario<Buffer> {
    /// The tables of the links that draw on `pools[pool]`.
    pub fn links_in(&self, pool: usize) -> impl Iterator<Item = (usize, &Link<Buffer>)> {
        self.links.iter().enumerate().filter(move |(_, link)| link.pool == Some(PoolName(pool)))
    }

    /// The memory of `pools[pool]`, shared by all its links.
    #[must_use]
    pub fn memory(&self, pool: usize) -> SharedMemory {
        let Pool { size, sharing, .. } = self.pools[pool];
        SharedMemory::new(size, sharing, self.links_in(pool).map(|(_, link)| link.count).sum())
    }

    /// The alpha of `links[link]`: its own, or its pool's.
    #[must_use]
    pub fn alpha(&self, link: usize) -> Option<f64> {
        let Link { pool, alpha, .. } = &self.links[link];
        pool.map(|PoolName(pool)| alpha.unwrap_or(self.pools[pool].alpha))
    }
}

impl Link {
    /// The most bytes that can wait here, if there is a limit: that of the link's buffer, or the size of its whole pool.
    /// Packets have at most `packet` bytes.
    pub(crate) fn most_waiting(&self, pool: Option<MemorySize>, packet: Bytes) -> Option<u128> {
        let packets = |n: u64| u128::from(n) * u128::from(packet.0);
        let own = match self.buffer {
            Limit::Packets(n) => Some(packets(u64::from(n))),
            Limit::Bytes(n) => Some(u128::from(n.0)),
            Limit::Unlimited => None,
        };
        let shared = pool.map(|size| match size {
            MemorySize::Packets(n) => packets(n),
            MemorySize::Bytes(n) => u128::from(n),
        });
        own.into_iter().chain(shared).min()
    }
}
