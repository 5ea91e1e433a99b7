//! Links that share memory, in the window engine.
//!
//! Whether a packet finds room at one of these links depends on the packets that wait at all of them. So they are one
//! node of the network (`horizon`): when the arrivals of a window are known at each link, the arrivals of all links are
//! served in one order. The starts of service are known when packets are accepted, so a calendar of the waiting packets
//! gives the memory in use at each arrival.

use super::ring::Rec;
use super::shared::{ARRIVALS_BETWEEN_LOOKS, Shared};
use crate::marks::Marks;
use crate::plan::PoolPlan;
use crate::pool::PoolAccount;
use crate::{LinkOutcome, PoolOutcome};
use base::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Operations of a link on its place in a pool.
pub trait PlaceInPool {
    /// Whether there is room for a packet of `size` bytes to wait.
    fn has_room(&mut self, size: u32) -> bool;
    /// Adds a packet that arrives at `now` and waits until `start`.
    fn join(&mut self, now: Time, start: Time, size: u32);
}

/// The place of a link without a pool.
#[derive(Debug)]
pub struct NoPool;

impl PlaceInPool for NoPool {
    #[inline]
    fn has_room(&mut self, _size: u32) -> bool {
        true
    }

    #[inline]
    fn join(&mut self, _now: Time, _start: Time, _size: u32) {}
}

/// The place of one link in a pool.
#[derive(Debug)]
pub struct Place<'a> {
    pool: &'a mut Pool,
    place: usize,
}

impl PlaceInPool for Place<'_> {
    fn has_room(&mut self, size: u32) -> bool {
        let room = self.pool.account.has_room(self.place, size);
        if !room {
            self.pool.account.count_drop(self.place);
        }
        room
    }

    fn join(&mut self, now: Time, start: Time, size: u32) {
        let Pool { account, waiting, next, .. } = &mut *self.pool;
        let amount = account.memory.taken_by(size);
        account.set(self.place, account.held(self.place) + amount, now);
        let waiting = &mut waiting[self.place];
        if waiting.is_empty() {
            next.push(Reverse((start, self.place)));
        }
        waiting.push_back((start, amount));
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Pool {
    /// The links, in order.
    pub links: Vec<usize>,
    account: PoolAccount,
    /// For each place, the waiting packets, oldest first: start of service, and size.
    waiting: Vec<VecDeque<(Time, u64)>>,
    /// Next start of service at each link where a packet waits.
    next: BinaryHeap<Reverse<(Time, usize)>>,
    warm: bool,
    /// Arrivals of a window at all links, each with its place.
    arrivals: Vec<(Rec, usize)>,
}

impl Pool {
    pub fn new(plan: &PoolPlan) -> Self {
        Self {
            links: plan.links.iter().map(|&(link, _)| link as usize).collect(),
            account: PoolAccount::new(plan),
            waiting: vec![VecDeque::new(); plan.links.len()],
            next: BinaryHeap::new(),
            warm: false,
            arrivals: Vec::new(),
        }
    }

    /// Adds the arrivals of a window, which are in order, at the link of that place.
    pub fn add(&mut self, place: usize, arrivals: &[Rec]) {
        self.arrivals.extend(arrivals.iter().map(|rec| (*rec, place)));
    }

    /// Serves the added packets: calls `serve` with the link, record and place of each. Returns whether there were any.
    pub fn serve(
        &mut self,
        marks: &Marks,
        shared: &mut Shared,
        mut serve: impl FnMut(usize, &Rec, &mut Place<'_>, &mut Shared),
    ) -> bool {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        // A stable sort that is fast on sorted stretches; simultaneous packets are ordered by flow, then by link.
        arrivals.sort_by_key(|(rec, _)| (rec.time, rec.flow()));
        for (i, &(rec, place)) in arrivals.iter().enumerate() {
            if i % ARRIVALS_BETWEEN_LOOKS == ARRIVALS_BETWEEN_LOOKS - 1 && shared.monitor.is_stopped() {
                break;
            }
            self.pass_warmup(rec.time, marks);
            self.begin_until(rec.time);
            let link = self.links[place];
            serve(link, &rec, &mut Place { pool: self, place }, shared);
        }
        let any = !arrivals.is_empty();
        arrivals.clear();
        self.arrivals = arrivals;
        any
    }

    /// Removes the packets whose service begins at or before `now`.
    fn begin_until(&mut self, now: Time) {
        while let Some(&Reverse((start, place))) = self.next.peek()
            && start <= now
        {
            self.next.pop();
            let waiting = &mut self.waiting[place];
            let amount = waiting.pop_front().map_or(0, |(_, amount)| amount);
            if let Some(&(start, _)) = waiting.front() {
                self.next.push(Reverse((start, place)));
            }
            self.account.set(place, self.account.held(place) - amount, start);
        }
    }

    /// Ends the warm-up if it is due; it comes before any other event at its instant.
    fn pass_warmup(&mut self, now: Time, marks: &Marks) {
        if !self.warm && now >= marks.warmup {
            if let Some(before) = marks.warmup.0.checked_sub(1) {
                self.begin_until(Time(before));
            }
            self.account.warm(marks.warmup);
            self.warm = true;
        }
    }

    /// Ends the run and returns the result; `links` are all links of the network.
    pub fn finish(mut self, marks: &Marks, links: &mut [LinkOutcome]) -> PoolOutcome {
        let last = Time(marks.end.0 - 1);
        self.pass_warmup(last, marks);
        self.begin_until(last);
        self.account.finish(marks, links)
    }
}
