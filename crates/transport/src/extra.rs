//! What only some senders keep: departures, delivery rates, PRR, RACK, pacing. A plain sender has none of it and does not
//! pay for it.
//!
//! A fast retransmit, a probe and the first segment after a timeout leave at once even where the control paces; they
//! count for the pace of what follows.

use crate::deliveries::Deliveries;
use crate::departures::Departures;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::sender::News;
use crate::{Ack, Options, Phase, Recovery, Sender, Wire};
use base::{Header, Span, Time};
use law::{CongestionControl, Needs};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Extra {
    pub departures: Option<Departures>,
    pub deliveries: Option<Deliveries>,
    pub prr: Option<Prr>,
    pub rack: Option<Rack>,
    /// Whether the control wants every round-trip time.
    every_rtt: bool,
    /// Whether packets carry headers for routers.
    headers: bool,
    pacing: Option<Pacing>,
}

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
struct Pacing {
    free_at: Time,
    /// When a segment waits for that: the timer.
    due: Time,
    /// Segments of the present burst that may still leave with it.
    left: u32,
}

impl Extra {
    /// What these need, if anything.
    pub fn new(recovery: Recovery, needs: Needs, paces: bool, options: &Options) -> Option<Box<Self>> {
        let rack = recovery == Recovery::Rack;
        // A control that hears of every delivery rules its own window in recovery.
        let prr = (rack || recovery == Recovery::Prr) && !needs.deliveries;
        if !(rack || prr || needs.every_rtt || needs.deliveries || needs.headers || paces) {
            return None;
        }
        let delayed_ack = (options.delayed_ack, options.delayed_ack_timeout);
        Some(Box::new(Self {
            departures: (rack || needs.every_rtt).then(Departures::default),
            deliveries: needs.deliveries.then(Deliveries::default),
            prr: prr.then(Prr::default),
            rack: rack.then(|| Rack::new(delayed_ack)),
            every_rtt: needs.every_rtt,
            headers: needs.headers,
            pacing: paces.then_some(Pacing { free_at: Time::ZERO, due: Time::NEVER, left: 0 }),
        }))
    }

    /// Numbers begin at `first`.
    pub fn begin_at(&mut self, first: u32) {
        if let Some(departures) = &mut self.departures {
            departures.begin_at(first);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.begin_at(first);
        }
        if let Some(rack) = &mut self.rack {
            rack.begin_at(first);
        }
    }

    /// Whether ACKs may be taken in runs, as far as anything here is concerned.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        !self.headers
            && self.deliveries.is_none()
            && self.pacing.is_none()
            && self.rack.as_ref().is_none_or(Rack::is_quiet)
    }
}

impl<C: CongestionControl> Sender<C> {
    /// Takes in what an ACK says beyond its number, before `una` moves. Returns how many segments it SACKs for the first
    /// time.
    pub(crate) fn hear(&mut self, news: &mut News, ack: &Ack) -> u32 {
        let Some(extra) = self.extra.as_deref_mut() else { return 0 };
        let (now, una) = (news.now, self.una);
        if extra.headers {
            self.control.on_feedback(f64::from(ack.feedback), news.limited);
        }
        if let Some(departures) = &extra.departures
            && self.phase == Phase::Open
            && news.acked > 0
            && let Some(departure) = departures.get(ack.cum - 1)
            && !departure.again()
        {
            // In recovery a number may be acknowledged long after its segment arrived.
            let held = match &extra.rack {
                Some(rack) => rack.sacked() > 0,
                None => !self.board.is_empty(),
            };
            if !held {
                let rtt = now - departure.time();
                self.rtt.observe(rtt);
                if extra.every_rtt {
                    news.rtt = Some(rtt);
                }
            }
        }
        let sacked_before = extra.rack.as_ref().map_or(self.board.sacked(), Rack::sacked);
        if let Some(deliveries) = &mut extra.deliveries {
            deliveries.advance(ack.cum, now);
        }
        let edge = self.board.edge().max(ack.cum);
        let deliveries = &mut extra.deliveries;
        let fresh = |s, e| {
            if let Some(deliveries) = deliveries {
                deliveries.delivered(s, e, now);
            }
        };
        let sacked = match (&mut extra.rack, &extra.departures) {
            (Some(rack), Some(departures)) => rack.update(now, una, ack, self.rtt.min(), departures, fresh),
            _ if self.recovery.selective() => self.board.update(una, ack, fresh),
            _ => 0,
        };
        if let Some(deliveries) = &mut extra.deliveries {
            deliveries.tell(self.board.holes(edge, self.board.edge()), now, &mut self.control);
        }
        news.lost = extra.prr.is_some() && self.board.has_lost_above(edge);
        let sacked_after = extra.rack.as_ref().map_or(self.board.sacked(), Rack::sacked);
        if let Some(departures) = &mut extra.departures
            && news.acked > 0
        {
            departures.advance(ack.cum);
        }
        news.delivered = (news.acked + sacked_after).saturating_sub(sacked_before);
        news.probe_repaired = extra.rack.as_mut().is_some_and(|rack| rack.probe_repaired(ack, news.acked > 0, sacked));
        sacked
    }

    /// Takes in an ACK of just the next segment, when nothing is SACKed or lost or sent again. Returns its round-trip time
    /// for those who want every one.
    #[inline]
    pub(crate) fn hear_plain(&mut self, now: Time) -> Option<Span> {
        let una = self.una;
        let extra = self.extra.as_deref_mut()?;
        let left = extra.departures.as_mut()?.pop()?.time();
        let rtt = now - left;
        self.rtt.observe(rtt);
        if let Some(rack) = &mut extra.rack {
            rack.take(una, left, rtt);
        }
        extra.every_rtt.then_some(rtt)
    }

    /// Takes in ACKs in a row, each of which released one segment at `times`; the last at `last`.
    pub(crate) fn hear_steady(&mut self, last: Time, times: impl Iterator<Item = Time>) {
        let Some(extra) = self.extra.as_deref_mut() else { return };
        let Some(departures) = &mut extra.departures else { return };
        let mut taken = departures.take(times);
        if extra.every_rtt {
            self.control.on_rtt_samples(&mut taken);
        } else {
            taken.by_ref().for_each(drop);
        }
        let (least, latest, left) = (taken.least, taken.last, taken.left);
        self.rtt.observe(least);
        self.rtt.observe(latest);
        if let Some(rack) = &mut extra.rack {
            rack.take(self.una - 1, left, latest);
        }
        self.settle(last, true);
    }

    /// Tells the control which segments RACK has taken for lost; returns whether there were any.
    pub(crate) fn tell_lost(&mut self, now: Time) -> bool {
        let Some(extra) = self.extra.as_deref_mut() else { return false };
        let Some(rack) = &mut extra.rack else { return false };
        let any = !rack.newly_lost.is_empty();
        if let Some(deliveries) = &mut extra.deliveries {
            deliveries.tell(rack.newly_lost.iter().copied(), now, &mut self.control);
        }
        rack.newly_lost.clear();
        any
    }

    /// The timer expired: tells the control of every segment that counts as lost by that, and did not before.
    pub(crate) fn tell_all_lost(&mut self, now: Time) {
        let Some(extra) = self.extra.as_deref_mut() else { return };
        let Some(deliveries) = &mut extra.deliveries else { return };
        let was_lost = |seq: &u32| *seq < self.board.edge() && !self.board.is_resent(*seq);
        let holes = self.board.holes(self.una, self.nxt).filter(|seq| !was_lost(seq));
        deliveries.tell(holes, now, &mut self.control);
    }

    /// Tells the control what the ACK said about the rate of delivery.
    pub(crate) fn report(&mut self, news: News) {
        let after = self.in_flight();
        let recovering = self.phase != Phase::Open;
        let Some(extra) = self.extra.as_deref_mut() else { return };
        let Some(deliveries) = &mut extra.deliveries else { return };
        if let Some(mut delivery) = deliveries.sample(news.now, self.rtt.min(), (news.before, after), recovering) {
            if let Some(rtt) = delivery.rtt {
                self.rtt.observe(rtt);
                delivery.min_rtt = self.rtt.min();
            }
            self.control.on_delivery(&delivery);
        }
    }

    /// A segment leaves. Returns the header that it carries, where it needs one.
    pub(crate) fn note_departure(&mut self, now: Time, seq: u32) -> Option<Header> {
        let in_flight = self.in_flight();
        let recovery = self.phase == Phase::Recovery;
        let extra = self.extra.as_deref_mut()?;
        if let Some(departures) = &mut extra.departures {
            departures.sent(seq, now);
        }
        if let Some(deliveries) = &mut extra.deliveries {
            deliveries.sent(seq, now, in_flight.saturating_sub(1));
        }
        if recovery && let Some(prr) = &mut extra.prr {
            prr.on_transmit();
        }
        if let Some(pacing) = &mut extra.pacing
            && let Some(rate) = self.control.pacing_rate()
        {
            let from = if pacing.left > 0 { pacing.free_at } else { pacing.free_at.max(now) };
            pacing.free_at = from + Span::from_secs(1.0 / rate);
            pacing.left = if pacing.left > 0 { pacing.left - 1 } else { self.control.burst() - 1 };
        }
        extra.headers.then(|| self.control.header(self.rtt.srtt()))
    }

    /// Whether pacing lets a segment leave now; if not, the timer is set.
    #[inline]
    pub(crate) fn may_send(&mut self, now: Time) -> bool {
        let Some(pacing) = self.extra.as_deref_mut().and_then(|extra| extra.pacing.as_mut()) else { return true };
        let free = pacing.left > 0 || pacing.free_at <= now;
        pacing.due = if free { Time::NEVER } else { pacing.free_at };
        free
    }

    /// Sets the timers that are not the retransmission timer, after everything else. `moved` says whether there was
    /// progress or a new segment left.
    pub(crate) fn settle(&mut self, now: Time, moved: bool) {
        let limited = self.nxt == self.data_end && !self.has_lost();
        let (in_flight, window) = if limited { (self.in_flight(), self.window()) } else { (0, 0) };
        let (open, outstanding) = (self.phase == Phase::Open, self.nxt - self.una);
        let Some(extra) = self.extra.as_deref_mut() else { return };
        if let Some(deliveries) = &mut extra.deliveries
            && limited
            && in_flight < window
        {
            deliveries.limited_by_application(in_flight);
        }
        self.other_at = extra.pacing.map_or(Time::NEVER, |pacing| pacing.due);
        if let Some(rack) = &mut extra.rack {
            if !open || !rack.is_quiet() || outstanding == 0 {
                rack.probe_at = Time::NEVER;
            } else if moved {
                rack.arm_probe(now, outstanding, self.rtt.srtt(), self.rto_at);
            }
            self.other_at = self.other_at.min(rack.probe_at).min(rack.reorder_at);
        }
    }

    /// Pacing, reordering and probe timers.
    pub(crate) fn on_other_timer(&mut self, now: Time, wire: &mut impl Wire) {
        let Some(extra) = self.extra.as_deref_mut() else { return };
        if let Some(pacing) = &mut extra.pacing
            && pacing.due <= now
        {
            pacing.due = Time::NEVER;
        }
        let (mut reorder, mut probe) = (false, false);
        if let Some(rack) = &extra.rack {
            (reorder, probe) = (rack.reorder_at <= now, rack.probe_at <= now);
        }
        let high = self.high;
        if reorder {
            self.detect(now);
            if self.phase == Phase::Open {
                self.repair_lost(now, 0, wire);
            }
        } else if probe {
            self.probe(now, wire);
        }
        self.fill(now, wire);
        self.settle(now, self.high > high);
    }
}
