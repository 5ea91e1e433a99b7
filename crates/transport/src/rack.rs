//! RACK-TLP: a segment is lost when one sent later has arrived, and a probe goes out when ACKs stop coming.
//!
//! Source: RFC 8985, Sections 6 (RACK) and 7 (TLP).
//! Differs from the source: no path here reorders one flow (but DualPI2 behind a link that marks), so reordering is never
//! seen and the window for it does not adapt (receivers send no DSACK); its timer judges together what left before the
//! latest arrival, at most the gap between two departures late, and runs beside the retransmission timer; the probe's
//! budget for delayed ACKs is the flow's own.
//! Differs from Linux: no F-RTO (RFC 5682) after a timeout.

use crate::ack::Ack;
use crate::departures::{Departure, Departures};
use crate::ranges::Ranges;
use crate::scoreboard::DUP_THRESH;
use crate::sequence::NO_SEGMENT;
use base::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What RACK-TLP knows of one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    departures: Departures,
    runs: Ranges,
    /// Which segments are lost and not sent since, lowest first; those since delivered or sent again are skipped.
    waiting: BinaryHeap<Reverse<u64>>,
    /// First transmissions of segments below this are judged: delivered, lost, or sent again.
    cursor: u64,
    /// Retransmissions in the order sent; those since delivered, lost or sent again are skipped.
    rexmits: VecDeque<(Time, u64)>,
    /// `RACK.xmit_ts` and `RACK.segment`: the latest departure among what was delivered.
    latest: (Time, u64),
    /// `RACK.rtt`.
    rtt: Span,
    /// `RACK.reo_wnd`, as of the last ACK.
    window: Span,
    /// `TLP.end_seq` of the probe that is out; `NO_SEGMENT` if none is, which is half the size of an option.
    probe_end: u64,
    /// How long the receiver may wait until it acknowledges, and for how many segments in order.
    delayed_ack_timeout: Span,
    delayed_ack: u32,
    sacked: u32,
    /// How many are lost and not sent since.
    lost: u32,
    /// `TLP.is_retrans`.
    probes_again: bool,
    /// Whether there was a round-trip sample since the last probe, or at all.
    timed: bool,
}

impl Rack {
    /// A connection whose receiver acknowledges every so many segments, or after so long.
    #[must_use]
    pub fn new(delayed_ack: (u32, Span)) -> Self {
        Self {
            departures: Departures::default(),
            runs: Ranges::default(),
            waiting: BinaryHeap::new(),
            cursor: 0,
            rexmits: VecDeque::new(),
            latest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            window: Span::ZERO,
            probe_end: NO_SEGMENT,
            delayed_ack_timeout: delayed_ack.1,
            delayed_ack: delayed_ack.0,
            sacked: 0,
            lost: 0,
            probes_again: false,
            timed: false,
        }
    }

    /// Nothing has left yet, and numbers begin at `first`.
    pub fn begin_at(&mut self, first: u64) {
        self.cursor = first;
        self.departures.begin_at(first);
    }

    /// When segments left.
    #[inline]
    pub fn departures(&mut self) -> &mut Departures {
        &mut self.departures
    }

    /// SACKed segments above `una`.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Whether a lost segment waits to be sent again.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Segments of [una, nxt) in the network.
    #[must_use]
    pub fn pipe(&self, una: u64, nxt: u64) -> u32 {
        (nxt - una) as u32 - self.sacked - self.lost
    }

    /// Whether nothing is SACKed, lost or probed for.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.probe_end == NO_SEGMENT
    }

    /// Steps 1 to 3: takes in an ACK. `una` is the value before it. Returns how many segments it SACKs for the first time, and
    /// calls `on_new` with them.
    pub fn update(&mut self, now: Time, una: u64, ack: &Ack, min_rtt: Span, mut on_new: impl FnMut(u64, u64)) -> u32 {
        let Self { departures, runs, lost, latest, rtt, timed, .. } = self;
        let mut delivered = |departure: Departure, seq: u64| {
            // What was SACKed before is not new.
            if departure.delivered() {
                return;
            }
            *lost -= u32::from(departure.lost());
            let taken = now - departure.time();
            *timed |= !departure.again();
            // The ACK of a segment sent twice that comes too soon is the first one's.
            if departure.again() && taken < min_rtt {
                return;
            }
            let left = departure.time();
            if left > latest.0 || (left == latest.0 && seq > latest.1) {
                (*latest, *rtt) = ((left, seq), taken);
            }
        };
        if ack.cum > una {
            for seq in una..ack.cum {
                if let Some(departure) = departures.pop(1) {
                    delivered(departure, seq);
                }
            }
            if !runs.is_empty() {
                self.sacked -= runs.remove_below(ack.cum);
            }
        }
        let mut new = 0;
        for &(start, end) in ack.blocks() {
            if end > ack.cum {
                runs.insert(start.max(ack.cum), end, |s, e| {
                    new += (e - s) as u32;
                    on_new(s, e);
                    for seq in s..e {
                        if let Some(departure) = departures.deliver(seq) {
                            delivered(departure, seq);
                        }
                    }
                });
            }
        }
        self.sacked += new;
        new
    }

    /// The highest run of SACKed segments, of a connection without a probe.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        if self.probe_end == NO_SEGMENT { self.runs.top() } else { None }
    }

    /// In a repair an ACK SACKs the segment after the highest run and nothing else: as [`Self::update`] and [`Self::detect`].
    /// Returns that segment if nothing is lost by it and no timer has to judge what may be soon; else it changes nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of a repair")]
    pub fn extend(&mut self, now: Time) -> Option<u64> {
        let next = self.cursor;
        // All before it is judged.
        if self.runs.top().is_none_or(|top| top.1 != next) {
            return None;
        }
        // What was sent again left after it, whatever has become of that, and so did what was never SACKed.
        let resent = self.rexmits.front().copied().unwrap_or((Time::NEVER, 0));
        let left = self.departures.deliver_first(next, self.latest, resent)?;
        self.runs.extend(1);
        self.sacked += 1;
        self.cursor = next + 1;
        (self.latest, self.rtt, self.timed, self.window) = ((left, next), now - left, true, Span::ZERO);
        Some(next)
    }

    /// ACKs in a row, of segments sent once: the last was `seq`, sent at `left` and acknowledged `rtt` later, which left the
    /// smoothed and the smallest round-trip time at `rtts`.
    #[inline]
    pub fn on_plain_acks(&mut self, seq: u64, left: Time, rtt: Span, rtts: (Span, Span)) {
        self.latest = (left, seq);
        self.rtt = rtt;
        self.timed = true;
        self.window = patience(rtts);
    }

    /// Steps 4 and 5: marks what is lost by now, and calls `on_lost` with each; returns when the reordering timer has to expire for
    /// what may be soon.
    pub fn detect(
        &mut self,
        now: Time,
        (una, nxt): (u64, u64),
        recovering: bool,
        rtts: (Span, Span),
        mut on_lost: impl FnMut(u64),
    ) -> Time {
        let patient = !(recovering || self.sacked >= DUP_THRESH);
        let window = if patient { patience(rtts) } else { Span::ZERO };
        self.window = window;
        while let Some((left, seq, again)) = self.earliest(una, nxt) {
            if (left, seq) >= self.latest {
                break;
            }
            let judged_at = left + self.rtt + window;
            if judged_at > now {
                // All that left before the latest arrival is judged together, when the last of it is due.
                return self.latest.0 + self.rtt + window;
            }
            self.lose(seq, again, &mut on_lost);
        }
        Time::NEVER
    }

    /// The timer expired (Section 6.3): the first segment is lost, and whatever is overdue; `on_lost` is called with each.
    pub fn on_timeout(&mut self, now: Time, (una, nxt): (u64, u64), mut on_lost: impl FnMut(u64)) {
        self.forget_probe();
        while let Some((left, seq, again)) = self.earliest(una, nxt)
            && left + self.rtt + self.window <= now
        {
            self.lose(seq, again, &mut on_lost);
        }
        if una < nxt && self.departures.lose(una) {
            self.count_lost(una);
            on_lost(una);
        }
    }

    /// The earliest departure whose segment is neither delivered nor taken for lost: when, which, and whether again.
    fn earliest(&mut self, una: u64, nxt: u64) -> Option<(Time, u64, bool)> {
        // Each segment is passed once: what it is is known at its place, whatever was SACKed.
        let mut cursor = self.cursor.max(una);
        let mut first = None;
        while cursor < nxt {
            if let Some(departure) = self.departures.get(cursor).filter(|departure| departure.is_first()) {
                first = Some((departure.time(), cursor, false));
                break;
            }
            cursor += 1;
        }
        self.cursor = cursor;
        let again = self.earliest_resent().map(|(left, seq)| (left, seq, true));
        match (first, again) {
            (Some(first), Some(again)) => Some(first.min(again)),
            _ => first.or(again),
        }
    }

    /// The earliest retransmission that is neither delivered nor taken for lost.
    #[inline]
    fn earliest_resent(&mut self) -> Option<(Time, u64)> {
        while let Some(&(left, seq)) = self.rexmits.front() {
            if self.departures.get(seq).is_some_and(|d| d.time() == left && !d.lost() && !d.delivered()) {
                return Some((left, seq));
            }
            self.rexmits.pop_front();
        }
        None
    }

    /// Whether a segment that was sent again is on its way. When a repair ends, a probe's is none of them: it left before
    /// the repair began.
    pub fn has_resent(&mut self) -> bool {
        self.earliest_resent().is_some()
    }

    #[inline]
    fn lose(&mut self, seq: u64, again: bool, on_lost: &mut impl FnMut(u64)) {
        if again {
            self.rexmits.pop_front();
        } else {
            self.cursor = seq + 1;
        }
        if self.departures.lose(seq) {
            self.count_lost(seq);
            on_lost(seq);
        }
    }

    fn count_lost(&mut self, seq: u64) {
        self.lost += 1;
        self.waiting.push(Reverse(seq));
    }

    /// The lowest segment that is lost and not sent since.
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            self.waiting.clear();
            return None;
        }
        while let Some(&Reverse(seq)) = self.waiting.peek() {
            if self.departures.get(seq).is_some_and(|departure| departure.lost() && !departure.delivered()) {
                return Some(seq);
            }
            self.waiting.pop();
        }
        None
    }

    /// Segment `seq` is about to be sent again, at `now`.
    #[inline]
    pub fn on_retransmit(&mut self, now: Time, seq: u64) {
        self.lost -= u32::from(self.departures.get(seq).is_some_and(Departure::lost));
        self.rexmits.push_back((now, seq));
    }

    /// Section 7.2: when the probe should leave, if nothing else happens to the `flight` segments outstanding: at
    /// `rto_at` at the latest, and never without a round-trip sample since the last probe (7.3).
    #[inline]
    pub fn probe_at(&self, now: Time, flight: u32, srtt: Span, rto_at: Time) -> Time {
        let wait =
            Span(2 * srtt.0) + if self.expects_delayed_ack(flight) { self.delayed_ack_timeout } else { Span::ZERO };
        if self.timed { (now + wait).min(rto_at) } else { Time::NEVER }
    }

    /// Whether the receiver may delay the ACK of so few segments.
    #[inline]
    #[must_use]
    pub fn expects_delayed_ack(&self, flight: u32) -> bool {
        flight < self.delayed_ack
    }

    /// Section 7.1: a recovery begins, and what the probe was about is repaired in it.
    pub fn forget_probe(&mut self) {
        self.probe_end = NO_SEGMENT;
    }

    /// Section 7.3: the segment that the probe sends again, if there is no new one: the last, unless it is SACKed.
    #[must_use]
    pub fn last_segment(&self, nxt: u64) -> Option<u64> {
        let last = nxt.checked_sub(1)?;
        self.runs.find(last).is_none().then_some(last)
    }

    /// The probe left; `again` if it is a retransmission.
    pub fn on_probe(&mut self, nxt: u64, again: bool) {
        (self.probe_end, self.probes_again) = (nxt, again);
        self.timed = false;
    }

    /// Section 7.4: whether the ACK says that the probe repaired a loss that nobody else noticed.
    pub fn probe_repaired(&mut self, ack: &Ack, progress: bool, sacked: u32) -> bool {
        let (end, again) = (self.probe_end, self.probes_again);
        if ack.cum < end {
            return false;
        }
        let duplicate = !progress && sacked == 0;
        if !again || duplicate || ack.cum > end {
            self.probe_end = NO_SEGMENT;
        }
        again && ack.cum > end
    }
}

/// The reordering window while nothing says that segments are lost: a quarter of the smallest round-trip time, and no more than
/// the smoothed one.
#[inline]
fn patience((srtt, min_rtt): (Span, Span)) -> Span {
    Span(min_rtt.0 / 4).min(srtt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::steps::steps;
    use proptest::prelude::*;

    const SRTT: Span = Span(40);
    const MIN_RTT: Span = Span(20);

    /// The same, looking at every segment every time.
    #[derive(Default)]
    struct Plain {
        segments: Vec<Segment>,
        una: u64,
        latest: (Time, u64),
        rtt: Span,
        window: Span,
    }

    #[derive(Clone, Copy)]
    struct Segment {
        left: Time,
        again: bool,
        lost: bool,
        delivered: bool,
    }

    impl Plain {
        fn sent(&mut self, now: Time, seq: u64) {
            let again = (seq as usize) < self.segments.len();
            let segment = Segment { left: now, again, lost: false, delivered: false };
            if again { self.segments[seq as usize] = segment } else { self.segments.push(segment) }
        }

        fn update(&mut self, now: Time, ack: &Ack) {
            for seq in (self.una..ack.cum).chain(ack.blocks().iter().flat_map(|&(start, end)| start..end)) {
                let segment = &mut self.segments[seq as usize];
                if std::mem::replace(&mut segment.delivered, true) || (segment.again && now - segment.left < MIN_RTT) {
                    continue;
                }
                if (segment.left, seq) > self.latest {
                    (self.latest, self.rtt) = ((segment.left, seq), now - segment.left);
                }
            }
            self.una = self.una.max(ack.cum);
        }

        fn outstanding(&self, which: impl Fn(&Segment) -> bool) -> impl Iterator<Item = (u64, &Segment)> {
            (0..).zip(&self.segments).skip(self.una as usize).filter(move |(_, segment)| which(segment))
        }

        fn sacked(&self) -> u32 {
            self.outstanding(|segment| segment.delivered).count() as u32
        }

        fn next_lost(&self) -> Option<u64> {
            self.outstanding(|segment| segment.lost && !segment.delivered).next().map(|(seq, _)| seq)
        }

        fn earliest(&self) -> Option<(Time, u64)> {
            let unjudged = self.outstanding(|segment| !segment.lost && !segment.delivered);
            unjudged.map(|(seq, segment)| (segment.left, seq)).min()
        }

        fn detect(&mut self, now: Time, recovering: bool) -> (Time, Vec<u64>) {
            let patient = !(recovering || self.sacked() >= DUP_THRESH);
            self.window = if patient { Span(MIN_RTT.0 / 4) } else { Span::ZERO };
            let mut lost = Vec::new();
            while let Some((left, seq)) = self.earliest().filter(|first| *first < self.latest) {
                if left + self.rtt + self.window > now {
                    return (self.latest.0 + self.rtt + self.window, lost);
                }
                self.segments[seq as usize].lost = true;
                lost.push(seq);
            }
            (Time::NEVER, lost)
        }

        fn on_timeout(&mut self, now: Time) -> Vec<u64> {
            let mut lost = Vec::new();
            while let Some((_, seq)) = self.earliest().filter(|first| first.0 + self.rtt + self.window <= now) {
                self.segments[seq as usize].lost = true;
                lost.push(seq);
            }
            if let Some(first) = self.segments.get_mut(self.una as usize).filter(|first| !first.lost) {
                first.lost = true;
                lost.push(self.una);
            }
            lost
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Send(u64),
        SendAgain,
        Ack { up: u64, block: (u64, u64) },
        TimeOut,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (1u64..8).prop_map(Step::Send),
            Just(Step::SendAgain),
            (0u64..3, 0u64..12, 1u64..5).prop_map(|(up, at, length)| Step::Ack { up, block: (at, length) }),
            (0u64..3, 0u64..12, 1u64..5).prop_map(|(up, at, length)| Step::Ack { up: up / 2, block: (at, length) }),
            Just(Step::TimeOut),
        ]
    }

    proptest! {
        #[test]
        fn it_is_as_if_it_looked_at_every_segment(script in prop::collection::vec((step(), 0u64..15), 1..80)) {
            let (mut rack, mut plain) = (Rack::new((1, Span::ZERO)), Plain::default());
            let mut now = Time(1000);
            for (step, wait) in script {
                now += Span(wait);
                let nxt = plain.segments.len() as u64;
                match step {
                    Step::Send(n) => {
                        for seq in nxt..nxt + n {
                            rack.departures().sent(seq, now);
                            plain.sent(now, seq);
                        }
                    }
                    Step::SendAgain => {
                        if let Some(seq) = rack.next_lost() {
                            rack.on_retransmit(now, seq);
                            rack.departures().sent(seq, now);
                            plain.sent(now, seq);
                        }
                    }
                    Step::Ack { up, block: (at, length) } => {
                        let mut cum = (plain.una + up).min(nxt);
                        while plain.segments.get(cum as usize).is_some_and(|segment| segment.delivered) {
                            cum += 1;
                        }
                        let (start, end) = ((cum + 1 + at).min(nxt), (cum + 1 + at + length).min(nxt));
                        let blocks: &[_] = if start < end { &[(start, end)] } else { &[] };
                        let ack = Ack::new(cum, blocks, false);
                        rack.update(now, plain.una, &ack, MIN_RTT, |_, _| {});
                        plain.update(now, &ack);
                        let mut lost = Vec::new();
                        let found =
                            rack.detect(now, (plain.una, nxt), up == 2, (SRTT, MIN_RTT), |seq| lost.push(seq));
                        prop_assert_eq!((found, lost), plain.detect(now, up == 2));
                    }
                    Step::TimeOut => {
                        let mut lost = Vec::new();
                        rack.on_timeout(now, (plain.una, nxt), |seq| lost.push(seq));
                        prop_assert_eq!(lost, plain.on_timeout(now));
                    }
                }
                prop_assert_eq!(rack.next_lost(), plain.next_lost());
                let lost = plain.outstanding(|segment| segment.lost && !segment.delivered).count() as u32;
                let nxt = plain.segments.len() as u64;
                prop_assert_eq!(rack.pipe(plain.una, nxt), (nxt - plain.una) as u32 - plain.sacked() - lost);
                prop_assert_eq!((rack.sacked(), rack.has_lost()), (plain.sacked(), lost > 0));
            }
        }
    }

    /// A window of `n` segments, of which every other is lost, and every third of what is sent again: one arrives or is lost
    /// and one leaves at a time, for eight windows. Steps per segment sent.
    fn steps_per_segment(n: u64) -> f64 {
        let (mut rack, before) = (Rack::new((1, Span::ZERO)), steps());
        let mut held = Ranges::default();
        let (mut una, mut nxt, mut resent) = (0, 0, 0);
        let mut path: VecDeque<Option<u64>> = VecDeque::new();
        for tick in 0..9 * n {
            let now = Time(1000 + tick);
            if tick >= n
                && let Some(Some(seq)) = path.pop_front()
            {
                let (start, end) = held.insert(seq, seq + 1, |_, _| {});
                let ack = if start == una { Ack::new(end, &[], false) } else { Ack::new(una, &[(start, end)], false) };
                rack.update(now, una, &ack, Span(n), |_, _| {});
                if start == una {
                    una = end;
                    held.remove_below(end);
                }
                rack.detect(now, (una, nxt), true, (Span(n), Span(n)), |_| ());
            }
            let lost = rack.next_lost();
            let seq = lost.unwrap_or(nxt);
            if lost.is_some() {
                rack.on_retransmit(now, seq);
                resent += 1;
                path.push_back((resent % 3 != 0).then_some(seq));
            } else {
                nxt += 1;
                path.push_back((seq % 2 != 0).then_some(seq));
            }
            rack.departures().sent(seq, now);
        }
        assert!(resent > 3 * n, "{resent}");
        (steps() - before) as f64 / (9 * n) as f64
    }

    #[test]
    fn elephants_cost_no_more_per_segment_than_others() {
        let (small, large) = (steps_per_segment(2_000), steps_per_segment(16_000));
        // A handful of looks at a segment in its life, and half a piece of runs moved for one that arrives.
        assert!(small < 150.0 && large < 1.3 * small, "{small} {large}");
    }
}
