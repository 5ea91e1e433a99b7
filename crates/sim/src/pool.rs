//! Account of a pool for both engines: the memory that each link holds, now and on average.

use crate::marks::Marks;
use crate::plan::PoolPlan;
use crate::{LinkOutcome, PoolOutcome, PoolShare};
use base::Time;
use queue::SharedMemory;

/// See the [module](self). Amounts are in packets or bytes, like the pool's size.
#[derive(Clone, Debug)]
pub struct PoolAccount {
    pub memory: SharedMemory,
    used: Holding,
    links: Vec<Member>,
}

/// A link of the pool.
#[derive(Clone, Copy, Debug)]
struct Member {
    link: u32,
    alpha: f64,
    held: Holding,
    /// Packets that found no room here since the end of the warm-up.
    dropped: u64,
}

/// Occupancy and its integral over time.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    now: u64,
    most: u64,
    since: Time,
    /// Amount times picoseconds, from the end of the warm-up on.
    integral: u128,
}

impl Holding {
    fn set(&mut self, amount: u64, now: Time) {
        self.integral += u128::from(self.now) * u128::from((now - self.since).0);
        (self.now, self.since) = (amount, now);
        self.most = self.most.max(amount);
    }

    /// Starts measuring at `now`.
    fn begin(&mut self, now: Time) {
        *self = Self { now: self.now, most: self.now, since: now, integral: 0 };
    }

    /// The time average until the end.
    fn mean(mut self, marks: &Marks) -> f64 {
        self.set(self.now, marks.end);
        self.integral as f64 / (marks.end - marks.warmup).0 as f64
    }
}

impl PoolAccount {
    pub fn new(plan: &PoolPlan) -> Self {
        let member = |&(link, alpha): &(u32, f64)| Member { link, alpha, held: Holding::default(), dropped: 0 };
        Self { memory: plan.memory, used: Holding::default(), links: plan.links.iter().map(member).collect() }
    }

    /// Whether a packet of `size` bytes may wait at the pool's link number `place`.
    #[inline]
    pub fn has_room(&self, place: usize, size: u32) -> bool {
        let Member { alpha, held, .. } = &self.links[place];
        self.memory.has_room(size, held.now, self.used.now, *alpha)
    }

    /// Counts a packet that was dropped at the pool's link number `place` for lack of memory.
    pub fn count_drop(&mut self, place: usize) {
        self.links[place].dropped += 1;
    }

    /// Memory that the pool's link number `place` holds.
    pub fn held(&self, place: usize) -> u64 {
        self.links[place].held.now
    }

    /// Records that the pool's link number `place` holds `amount` from `now` on.
    pub fn set(&mut self, place: usize, amount: u64, now: Time) {
        let held = &mut self.links[place].held;
        let before = held.now;
        if amount != before {
            held.set(amount, now);
            self.used.set(self.used.now - before + amount, now);
        }
    }

    /// Ends the warm-up, before any other event at this instant.
    pub fn warm(&mut self, now: Time) {
        self.used.begin(now);
        for member in &mut self.links {
            member.held.begin(now);
            member.dropped = 0;
        }
    }

    /// Ends the run and returns the result; `links` are all links of the network.
    pub fn finish(self, marks: &Marks, links: &mut [LinkOutcome]) -> PoolOutcome {
        for Member { link, held, dropped, .. } in self.links {
            links[link as usize].pool = Some(PoolShare { held_mean: held.mean(marks), held_max: held.most, dropped });
        }
        PoolOutcome { used_mean: self.used.mean(marks), used_max: self.used.most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::{MemorySize, Sharing};

    #[test]
    fn mean_holdings_are_taken_over_the_time_from_the_warm_up() {
        let memory = SharedMemory::new(MemorySize::Packets(10), Sharing::Complete, 2);
        let mut account = PoolAccount::new(&PoolPlan { memory, links: vec![(1, 1.0), (0, 1.0)] });
        let marks = Marks { warmup: Time(100), end: Time(200), every: None };
        account.set(0, 9, Time(10));
        account.count_drop(0);
        account.set(0, 3, Time(90));
        account.warm(Time(100));
        account.set(1, 5, Time(120));
        account.set(1, 1, Time(140));
        account.count_drop(1);
        account.set(0, 0, Time(150));
        let mut links = [LinkOutcome::default(), LinkOutcome::default()];
        let outcome = account.finish(&marks, &mut links);
        // One link holds 3 for 50 of 100 units of time; the other holds 5 for 20, then 1 for 60.
        let share = |held_mean, held_max, dropped| Some(PoolShare { held_mean, held_max, dropped });
        assert_eq!(links.map(|link| link.pool), [share(1.6, 5, 1), share(1.5, 3, 0)]);
        assert_eq!((outcome.used_mean, outcome.used_max), (3.1, 8));
    }
}
