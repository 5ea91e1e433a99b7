//! The network for the computation of max-min fairness: rates, paths and the most that a flow can use.
//!
//! An array counts as one link with the total rate of its links, since flows are distributed evenly over them; no flow gets
//! more than the rate of one link. A single link of an array that a path names is an additional link.

use crate::{Pick, Scenario};
use traffic::Sort;

/// See the [module](self). Rates are means where they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Fair {
    /// Rate of each link, in bit/s.
    pub rates: Vec<f64>,
    /// Links that the data of each group crosses.
    pub paths: Vec<Vec<usize>>,
    /// For each group, the most that one of its flows can use, in bit/s; infinite for no limit. Sessions, and applications
    /// that do not give a rate, come and go: if there are also long-lived flows, they get no share.
    pub caps: Vec<f64>,
}

impl Scenario {
    /// The network for the computation of max-min fairness.
    #[must_use]
    pub fn fair(&self) -> Fair {
        let mut rates: Vec<f64> =
            (0..self.links.len()).map(|i| f64::from(self.links[i].count) * self.mean_rate(i).0 as f64).collect();
        let mut named = Vec::new();
        let (mut paths, mut caps) = (Vec::new(), Vec::new());
        let stays = self.groups.iter().any(|group| group.traffic.sort() == Sort::Transfer);
        for group in &self.groups {
            let mut path: Vec<usize> = group.path.iter().map(|hop| hop.link).collect();
            let access = group.access.rate.as_ref().map(|rate| rate.mean().0 as f64);
            let offered = group.offered_bps();
            let mut cap = access.unwrap_or(f64::INFINITY).min(offered.unwrap_or(f64::INFINITY));
            let comes_and_goes = match group.traffic.sort() {
                Sort::Session => true,
                Sort::Application => offered.is_none(),
                Sort::Transfer | Sort::Datagrams => false,
            };
            if stays && comes_and_goes {
                cap = 0.0;
            }
            for hop in group.path.iter().filter(|hop| self.links[hop.link].count > 1) {
                let rate = self.mean_rate(hop.link).0 as f64;
                match hop.pick {
                    Pick::Each => cap = cap.min(rate),
                    Pick::One(_) => {
                        let at = named.iter().position(|known| known == hop).unwrap_or_else(|| {
                            named.push(*hop);
                            rates.push(rate);
                            named.len() - 1
                        });
                        path.push(self.links.len() + at);
                    }
                }
            }
            // Two links of the same array count once.
            path.sort_unstable();
            path.dedup();
            paths.push(path);
            caps.push(cap);
        }
        Fair { rates, paths, caps }
    }
}
