//! Tables of the flows that cross a link of the window engine.

use super::service::Service;

/// The flows that cross a link, each at a place: the routes of their packets, and their service times here.
#[derive(Clone, Debug)]
pub struct FlowTable {
    pub places: FlowPlaces,
    /// For each place, the ring to which the flow's packets go next.
    pub routes: Vec<u32>,
    pub service: Service,
    /// For each place, the lane in which headers of the flow's packets arrive; empty on a link without headers.
    pub lanes: Vec<u32>,
}

impl FlowTable {
    /// The next ring for packets of `flow`.
    #[inline]
    pub fn route(&self, flow: u32) -> u32 {
        self.routes[self.places.of(flow)]
    }
}

/// Positions (*places*) of the flows in the tables of a link; they are not the places of a session.
#[derive(Clone, Debug, Default)]
pub struct FlowPlaces {
    first: u32,
    /// The flows in the order of their numbers, if these lie far apart. Otherwise empty, and a flow's place is its number
    /// minus the first number.
    listed: Vec<u32>,
    count: usize,
}

/// Ratio of the range of flow numbers to the number of flows above which the flows of a link are listed. A search costs
/// more than a subtraction, but tables over all flows of the scenario would need memory for links times flows.
const MOST_SPREAD: usize = 4;

impl FlowPlaces {
    /// Places for `flows`, which are in order and may contain duplicates.
    pub fn new(flows: impl Iterator<Item = u32> + Clone) -> Self {
        let mut listed: Vec<u32> = flows.collect();
        listed.dedup();
        let (Some(&first), Some(&last)) = (listed.first(), listed.last()) else { return Self::default() };
        let spread = (last - first) as usize + 1;
        if spread <= MOST_SPREAD * listed.len() {
            return Self { first, listed: Vec::new(), count: spread };
        }
        Self { first, count: listed.len(), listed }
    }

    /// Number of places.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The flow at the first place, if every flow's place is its number minus this one.
    #[inline]
    pub fn direct(&self) -> Option<u32> {
        self.listed.is_empty().then_some(self.first)
    }

    /// The place of `flow`, which must cross the link.
    #[inline]
    pub fn of(&self, flow: u32) -> usize {
        if self.listed.is_empty() { (flow - self.first) as usize } else { self.listed_at(flow) }
    }

    #[inline(never)]
    fn listed_at(&self, flow: u32) -> usize {
        self.listed.partition_point(|&other| other < flow)
    }
}
