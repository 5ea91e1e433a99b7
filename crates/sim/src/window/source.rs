//! A source of datagrams in the window engine: it emits every packet before its horizon and counts the deliveries.
//!
//! There are no ACKs, so a source depends on no link, and its horizon is the end of the window. Deliveries are counted
//! when the flow is visited next, each with its own time.

use super::access_path::AccessPath;
use super::bucket::{Bucket, Window};
use super::results::FlowResult;
use super::ring::Ring;
use crate::marks::Marks;
use crate::meter::{FlowMeter, Tally};
use crate::observer::Observer;
use crate::plan::SourcePlan;
use crate::results::FinalTally;
use base::{Flags, PacketNumber, Time};
use traffic::ArrivalProcess;
use transport::Counters;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Source<O> {
    plan: Box<SourcePlan>,
    access: AccessPath,
    /// Time of the next packet.
    next: Time,
    /// Packets sent, and the number of them that were sent before the end of the warm-up.
    sent: u64,
    sent_before: u64,
    delivered: u64,
    delivered_before: u64,
    /// Packets that arrive after the end of the run.
    late: u64,
    /// Bytes delivered since the warm-up; `None` if all packets have the same size.
    bytes: Option<u64>,
    observer: O,
}

impl<O: Observer> Source<O> {
    pub fn new(mut plan: Box<SourcePlan>, id: u32, marks: &Marks) -> Self {
        plan.party.path = Vec::new();
        let access = AccessPath::new(&mut plan.party, id, None, marks);
        let next = plan.party.start + plan.source.next_gap();
        Self {
            access,
            next,
            sent: 0,
            sent_before: 0,
            delivered: 0,
            delivered_before: 0,
            late: 0,
            bytes: plan.sizes.map(|_| 0),
            observer: O::new(plan.first, None),
            plan,
        }
    }

    /// Mean time between arrivals at the first link while the source sends at its highest rate, in picoseconds.
    pub fn mean_gap(&self) -> f64 {
        self.plan.mean_gap.max(self.plan.party.access.0 as f64)
    }

    /// Emits all packets before `horizon`; arrivals before `until` go into `bucket`. Returns the time of the source's next
    /// event, as an arrival time at the link.
    pub fn run(&mut self, ring: &mut Ring, bucket: &mut Bucket, window: Window<'_>, marks: &Marks) -> Time {
        let Window { horizon, until, .. } = window;
        self.access.release(bucket, until);
        self.deliver(ring, marks);
        let last = horizon.min(self.plan.party.stop);
        while self.next < last {
            let number = PacketNumber::of(self.plan.first + self.sent);
            self.access.send(self.next, number, Flags::NONE, bucket, until);
            self.sent += 1;
            self.sent_before += u64::from(self.next < marks.warmup);
            self.next += self.plan.source.next_gap();
        }
        let next = if self.next < self.plan.party.stop { self.next } else { Time::NEVER };
        next.saturating_add(self.plan.party.first_link_delay).min(self.access.due())
    }

    /// Counts the packets in `ring` by arrival: before the end of the run, or late; empties the ring.
    fn deliver(&mut self, ring: &mut Ring, marks: &Marks) {
        let all = ring.all();
        let n = all.partition_point(|rec| rec.time < marks.end);
        if O::ACTIVE {
            for rec in &all[..n] {
                self.observer.on_delivery(rec.time, rec.number());
            }
        }
        if let Some(bytes) = &mut self.bytes {
            let counted = all[..n].iter().filter(|rec| rec.time >= marks.warmup);
            *bytes += counted.map(|rec| u64::from(self.plan.size_of(rec.number()))).sum::<u64>();
        }
        if let Some(delays) = &mut self.plan.delays {
            for rec in &all[..n] {
                delays.on_delivery(rec.time, rec.number(), marks);
            }
        }
        self.delivered += n as u64;
        if all.first().is_some_and(|rec| rec.time < marks.warmup) {
            self.delivered_before += all[..n].partition_point(|rec| rec.time < marks.warmup) as u64;
        }
        // Packets that arrive after the end of the run are counted as late and discarded now. Kept, they would take memory:
        // on a link with a long delay they can be all packets of a minute.
        self.late += (all.len() - n) as u64;
        ring.consume(all.len());
        ring.tidy();
    }

    /// Ends the run and returns the result. Packets that arrive after the end, and packets not yet on the link, are in
    /// flight.
    pub fn finish(mut self, ring: &mut Ring, marks: &Marks, dropped: u64) -> FlowResult {
        self.deliver(ring, marks);
        let mut meter = FlowMeter::default();
        let sent = |sent: u64| Counters { sent, ..Counters::default() };
        meter.sender_warm(sent(self.sent_before), None);
        meter.receiver_warm(self.delivered_before);
        FlowResult {
            in_flight: self.access.in_flight() + self.late,
            sent: self.sent,
            delivered: self.delivered,
            access_drops: self.access.drops().since_start,
            hash: self.observer.finish().0,
            tally: FinalTally {
                flow: self.plan.party.flow,
                open: None,
                writes: None,
                fault: None,
                tally: Tally {
                    meter,
                    bytes: self.bytes,
                    counters: sent(self.sent),
                    spurious: None,
                    delivered: self.delivered,
                    dropped: dropped + self.access.drops().since_warmup,
                    delays: self.plan.delays.map(|delays| Box::new(delays.finish(marks))),
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::NoObserver;
    use crate::plan::FlowPlan;
    use base::Span;

    /// A source of one 1000-byte packet per millisecond from 0 to 100 ms; 4 ms to the first link.
    fn source() -> (Source<NoObserver>, Marks) {
        let text = "duration = \"1 s\"\nwarmup = \"20 ms\"\n[[links]]\nname = \"l\"\nrate = \"1 Gbit/s\"\nbuffer = \"unlimited\"\n\
                    [[flows]]\npath = [\"l\"]\nrtt = \"8 ms\"\npacket = \"1000 B\"\nstop = \"100 ms\"\n\
                    traffic = { kind = \"cbr\", rate = \"8 Mbit/s\" }\n";
        let network = crate::build::network_of(text);
        match network.flows.into_iter().next() {
            Some(FlowPlan::Datagrams(plan)) => (Source::new(plan, 0, &network.marks), network.marks),
            other => panic!("{other:?}"),
        }
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    #[test]
    fn sends_up_to_the_horizon_and_returns_when_the_next_packet_reaches_the_link() {
        let ((mut source, marks), mut ring, mut bucket) = (source(), Ring::default(), Bucket::default());
        bucket.begin(ms(0), ms(14));
        let window = Window { horizon: ms(10), until: ms(14), is_stopped: &|| false };
        let due = source.run(&mut ring, &mut bucket, window, &marks);
        let arrivals: Vec<Time> = bucket.sort(true).iter().map(|rec| rec.time).collect();
        assert_eq!((arrivals, due), ((4..14).map(ms).collect(), ms(14)));
        // No packet is sent at or after the stop.
        bucket.begin(ms(14), ms(500));
        let due = source.run(
            &mut ring,
            &mut bucket,
            Window { horizon: ms(500), until: ms(500), is_stopped: &|| false },
            &marks,
        );
        assert_eq!((bucket.sort(true).len(), due), (90, Time::NEVER));
    }

    #[test]
    fn counts_packets_sent_and_delivered_before_the_end_of_the_warm_up_and_of_the_run() {
        let ((mut source, marks), mut ring, mut bucket) = (source(), Ring::default(), Bucket::default());
        bucket.begin(ms(0), ms(500));
        source.run(&mut ring, &mut bucket, Window { horizon: ms(500), until: ms(500), is_stopped: &|| false }, &marks);
        for (number, time) in [(0, ms(19)), (1, ms(20)), (2, ms(999)), (3, ms(1000))] {
            ring.push(crate::window::ring::Rec {
                time,
                tag: crate::window::ring::tag(0, PacketNumber(number), Flags::NONE),
            });
        }
        assert_eq!((source.sent, source.sent_before), (100, 20));
        source.deliver(&mut ring, &marks);
        assert_eq!((source.delivered, source.delivered_before, source.late, ring.len()), (3, 1, 1, 0));
    }
}
