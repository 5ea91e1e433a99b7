//! A link of the window engine: serves the sorted arrivals of a window and hands each packet on. What links of all kinds
//! share; how they serve is in `fifo` and in `local`.

use super::fifo::Fifo;
use super::headers::Headers;
use super::local::Local;
use super::ring::{Rec, Ring};
use crate::hash::Rolling;
use crate::meter::LinkTotals;
use crate::network::Marks;
use crate::probe::{Probe, Standing};
use crate::{Trace, cause_index};
use base::{Bytes, Cause, Rate, Stream, Time};
use queue::{AnyQueue, Limit, Packet};
use scenario::{HEADER, Loss};
use traffic::PacketSizes;

/// An instant after every run: what an unlimited queue could not serve before it need not be told apart.
pub const FAR: u64 = 1 << 62;

/// What links write into besides their own state.
#[derive(Debug, Default)]
pub struct Shared {
    /// Senders' rings by flow, then receivers' by flow, then one per pair of links in series.
    pub rings: Vec<Ring>,
    /// For each ring: when its reader next has something to do, in the time of the link that the reader feeds.
    pub due: Vec<u64>,
    /// For each ring: what its reader's events take to reach that link.
    pub lead: Vec<u64>,
    /// Data packets dropped since the warm-up, by flow.
    pub dropped: Vec<u64>,
    /// Data packets dropped since the start.
    pub dropped_total: u64,
    /// Headers on their way, of the flows that need them.
    pub headers: Headers,
    /// Traces, by flow where there is one.
    pub traces: Vec<Option<Box<Trace>>>,
}

impl Shared {
    /// A packet left a link at `left` and goes on through ring `i`.
    #[inline]
    pub fn push(&mut self, i: u32, left: u64, tag: u64) {
        let i = i as usize;
        let ring = &mut self.rings[i];
        let time = left + ring.delay;
        let asleep = ring.is_empty();
        ring.push(Rec { time, tag });
        if asleep {
            self.wake(i, time);
        }
    }

    /// Ring `i` was empty until `time`.
    #[cold]
    fn wake(&mut self, i: usize, time: u64) {
        self.due[i] = self.due[i].min(time + self.lead[i]);
    }
}

/// See the [module](self).
#[derive(Debug)]
pub struct Node {
    index: u32,
    pub service: Service,
    /// When what is in service, or was last, leaves.
    pub free: u64,
    pub server: Server,
    pub loss: Option<(Loss, Stream)>,
    /// By flow, from `first` on: the ring that hears of its packets next.
    pub routes: Vec<u32>,
    pub first: u32,
    /// As the routes: the lane in which headers of its packets come; empty on a link without headers.
    pub lanes: Vec<u32>,
    pub most_seen: u32,
    /// Start of the last accepted packet, for the time with someone waiting.
    pub last_start: u64,
    pub totals: LinkTotals,
    pub warm: LinkTotals,
    next_sample: Time,
    /// The earliest of warm-up, next sample and a rule's timer.
    pub next_mark: Time,
    pub probe: Probe,
    pub hash: Rolling,
}

/// Who decides what is served, and when.
#[derive(Debug)]
pub enum Server {
    /// First-in first-out behind a rule.
    Fifo(Box<Fifo>),
    /// A discipline.
    Local(Box<Local>),
    /// The one or the other, while it is serving.
    Away,
}

/// How long packets take on the wire.
#[derive(Debug)]
pub enum Service {
    /// All the same: size and time.
    One(u32, u64),
    /// By flow, as the routes: size of the packets that it sends here, and time; [`DRAWN`] for sizes drawn one by one, of
    /// which this is the mean.
    Each(Vec<(u32, u64)>, Option<Box<Drawn>>),
}

/// No packet takes no time.
pub const DRAWN: u64 = 0;

/// Sizes that are drawn packet by packet, on a link that such flows cross. Out of the way: other links should not pay.
#[derive(Debug)]
pub struct Drawn {
    pub rate: Rate,
    /// By flow, as the routes.
    pub sizes: Vec<Option<PacketSizes>>,
}

impl Drawn {
    fn time_of(&self, size: u32) -> u64 {
        self.rate.serialize(Bytes(u64::from(size))).0
    }
}

impl Service {
    /// Size of packet `seq` of the flow at `place` in the table, which is drawn, and time on the wire.
    #[cold]
    #[inline(never)]
    fn draw(&self, place: usize, seq: u32) -> (u32, u64) {
        let Self::Each(_, Some(drawn)) = self else { return (0, DRAWN) };
        let size = drawn.sizes[place].map_or(0, |sizes| sizes.of(seq));
        (size, drawn.time_of(size))
    }

    /// Time on the wire of a packet that was drawn.
    #[cold]
    #[inline(never)]
    fn drawn(&self, size: u32) -> u64 {
        if let Self::Each(_, Some(drawn)) = self { drawn.time_of(size) } else { DRAWN }
    }
}

impl Node {
    pub fn new(
        index: u32,
        service: Service,
        (queue, limit): (AnyQueue, Limit),
        loss: Option<(Loss, Stream)>,
        (first, routes, lanes): (u32, Vec<u32>, Vec<u32>),
        marks: &Marks,
        probe: Probe,
    ) -> Self {
        let (server, timer) = match queue {
            AnyQueue::Fifo(fifo) => {
                let fifo = Fifo::new(fifo.into_admission(), &service, limit, loss.is_none() && lanes.is_empty());
                let timer = fifo.timer();
                (Server::Fifo(Box::new(fifo)), timer)
            }
            // Its timer has a place in its calendar.
            other => (Server::Local(Box::new(Local::new(other))), Time::NEVER),
        };
        let next_sample = marks.sample_from(Time::ZERO);
        Self {
            index,
            service,
            free: 0,
            server,
            loss,
            routes,
            first,
            lanes,
            most_seen: 0,
            last_start: 0,
            totals: LinkTotals::default(),
            warm: LinkTotals::default(),
            next_sample,
            next_mark: next_sample.min(marks.warmup).min(timer),
            probe,
            hash: Rolling::default(),
        }
    }

    /// The shortest time that a data packet takes on the wire here; `None` on a link that only ACKs cross.
    pub fn shortest_data(&self) -> Option<u64> {
        let is_data = |each: &&(u32, u64)| each.0 > HEADER;
        match &self.service {
            Service::One(size, time) => Some(&(*size, *time)).filter(is_data).map(|each| each.1),
            // Of drawn sizes the mean: no promise hangs on it.
            Service::Each(all, _) => {
                let time = |&(size, time): &(u32, u64)| if time == DRAWN { self.service.drawn(size) } else { time };
                all.iter().filter(is_data).map(time).min()
            }
        }
    }

    /// Serves `arrivals`, which are in order, all before `until`, which is not after the end.
    pub fn serve<const HASH: bool>(&mut self, arrivals: &[Rec], until: u64, marks: &Marks, shared: &mut Shared) {
        let mut server = std::mem::replace(&mut self.server, Server::Away);
        match &mut server {
            Server::Fifo(fifo) => fifo.serve::<HASH>(self, arrivals, marks, shared),
            Server::Local(local) => local.serve::<HASH>(self, arrivals, until, marks, shared),
            Server::Away => {}
        }
        self.server = server;
    }

    /// Size and time on the wire of packet `seq` that `flow` sends here.
    #[inline]
    pub fn service_of(&self, flow: u32, seq: u32) -> (u32, u64) {
        match &self.service {
            Service::One(size, time) => (*size, *time),
            Service::Each(all, _) => {
                let place = (flow - self.first) as usize;
                let service = all[place];
                if service.1 == DRAWN { self.service.draw(place, seq) } else { service }
            }
        }
    }

    /// Time on the wire of `packet`, which is here already.
    #[inline]
    pub fn time_of(&self, packet: &Packet) -> u64 {
        match &self.service {
            Service::One(_, time) => *time,
            Service::Each(all, _) => {
                let time = all[(packet.flow - self.first) as usize].1;
                if time == DRAWN { self.service.drawn(packet.size) } else { time }
            }
        }
    }

    /// Size and time of every packet, on a link that loses none and where none carries a header.
    pub fn plain_service(&self) -> Option<(u32, u64)> {
        match self.service {
            Service::One(size, time) if self.loss.is_none() && self.lanes.is_empty() => Some((size, time)),
            _ => None,
        }
    }

    pub fn loses(&mut self) -> bool {
        match &mut self.loss {
            None => false,
            Some((Loss::Random(p), stream)) => stream.unit() < *p,
            Some((Loss::Every(n), _)) => self.totals.arrived.is_multiple_of(*n),
        }
    }

    #[cold]
    pub fn drop<const HASH: bool>(&mut self, rec: &Rec, cause: Cause, marks: &Marks, shared: &mut Shared) {
        self.totals.dropped[cause_index(cause)] += 1;
        if HASH {
            self.hash.arrival(rec.time, rec.flow(), rec.seq(), 2);
        }
        if rec.is_data() {
            let f = rec.flow() as usize;
            shared.dropped_total += 1;
            if rec.time >= marks.warmup.0 {
                shared.dropped[f] += 1;
                self.probe.losses.drop(Time(rec.time), rec.flow());
            }
            if let Some(trace) = &mut shared.traces[f] {
                trace.drops.push((Time(rec.time), self.index, rec.seq()));
            }
        }
    }

    /// Whether something is noted at `at`; timers ring between, and looking through all that waits takes its time.
    pub fn is_mark(&self, at: Time, marks: &Marks) -> bool {
        at == marks.warmup || at == self.next_sample
    }

    /// Tells whoever watches that `packet` arrived and found `backlog` packets waiting.
    #[cold]
    pub fn watch_arrival(&mut self, packet: &Packet, backlog: u32) {
        if let Some(watch) = &mut self.probe.watch {
            watch.arrived(packet, backlog);
        }
    }

    /// Tells whoever watches that service of `packet` begins at `start`, or that it is dropped then.
    #[cold]
    pub fn watch_end(&mut self, packet: &Packet, at: u64, dropped: bool, marks: &Marks) {
        if let Some(watch) = &mut self.probe.watch {
            match dropped {
                true => watch.dropped(packet, Time(at)),
                false if at < marks.end.0 => watch.began(packet, Time(at)),
                false => {}
            }
        }
    }

    /// The mark at `at`, at which these are the totals and the link stands so.
    pub fn pass_mark(
        &mut self,
        at: Time,
        marks: &Marks,
        totals: LinkTotals,
        standing: &Standing,
        show: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        if at == marks.warmup {
            self.warm = totals;
            self.most_seen = standing.backlog.packets;
        }
        if at == self.next_sample {
            self.probe.samples.take(at, marks, standing, totals.begun_bytes);
            self.probe.samples.gauges(show);
            self.next_sample = marks.sample_from(Time(at.0 + 1));
        }
    }

    /// The next mark after the one at `at`, when the rule's timer rings at `timer`.
    pub fn mark_after(&self, at: Time, timer: Time, marks: &Marks) -> Time {
        let next = self.next_sample.min(timer);
        let next = if at < marks.warmup { next.min(marks.warmup) } else { next };
        // What comes at or after the end never happens.
        if next >= marks.end { Time::NEVER } else { next }
    }

    /// The run is over: totals before `marks.end`, the most packets that waited, and the data packets that still wait in a
    /// discipline of its own.
    pub fn finish(&mut self, marks: &Marks, shared: &mut Shared) -> (LinkTotals, u32, u64) {
        let mut server = std::mem::replace(&mut self.server, Server::Away);
        match &mut server {
            Server::Fifo(fifo) => {
                let (totals, most) = fifo.finish(self, marks);
                (totals, most, 0)
            }
            Server::Local(local) => local.finish(self, marks, shared),
            Server::Away => (self.totals, self.most_seen, 0),
        }
    }
}
