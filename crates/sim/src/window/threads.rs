//! Runs the flows of a window on several threads.
//!
//! Each thread takes chunks of neighbouring flows while there are any left, runs them ahead into a bucket of its own
//! and sorts it; then the buckets are merged. Links write served packets into an outbox of each chunk. A thread moves
//! the packets of the outbox into the rings of the chunk's flows before it runs these flows, so the thread that serves
//! links touches none of their rings. The assignment of chunks to threads has no effect on results: arrivals are
//! ordered by time and flow, and a flow runs on one thread.

use super::bucket::{Bucket, merge};
use super::chunk::{AtLink, Chunk, Ends};
use super::flow_table::FlowTable;
use super::headers::Headers;
use super::ring::{Rec, Ring};
use super::sender::AnySender;
use super::shared::Shared;
use crate::marks::Marks;
use crate::observer::Observer;
use crate::plan::FlowControl;
use base::{RunMonitor, Span, Time};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Mutex, PoisonError};

/// Chunks per thread. With more chunks, threads wait less for the last one, but each visit has a start-up cost.
const CHUNKS_PER_THREAD: usize = 8;

/// See the [module](self).
#[derive(Debug)]
pub struct Threads {
    pool: ThreadPool,
    /// Chunk i ends before flow `ends[i]`.
    ends: Vec<usize>,
    /// The first outbox. Outboxes come after all other rings: two for each chunk, one to senders and one to receivers.
    first_outbox: usize,
    /// One bucket for each thread, and a last one for the arrivals that sessions send.
    buckets: Vec<Bucket>,
    /// Result of the merge, and buffer for the step before it.
    merged: [Vec<Rec>; 2],
    /// For each redirected link, its routes before the outboxes replaced them.
    routes: Vec<(usize, Vec<u32>)>,
}

/// Chunks that no thread has taken yet. Threads take them from both ends, so that a thread mostly gets the same chunks
/// as in the last window, whose data is still in its cache.
struct Jobs<'a, O, C>(Mutex<std::vec::IntoIter<Job<'a, O, C>>>);

struct Job<'a, O, C> {
    chunk: Chunk<'a, O, C>,
    outboxes: &'a mut [Ring],
    at_link: AtLink<'a>,
}

impl<'a, O, C> Jobs<'a, O, C> {
    fn take(&self, thread: usize) -> Option<Job<'a, O, C>> {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_multiple_of(2) { jobs.next() } else { jobs.next_back() }
    }
}

impl Threads {
    /// Starts `threads` threads and divides `flows`, which are in order, into `chunks` chunks (0: a number that suits the
    /// threads). `None` if the system provides no threads.
    pub fn new(threads: usize, chunks: usize, flows: &[u32]) -> Option<Self> {
        let pool = ThreadPoolBuilder::new().num_threads((threads - 1).max(1)).build().ok()?;
        let chunks = if chunks > 0 { chunks } else { CHUNKS_PER_THREAD * threads };
        let mut ends: Vec<usize> =
            (1..chunks).filter_map(|i| flows.get(i * flows.len() / chunks)).map(|&f| f as usize).collect();
        ends.dedup();
        // Flows behind the last boundary belong to the last chunk.
        ends.push(usize::MAX);
        Some(Self {
            pool,
            ends,
            first_outbox: 0,
            buckets: (0..=threads).map(|_| Bucket::default()).collect(),
            merged: Default::default(),
            routes: Vec::new(),
        })
    }

    /// Redirects the packets that links send to `flows` into the outboxes.
    pub fn redirect<'a>(
        &mut self,
        tables: impl Iterator<Item = (usize, &'a mut FlowTable)>,
        flows: &[u32],
        n: usize,
        shared: &mut Shared,
    ) {
        self.first_outbox = shared.rings.len();
        let rings = self.first_outbox + 2 * self.ends.len();
        shared.rings.resize_with(rings, || Ring::new(Span::ZERO));
        shared.due.resize(rings, Time::NEVER);
        shared.delay_to_link.resize(rings, Span::ZERO);
        for (link, table) in tables {
            let routes = table.routes.clone();
            for route in table.routes.iter_mut().filter(|route| (**route as usize) < n + shared.receivers) {
                let (flow, to_receiver) = (*route as usize % n, *route as usize / n);
                if flows.binary_search(&(flow as u32)).is_ok() {
                    let chunk = self.ends.partition_point(|&end| end <= flow);
                    *route = (self.first_outbox + 2 * chunk + to_receiver) as u32;
                }
            }
            self.routes.push((link, routes));
        }
    }

    /// Empties the outboxes and returns the original routes.
    pub fn leave<O: Observer, C: FlowControl>(
        self,
        flows: &mut [AnySender<O, C>],
        shared: &mut Shared,
    ) -> Vec<(usize, Vec<u32>)> {
        let mut outboxes = shared.rings.split_off(self.first_outbox);
        shared.due.truncate(self.first_outbox);
        shared.delay_to_link.truncate(self.first_outbox);
        let (mut all, _) = Chunk::all(flows, shared);
        for both in outboxes.chunks_mut(2) {
            all.take_in(both);
        }
        self.routes
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.buckets.len() - 1
    }

    /// Begins a window [start, end).
    pub fn begin(&mut self, start: Time, end: Time) {
        for bucket in &mut self.buckets {
            bucket.begin(start, end);
        }
    }

    /// Bucket for the arrivals that sessions send.
    pub fn of_sessions(&mut self) -> &mut Bucket {
        self.buckets.last_mut().expect("one more than threads")
    }

    /// Whether there are no arrivals. Arrivals from flows are sorted by now; those from sessions are not yet.
    pub fn is_empty(&self) -> bool {
        let (of_sessions, of_flows) = self.buckets.split_last().expect("one more than threads");
        of_sessions.is_empty() && of_flows.iter().all(|bucket| bucket.is_empty() && bucket.in_order().is_empty())
    }

    /// Runs all flows at one link with [`Chunk::run`].
    pub fn run<O: Observer, C: FlowControl>(
        &mut self,
        flows: &mut [AnySender<O, C>],
        shared: &mut Shared,
        mut at_link: AtLink<'_>,
        ends: Ends,
        marks: &Marks,
        monitor: &RunMonitor,
    ) {
        let mut outboxes = shared.rings.split_off(self.first_outbox);
        let n = flows.len();
        let (mut rest, _) = Chunk::all(flows, shared);
        let mut jobs = Vec::with_capacity(self.ends.len());
        for (&end, outboxes) in self.ends.iter().zip(outboxes.chunks_mut(2)) {
            let (chunk, more) = rest.split(end.min(n));
            let (here, later) = at_link.split(end);
            (rest, at_link) = (more, later);
            jobs.push(Job { chunk, outboxes, at_link: here });
        }
        let jobs = Jobs(Mutex::new(jobs.into_iter()));
        let work = |thread: usize, bucket: &mut Bucket, is_stopped: &dyn Fn() -> bool| {
            // No flow here has headers.
            let mut headers = Headers::default();
            while !is_stopped()
                && let Some(Job { mut chunk, outboxes, at_link }) = jobs.take(thread)
            {
                chunk.take_in(outboxes);
                chunk.run(at_link, ends, bucket, &mut headers, marks, is_stopped);
            }
            bucket.sort(false);
        };
        let count = self.count();
        let (first, others) = self.buckets[..count].split_first_mut().expect("one for this thread");
        self.pool.in_place_scope(|scope| {
            for (i, bucket) in others.iter_mut().enumerate() {
                let work = &work;
                scope.spawn(move |_| work(i + 1, bucket, &|| monitor.was_stopped()));
            }
            work(0, first, &|| monitor.is_stopped());
        });
        shared.rings.append(&mut outboxes);
    }

    /// All arrivals in order: those in `bucket`, which come from other links, and those of all threads.
    pub fn sort<'a>(&'a mut self, bucket: &'a mut Bucket) -> &'a [Rec] {
        bucket.sort(false);
        self.of_sessions().sort(false);
        let lists = std::iter::once(&*bucket).chain(&self.buckets).map(Bucket::in_order);
        merge(lists.filter(|list| !list.is_empty()).collect(), &mut self.merged)
    }
}
