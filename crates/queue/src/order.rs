//! Choice of the lane to serve next: deficit round robin, or start-time fair queueing.

use crate::flows::{Flows, NONE};
use crate::{Packet, Port};
use base::steps::count_steps;
use base::{Amount, ParamError};

base::words! {
    /// Scheduler of fair disciplines.
    pub enum Scheduler {
        /// Deficit round robin.
        Drr = "drr",
        /// Start-time fair queueing.
        StartTime = "start-time",
    }
}

/// A deficit round robin over lanes.
///
/// Source: Shreedhar and Varghese 1995, Section 3. The front lane is served until its deficit is used up.
#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    quantum: i64,
    /// The lane whose turn it is.
    front: u32,
    /// Whether the front lane has had its quantum in this turn.
    granted: bool,
}

impl RoundRobin {
    pub fn new(quantum: i64) -> Self {
        Self { quantum, front: NONE, granted: false }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.front == NONE
    }

    /// The lane whose turn it is; [`NONE`] if no lane has joined.
    #[inline]
    pub fn front(&self) -> u32 {
        self.front
    }

    /// Adds a lane that just opened at the end of the round.
    #[inline]
    pub fn join(&mut self, flows: &mut Flows, lane: u32) {
        if self.front == NONE {
            (self.front, self.granted) = (lane, false);
            flows.link(lane, lane, lane);
        } else {
            flows.link(flows.neighbours(self.front).0, lane, self.front);
        }
    }

    /// Removes a lane from the round.
    #[inline]
    pub fn leave(&mut self, flows: &mut Flows, lane: u32) {
        let (prev, next) = flows.neighbours(lane);
        if next == lane {
            self.front = NONE;
            return;
        }
        flows.bridge(prev, next);
        if self.front == lane {
            (self.front, self.granted) = (next, false);
        }
    }

    /// Ends the turn of the front lane, which stays in the round.
    #[inline]
    pub fn pass(&mut self, flows: &Flows) {
        (self.front, self.granted) = (flows.neighbours(self.front).1, false);
    }

    /// Charges the front lane for its oldest packet; returns whether its deficit suffices. The lane gets its quantum
    /// once per turn.
    #[inline]
    pub fn charge(&mut self, flows: &mut Flows) -> bool {
        let mut left = *flows.deficit(self.front);
        if self.granted && left <= 0 {
            // No packet can fit, so the packet need not be read.
            return false;
        }
        left += if self.granted { 0 } else { self.quantum };
        self.granted = true;
        let size = i64::from(flows.front(self.front).size);
        let enough = size <= left;
        *flows.deficit(self.front) = if enough { left - size } else { left };
        enough
    }

    /// The packet to serve next; lanes that become empty leave and close.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn next(&mut self, flows: &mut Flows) -> Option<Packet> {
        if self.front == NONE {
            return None;
        }
        let mut more = if self.granted { 0 } else { self.quantum };
        let (packet, left) = loop {
            match flows.pop_within(self.front, more) {
                Ok(taken) => break taken,
                Err(next) => (self.front, more) = (next, self.quantum),
            }
        };
        self.granted = true;
        if left == 0 {
            let lane = self.front;
            self.leave(flows, lane);
            flows.close(lane);
        }
        Some(packet)
    }
}

/// A lane that waits for the server. It is ordered by the start tag of its oldest packet, then by that packet's arrival.
/// All fields are in one number, because comparing and moving entries is most of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    /// Bits for the lane; engines have at most 2^24 flows. 36 bits remain for the order of arrival, which only decides
    /// ties.
    const LANE_BITS: u32 = 28;

    #[inline]
    fn new(tag: u64, arrival: u64, lane: u32) -> Self {
        Self(u128::from(tag) << 64 | u128::from(arrival << Self::LANE_BITS | u64::from(lane)))
    }

    #[inline]
    fn lane(self) -> u32 {
        self.0 as u32 & ((1 << Self::LANE_BITS) - 1)
    }
}

/// Start-time fair queueing over lanes, all of weight one; tags are in bytes.
///
/// Source: Goyal, Vin and Cheng 1996, Section 2. While a flow has packets waiting, each starts where the previous one
/// finishes, so a lane needs only one tag. A packet dropped while it waited does not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartTime {
    /// Start tag of the packet in service; when the server becomes idle, the greatest finish tag served.
    v: u64,
    last_finish: u64,
    /// For each flow without waiting packets, the finish tag of its last packet.
    finish: Vec<u64>,
    /// For each lane, the start tag of its oldest packet, and its position in the heap ([`NONE`] if it is not there).
    tag: Vec<u64>,
    place: Vec<u32>,
    /// For each slot, the order of arrival.
    arrival: Vec<u64>,
    arrived: u64,
    /// A heap with four children per node: each parent is before its children.
    heap: Vec<Entry>,
}

impl StartTime {
    const CHILDREN: usize = 4;

    /// Notes that the youngest packet of `lane` just arrived; `new` if it opened the lane.
    #[inline]
    pub fn arrive(&mut self, flows: &Flows, lane: u32, new: bool) {
        let slot = flows.back_slot(lane) as usize;
        if self.arrival.len() <= slot {
            self.arrival.resize(slot + 1, 0);
        }
        self.arrival[slot] = self.arrived;
        self.arrived += 1;
        if new {
            let lane = lane as usize;
            if self.tag.len() <= lane {
                self.tag.resize(lane + 1, 0);
                self.place.resize(lane + 1, NONE);
            }
            self.tag[lane] = self.v.max(self.finish_of(flows.flow(lane as u32)));
        }
    }

    #[inline]
    fn finish_of(&self, flow: u32) -> u64 {
        self.finish.get(flow as usize).copied().unwrap_or(0)
    }

    /// Whether the finish tag of `flow` is beyond the present virtual time.
    #[inline]
    pub fn is_ahead(&self, flow: u32) -> bool {
        self.finish_of(flow) > self.v
    }

    /// Adds a lane with waiting packets to those to be served.
    #[inline]
    pub fn join(&mut self, flows: &Flows, lane: u32) {
        let entry = self.entry(flows, lane);
        self.heap.push(entry);
        self.rise(self.heap.len() - 1, entry);
    }

    #[inline]
    fn entry(&self, flows: &Flows, lane: u32) -> Entry {
        let arrival = self.arrival[flows.front_slot(lane) as usize];
        Entry::new(self.tag[lane as usize], arrival, lane)
    }

    /// Notes that an overflow dropped a packet of `lane`: an empty lane leaves and closes; otherwise its oldest packet may
    /// be another one.
    pub fn dropped(&mut self, flows: &mut Flows, lane: u32) {
        let place = self.place[lane as usize] as usize;
        if flows.packets(lane) > 0 {
            if place < self.heap.len() {
                // The tag stays the same; the packet is younger.
                self.sink(place, self.entry(flows, lane));
            }
            return;
        }
        if place < self.heap.len() {
            self.place[lane as usize] = NONE;
            let moved = self.heap.pop().filter(|last| last.lane() != lane);
            if let Some(moved) = moved {
                self.heap[place] = moved;
                self.sink(place, moved);
                self.rise(self.place[moved.lane() as usize] as usize, moved);
            }
        }
        self.close(flows, lane);
    }

    /// Notes that the oldest packet of `lane`, of `size` bytes, went into service without waiting for its tag.
    #[inline]
    pub fn overtook(&mut self, flows: &mut Flows, lane: u32, size: u32) {
        self.tag[lane as usize] += u64::from(size);
        self.last_finish = self.last_finish.max(self.tag[lane as usize]);
        if flows.packets(lane) == 0 {
            self.close(flows, lane);
        }
    }

    /// The packet to serve next; `None` if no lane has joined, and then the server becomes idle.
    #[inline]
    pub fn next(&mut self, flows: &mut Flows) -> Option<Packet> {
        let Some(lane) = self.heap.first().map(|first| first.lane()) else {
            self.v = self.v.max(self.last_finish);
            return None;
        };
        let packet = flows.pop_front(lane);
        self.v = self.tag[lane as usize];
        let finish = self.v + u64::from(packet.size);
        self.tag[lane as usize] = finish;
        self.last_finish = self.last_finish.max(finish);
        if flows.packets(lane) > 0 {
            self.sink(0, self.entry(flows, lane));
        } else {
            self.place[lane as usize] = NONE;
            if let Some(last) = self.heap.pop().filter(|last| last.lane() != lane) {
                self.sink(0, last);
            }
            self.close(flows, lane);
        }
        Some(packet)
    }

    /// Gives an empty lane back; its flow keeps the tag.
    #[inline]
    fn close(&mut self, flows: &mut Flows, lane: u32) {
        let flow = flows.flow(lane) as usize;
        if self.finish.len() <= flow {
            self.finish.resize(flow + 1, 0);
        }
        self.finish[flow] = self.tag[lane as usize];
        flows.close(lane);
    }

    /// Moves `entry` up from `i` to its place in the heap.
    #[inline]
    fn rise(&mut self, mut i: usize, entry: Entry) {
        while i > 0 {
            let parent = (i - 1) / Self::CHILDREN;
            if self.heap[parent] <= entry {
                break;
            }
            count_steps(1);
            self.put(i, self.heap[parent]);
            i = parent;
        }
        self.put(i, entry);
    }

    /// Moves `entry` down from `i` to its place in the heap.
    #[inline]
    fn sink(&mut self, mut i: usize, entry: Entry) {
        loop {
            let first = Self::CHILDREN * i + 1;
            let least = if let Some(&[a, b, c, d]) = self.heap.get(first..first + Self::CHILDREN) {
                // Without branches, because they would be unpredictable.
                let (ab, cd) = (a.min(b), c.min(d));
                let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
                first + if cd < ab { right } else { left }
            } else if let Some(least) = (first..self.heap.len()).min_by_key(|&child| self.heap[child]) {
                least
            } else {
                break;
            };
            if entry <= self.heap[least] {
                break;
            }
            count_steps(1);
            self.put(i, self.heap[least]);
            i = least;
        }
        self.put(i, entry);
    }

    #[inline]
    fn put(&mut self, i: usize, entry: Entry) {
        self.heap[i] = entry;
        self.place[entry.lane() as usize] = i as u32;
    }
}

/// One of the two schedulers.
#[derive(Clone, Debug)]
pub(crate) enum Order {
    RoundRobin(RoundRobin),
    StartTime(StartTime),
}

impl Order {
    /// Creates a scheduler of this kind; only the round robin uses the quantum.
    pub fn new(scheduler: Scheduler, quantum: i64) -> Self {
        match scheduler {
            Scheduler::Drr => Self::RoundRobin(RoundRobin::new(quantum)),
            Scheduler::StartTime => Self::StartTime(StartTime::default()),
        }
    }

    /// Whether it is a round robin, which forgets a lane when it becomes empty.
    #[inline]
    pub fn is_turn(&self) -> bool {
        matches!(self, Self::RoundRobin(_))
    }

    /// Notes that the youngest packet of `lane` just arrived; `new` if it opened the lane.
    #[inline]
    pub fn arrive(&mut self, flows: &mut Flows, lane: u32, new: bool) {
        match self {
            Self::RoundRobin(turn) => {
                if new {
                    turn.join(flows, lane);
                }
            }
            Self::StartTime(tags) => {
                tags.arrive(flows, lane, new);
                if new {
                    tags.join(flows, lane);
                }
            }
        }
    }

    /// Notes that an overflow dropped a packet of `lane`.
    #[inline]
    pub fn dropped(&mut self, flows: &mut Flows, lane: u32) {
        match self {
            Self::RoundRobin(turn) => {
                if flows.packets(lane) == 0 {
                    turn.leave(flows, lane);
                    flows.close(lane);
                }
            }
            Self::StartTime(tags) => tags.dropped(flows, lane),
        }
    }

    /// The packet to serve next; `None` if nothing waits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn next(&mut self, flows: &mut Flows) -> Option<Packet> {
        match self {
            Self::RoundRobin(turn) => turn.next(flows),
            Self::StartTime(tags) => tags.next(flows),
        }
    }
}

/// A quantum in bytes, at least one.
pub(crate) fn quantum(amount: Amount, port: &Port) -> Result<i64, ParamError> {
    let bytes = port.bytes(amount);
    if (1.0..1e15).contains(&bytes) {
        Ok(bytes as i64)
    } else {
        Err(ParamError::new("quantum", "must be between a byte and a petabyte"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{Fates, Limit, Packet, Port, QueueDiscipline, Rule};
    use base::{Cause, Rate, Stream, Time};

    #[derive(Default)]
    pub struct Ledger {
        pub dropped: Vec<Packet>,
    }

    impl Fates for Ledger {
        fn dropped(&mut self, packet: &Packet, cause: Cause, _now: Time) {
            assert_eq!(cause, Cause::Overflow);
            self.dropped.push(*packet);
        }
        fn marked(&mut self, packet: &Packet, _cause: Cause, _now: Time) {
            unreachable!("{packet:?} is marked");
        }
    }

    pub fn chance() -> Stream {
        Stream::new(0, 0, ("link", 0), "queue")
    }

    /// A queue on a link whose packets have 1000 bytes.
    pub fn queue<Q: Rule>(params: &Q::Params, limit: Limit) -> Q {
        Q::new(params, &Port::new(limit, Rate(1_000_000), 1000.0), chance()).unwrap()
    }

    /// Offers numbered arrivals (flow, size) to a busy server; returns the packets dropped.
    pub fn offer(queue: &mut impl QueueDiscipline, arrivals: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut ledger = Ledger::default();
        for (token, &(flow, size)) in (0..).zip(arrivals) {
            queue.enqueue(Packet::new(flow, token, size, Time::ZERO), None, &mut ledger);
        }
        ledger.dropped.iter().map(|packet| (packet.flow, packet.token)).collect()
    }

    /// Serves the next `n` packets (flow, size), or all if there are fewer.
    pub fn serve(queue: &mut impl QueueDiscipline, n: usize) -> Vec<(u32, u32)> {
        let mut next = || queue.dequeue(Time::ZERO, &mut Ledger::default());
        (0..n).map_while(|_| next()).map(|packet| (packet.flow, packet.size)).collect()
    }
}
