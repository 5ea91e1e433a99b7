//! Consecutive flows with their rings and all other state that only they touch: a thread needs this to run them ahead.

use super::bucket::{Bucket, Window};
use super::headers::Headers;
use super::ring::{Rec, Ring};
use super::sender::AnySender;
use super::shared::Shared;
use crate::Trace;
use crate::marks::Marks;
use crate::observer::Observer;
use crate::plan::FlowControl;
use base::steps::count_steps;
use base::{Span, Time};

/// Flows with something to do that run in a window until the monitor is looked at again: one of them may have thousands of samples
/// to take after a pause, or sends a whole window.
pub const FLOWS_BETWEEN_LOOKS: usize = 256;

/// See the [module](self). Everything is by flow, and begins with that of the number `first`.
#[derive(Debug)]
pub struct Chunk<'a, O, C> {
    first: usize,
    flows: &'a mut [AnySender<O, C>],
    senders: Readers<'a>,
    receivers: Readers<'a>,
    /// Trace of each flow; empty if none is recorded.
    traces: &'a mut [Option<Box<Trace>>],
}

/// Rings, the times at which their readers have something to do, and how long before that they must act.
#[derive(Debug)]
struct Readers<'a> {
    rings: &'a mut [Ring],
    due: &'a mut [Time],
    delay_to_link: &'a [Span],
}

/// Flows with something to do at one link: those that send into it, and those whose ACKs enter it.
#[derive(Clone, Copy, Debug)]
pub struct AtLink<'a> {
    pub senders: &'a [u32],
    pub receivers: &'a [u32],
}

impl AtLink<'_> {
    /// Splits the lists into numbers below `end`, and the others.
    pub fn split(self, end: usize) -> (Self, Self) {
        let cut = |list: &'_ [u32]| list.partition_point(|&f| (f as usize) < end);
        let (senders, more_senders) = self.senders.split_at(cut(self.senders));
        let (receivers, more_receivers) = self.receivers.split_at(cut(self.receivers));
        (Self { senders, receivers }, Self { senders: more_senders, receivers: more_receivers })
    }
}

/// Ends of one window.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// End for senders, as arrivals at their link.
    pub stop: Time,
    /// End for receivers, at most the end of the run.
    pub until: Time,
}

impl Readers<'_> {
    fn split(self, count: usize) -> (Self, Self) {
        // There may be none.
        let count = count.min(self.rings.len());
        let (rings, more_rings) = self.rings.split_at_mut(count);
        let (due, more_due) = self.due.split_at_mut(count);
        let (delay_to_link, more_delays) = self.delay_to_link.split_at(count);
        (Self { rings, due, delay_to_link }, Self { rings: more_rings, due: more_due, delay_to_link: more_delays })
    }

    /// Takes in the packets that left a link, like [`Shared::push`].
    fn take_in(&mut self, first: usize, outbox: &mut Ring) {
        for rec in outbox.all() {
            let i = rec.flow() as usize - first;
            let ring = &mut self.rings[i];
            let time = rec.time + ring.delay;
            if ring.is_empty() {
                self.due[i] = self.due[i].min(time + self.delay_to_link[i]);
            }
            ring.push(Rec { time, tag: rec.tag });
        }
        outbox.consume(outbox.len());
    }
}

impl<'a, O: Observer, C: FlowControl> Chunk<'a, O, C> {
    /// All flows, and the headers of their packets.
    pub fn all(flows: &'a mut [AnySender<O, C>], shared: &'a mut Shared) -> (Self, &'a mut Headers) {
        let n = flows.len();
        let own = n + shared.receivers;
        let (ring, receiver_rings) = shared.rings[..own].split_at_mut(n);
        let (due, receiver_due) = shared.due[..own].split_at_mut(n);
        let (delay_to_link, receiver_delays) = shared.delay_to_link[..own].split_at(n);
        let all = Self {
            first: 0,
            flows,
            senders: Readers { rings: ring, due, delay_to_link },
            receivers: Readers { rings: receiver_rings, due: receiver_due, delay_to_link: receiver_delays },
            traces: &mut shared.traces,
        };
        (all, &mut shared.headers)
    }

    /// Splits the flows into those numbered below `end`, and the others.
    pub fn split(self, end: usize) -> (Self, Self) {
        let count = end - self.first;
        let (flows, more_flows) = self.flows.split_at_mut(count);
        let (senders, more_senders) = self.senders.split(count);
        let (receivers, more_receivers) = self.receivers.split(count);
        let (traces, more_traces) = self.traces.split_at_mut(count.min(self.traces.len()));
        (
            Self { flows, senders, receivers, traces, ..self },
            Self {
                first: end,
                flows: more_flows,
                senders: more_senders,
                receivers: more_receivers,
                traces: more_traces,
            },
        )
    }

    /// Runs sender `f` alone, up to the horizon of `window`.
    pub fn settle(self, f: usize, window: Window<'_>, bucket: &mut Bucket, headers: &mut Headers, marks: &Marks) {
        let f = f - self.first;
        if let AnySender::Tcp(flow) = &mut self.flows[f] {
            let mut untraced = None;
            let (ring, trace) = (&mut self.senders.rings[f], self.traces.get_mut(f).unwrap_or(&mut untraced));
            self.senders.due[f] = flow.run(ring, bucket, headers, window, marks, trace);
            flow.pass_marks_before(window.horizon, marks);
        }
    }

    /// Takes in the packets that links sent to the senders and receivers of these flows.
    pub fn take_in(&mut self, outboxes: &mut [Ring]) {
        for (readers, outbox) in [&mut self.senders, &mut self.receivers].into_iter().zip(outboxes) {
            readers.take_in(self.first, outbox);
        }
    }

    /// Runs the flows at one link up to the ends of a window; arrivals go into `bucket`. Stops early when `is_stopped` says so.
    #[inline]
    pub fn run(
        &mut self,
        AtLink { senders, receivers }: AtLink<'_>,
        ends: Ends,
        bucket: &mut Bucket,
        headers: &mut Headers,
        marks: &Marks,
        is_stopped: impl Fn() -> bool,
    ) {
        let (Ends { stop, until }, mut untraced, mut ran) = (ends, None, 0);
        count_steps(receivers.len() + senders.len());
        for &f in receivers {
            let f = f as usize - self.first;
            if self.receivers.due[f] < until
                && let AnySender::Tcp(flow) = &mut self.flows[f]
            {
                let ring = &mut self.receivers.rings[f];
                self.receivers.due[f] = flow.run_receiver(ring, bucket, headers, until, marks);
            }
        }
        for &f in senders {
            let f = f as usize - self.first;
            if self.senders.due[f] < stop {
                ran += 1;
                if ran % FLOWS_BETWEEN_LOOKS == 0 && is_stopped() {
                    return;
                }
                let horizon = stop.saturating_sub(self.senders.delay_to_link[f]).min(marks.end);
                let window = Window { horizon, until, is_stopped: &is_stopped };
                let (ring, trace) = (&mut self.senders.rings[f], self.traces.get_mut(f).unwrap_or(&mut untraced));
                self.senders.due[f] = match &mut self.flows[f] {
                    AnySender::Tcp(flow) => flow.run(ring, bucket, headers, window, marks, trace),
                    AnySender::Datagrams(source) => source.run(ring, bucket, window, marks),
                };
            }
        }
    }
}
