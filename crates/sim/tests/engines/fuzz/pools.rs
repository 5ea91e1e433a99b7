//! Memory that links of random networks share.

use super::Link;
use proptest::prelude::*;
use queue::QueueSpec;
use std::fmt::Write;

/// Shared settings of a pool, which its first link states, and the alpha of each link.
#[derive(Clone, Debug)]
pub struct Pool {
    name: &'static str,
    size: String,
    sharing: &'static str,
    alpha: (f64, Option<f64>),
    /// Whether the link has a buffer of its own, too.
    capped: bool,
}

impl Link {
    fn pool(&self) -> Option<&Pool> {
        self.pool.as_ref().filter(|_| QueueSpec::named(self.queue).expect("registered").can_share_memory())
    }
}

pub fn pool() -> impl Strategy<Value = Pool> {
    let size =
        prop_oneof![(0u32..100).prop_map(|n| format!("{n} packets")), (0u32..60_000).prop_map(|n| format!("{n} B")),];
    let of = prop::sample::select::<&'static str>;
    let alpha = prop_oneof![Just(1.0), Just(0.125), 0.01..20.0];
    let parts = (of(vec!["a", "b"]), size, of(vec!["complete", "static", "dynamic", "dynamic"]));
    (parts, (alpha.clone(), prop::option::of(alpha)), any::<bool>())
        .prop_map(|((name, size, sharing), alpha, capped)| Pool { name, size, sharing, alpha, capped })
}

/// The tables of the pools that links name.
pub fn pools(links: &[Link]) -> String {
    let (mut text, mut said) = (String::new(), Vec::new());
    for Pool { name, size, sharing, alpha, .. } in links.iter().filter_map(Link::pool) {
        if !said.contains(name) {
            said.push(*name);
            let _ = writeln!(
                text,
                "[[pools]]\nname = {name:?}\nsize = {size:?}\nsharing = {sharing:?}\nalpha = {:?}",
                alpha.0
            );
        }
    }
    text
}

/// The lines about the buffer of a link.
pub fn buffer(link: &Link) -> String {
    let own = format!("buffer = {:?}", link.buffer);
    let Some(pool) = link.pool() else { return own };
    let alpha = pool.alpha.1.map_or(String::new(), |alpha| format!("\nalpha = {alpha:?}"));
    format!("{}\npool = {:?}{alpha}", if pool.capped { &own } else { "" }, pool.name)
}
