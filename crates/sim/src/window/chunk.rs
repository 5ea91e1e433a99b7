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

/// Number of flows that a thread runs between two checks of the monitor. A single flow may take long: thousands of
/// samples after a pause, or a whole congestion window.
pub const FLOWS_BETWEEN_LOOKS: usize = 256;

/// See the [module](self). All lists are indexed by flow number minus `first`.
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

/// The flows that feed one link: those whose data enters the network there, and those whose ACKs enter there.
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
        // The lists of receivers may be empty.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::NoObserver;
    use crate::plan::FlowPlan;
    use crate::window::ring::tag;
    use crate::window::source::Source;
    use base::{Flags, PacketNumber};
    use law::Control;

    type Sender = AnySender<NoObserver, Control>;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// Sources of a packet each millisecond, 4 ms from their link, and rings of 1 ms without readers that are due.
    fn sources(count: u32) -> (Vec<Sender>, Shared, Marks) {
        let text = format!(
            "duration = \"1 s\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"unlimited\"\n[[flows]]\n\
             count = {count}\npath = [\"l\"]\nrtt = \"8 ms\"\npacket = \"1000 B\"\ntraffic = {{ kind = \"cbr\", rate = \"8 Mbit/s\" }}\n"
        );
        let network = crate::build::network_of(&text);
        let source = |(id, plan)| match plan {
            FlowPlan::Datagrams(plan) => Sender::Datagrams(Source::new(plan, id, &network.marks)),
            other @ FlowPlan::Tcp(..) => panic!("{other:?}"),
        };
        let n = count as usize;
        let shared = Shared {
            rings: vec![Ring::new(Span::millis(1)); n],
            due: vec![Time::NEVER; n],
            delay_to_link: vec![Span::millis(4); n],
            ..Shared::default()
        };
        ((0..).zip(network.flows).map(source).collect(), shared, network.marks)
    }

    fn rec(flow: u32, number: u32, at: u64) -> Rec {
        Rec { time: ms(at), tag: tag(flow, PacketNumber(number), Flags::NONE) }
    }

    #[test]
    fn flows_at_a_link_are_split_by_their_numbers() {
        let (below, above) = AtLink { senders: &[0, 3, 4, 9], receivers: &[4, 5] }.split(4);
        assert_eq!((below.senders, above.senders), (&[0, 3][..], &[4, 9][..]));
        assert_eq!((below.receivers, above.receivers), (&[][..], &[4, 5][..]));
    }

    #[test]
    fn packets_go_into_the_rings_of_their_flows_and_wake_the_readers_of_empty_rings() {
        let (mut flows, mut shared, _) = sources(4);
        {
            let (first, mut second) = Chunk::all(&mut flows, &mut shared).0.split(2);
            assert_eq!((first.first, first.flows.len(), second.first, second.flows.len()), (0, 2, 2, 2));
            let mut outboxes = [Ring::default(), Ring::default()];
            for rec in [rec(3, 1, 10), rec(2, 1, 11), rec(3, 2, 12)] {
                outboxes[0].push(rec);
            }
            second.take_in(&mut outboxes);
            assert!(outboxes[0].is_empty(), "all packets were taken");
        }
        // The first packet of each ring counts: 1 ms in the ring, and 4 ms to the link.
        assert_eq!(shared.due, [Time::NEVER, Time::NEVER, ms(16), ms(15)]);
        assert_eq!(shared.rings[3].all(), [rec(3, 1, 11), rec(3, 2, 13)]);
        // A further packet does not change the time of a reader that is already due.
        let mut outboxes = [Ring::default(), Ring::default()];
        outboxes[0].push(rec(3, 3, 1));
        Chunk::all(&mut flows, &mut shared).0.take_in(&mut outboxes);
        assert_eq!(shared.due[3], ms(15));
    }

    #[test]
    fn a_window_runs_the_flows_of_the_link_that_are_due_before_its_end() {
        let (mut flows, mut shared, marks) = sources(3);
        (shared.due[0], shared.due[1], shared.due[2]) = (ms(4), ms(4), ms(14));
        let (mut bucket, ends) = (Bucket::default(), Ends { stop: ms(14), until: ms(14) });
        bucket.begin(ms(0), ms(14));
        let (mut all, headers) = Chunk::all(&mut flows, &mut shared);
        let at = AtLink { senders: &[1, 2], receivers: &[] };
        all.run(at, ends, &mut bucket, headers, &marks, || false);
        // Flow 0 is not at this link, and flow 2 is due when the window ends.
        let flows: Vec<u32> = bucket.sort(true).iter().map(Rec::flow).collect();
        assert_eq!(flows, [1; 10], "flow 1 sends from 4 to 13 ms");
        assert_eq!(shared.due, [ms(4), ms(14), ms(14)]);
    }

    #[test]
    fn a_window_that_is_stopped_leaves_flows_due() {
        let count = 2 * FLOWS_BETWEEN_LOOKS;
        let (mut flows, mut shared, marks) = sources(count as u32);
        shared.due.fill(ms(4));
        let (mut bucket, ends) = (Bucket::default(), Ends { stop: ms(5), until: ms(5) });
        bucket.begin(ms(0), ms(5));
        let senders: Vec<u32> = (0..count as u32).collect();
        let (mut all, headers) = Chunk::all(&mut flows, &mut shared);
        all.run(AtLink { senders: &senders, receivers: &[] }, ends, &mut bucket, headers, &marks, || true);
        let ran = shared.due.iter().filter(|due| **due > ms(4)).count();
        assert_eq!(ran, FLOWS_BETWEEN_LOOKS - 1, "the monitor is checked before the last flow");
    }
}
