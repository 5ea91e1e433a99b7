//! RACK-TLP: a segment is lost when one sent later has arrived, and a probe goes out when ACKs stop coming.
//!
//! Source: RFC 8985, Sections 6 (RACK) and 7 (TLP).
//! Differs from the source: the reordering window adapts only if the sender expects reordering ([`Adapting`]). Its
//! timer judges all segments sent before the latest delivered one together, at most the gap between two departures
//! late, and runs in addition to the retransmission timer. The probe's budget for delayed ACKs is the flow's own
//! timeout.

mod adapting;

use crate::DUP_THRESH;
use crate::ack::Ack;
use crate::departures::{Departure, Departures, Transmission};
use crate::ranges::Ranges;
use crate::rtt::SrttAndMin;
use crate::sequence::{NO_SEGMENT, Outstanding};
use adapting::{Adapting, patience};
use base::{Span, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// RACK-TLP state of one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    runs: Ranges,
    /// All first transmissions of segments below this one have been judged: delivered, lost, or sent again.
    cursor: u64,
    /// Adaptation to reordering, where it is to be expected.
    adapting: Option<Box<Adapting>>,
    /// State needed after a first loss, in a box so that flows without losses do not carry it.
    repairs: Option<Box<Repairs>>,
    /// `RACK.xmit_ts` and `RACK.segment`: the latest departure among what was delivered.
    latest: Transmission,
    /// `RACK.rtt`.
    rtt: Span,
    /// `RACK.reo_wnd`, as of the last ACK.
    window: Span,
    /// `TLP.end_seq` of an outstanding probe; `NO_SEGMENT` if there is none, which is half the size of an option.
    probe_end: u64,
    sacked: u32,
    /// Number of SACKed segments from which the sender does not wait for segments below them any more (`DupThresh`).
    dup_thresh: u32,
    /// Number of segments that are lost and not retransmitted.
    lost: u32,
    /// `TLP.is_retrans`.
    probes_again: bool,
    /// Whether there was a round-trip sample since the last probe or, before the first probe, since the start.
    timed: bool,
}

/// Segments to retransmit, and those retransmitted.
#[derive(Clone, Debug, Default)]
struct Repairs {
    /// Segments lost and not retransmitted, lowest first; entries since delivered or retransmitted are skipped.
    waiting: BinaryHeap<Reverse<u64>>,
    /// Retransmissions in the order in which RACK compares them, by time and, at one instant, by number; those since
    /// delivered, lost or sent again are skipped.
    rexmits: VecDeque<Transmission>,
    /// First transmission times of outstanding retransmitted segments: their ACK may be that of the first copy.
    firsts: BTreeMap<u64, Time>,
}

impl Repairs {
    /// Notes the retransmission of segment `seq` at `now`.
    #[inline]
    fn sent_again(&mut self, now: Time, seq: u64) {
        // A timeout can send a lower segment again in the instant in which a higher one left.
        let mut at = self.rexmits.len();
        while at > 0 && self.rexmits[at - 1].order() > (now, seq) {
            at -= 1;
        }
        let sent = Transmission { at: now, seq };
        if at == self.rexmits.len() { self.rexmits.push_back(sent) } else { self.rexmits.insert(at, sent) }
    }
}

impl Rack {
    /// State of a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self {
            runs: Ranges::default(),
            cursor: 0,
            adapting: None,
            repairs: None,
            latest: Transmission { at: Time::ZERO, seq: 0 },
            rtt: Span::ZERO,
            window: Span::ZERO,
            probe_end: NO_SEGMENT,
            sacked: 0,
            dup_thresh: DUP_THRESH,
            lost: 0,
            probes_again: false,
            timed: false,
        }
    }

    /// Adapts the reordering window from now on.
    pub fn expect_reordering(&mut self) {
        self.adapting = Some(Box::default());
    }

    /// Notes, where the window adapts, what an ACK shows of reordering, before [`Self::update`]: a segment that was sent once has
    /// arrived after one sent later, or a duplicate, which widens the window once for each round trip (step 4). `out` is as before
    /// the ACK.
    #[inline]
    pub fn note_order(&mut self, departures: &Departures, ack: &Ack, out: Outstanding) {
        if self.adapting.is_some() {
            self.adapt(departures, ack, out);
        }
    }

    #[cold]
    #[inline(never)]
    fn adapt(&mut self, departures: &Departures, ack: &Ack, Outstanding { una, nxt }: Outstanding) {
        let highest = self.runs.top().map_or(una, |top| top.1);
        let first_late = |(start, end): (u64, u64)| {
            let mut seq = start;
            while seq < end.min(highest) {
                match self.runs.find(seq) {
                    Some(run) => seq = run.1,
                    None if departures.get(seq).is_some_and(|departure| !departure.again()) => return Some(seq),
                    None => seq += 1,
                }
            }
            None
        };
        let blocks = ack.blocks().iter().map(|&(start, end)| (start.max(ack.cum), end));
        let late = std::iter::once((una, ack.cum)).chain(blocks.clone()).filter_map(first_late).min();
        let highest = blocks.map(|block| block.1).fold(highest.max(ack.cum), u64::max);
        if let Some(adapting) = self.adapting.as_deref_mut() {
            if let Some(seq) = late {
                adapting.see(highest - seq);
            }
            adapting.on_ack(ack, nxt);
        }
    }

    /// Notes that a segment that was sent again was only late: the first of the segments that this ACK acknowledges.
    #[cold]
    pub fn see_late(&mut self, (first, una): (u64, u64)) {
        let highest = self.runs.top().map_or(una, |top| top.1);
        if let Some(adapting) = self.adapting.as_deref_mut() {
            adapting.see(highest - first);
        }
    }

    /// Largest number of segments by which a segment was seen to be overtaken (Linux: `tp->reordering`); at least
    /// three.
    pub fn reordering(&self) -> u32 {
        self.adapting.as_deref().map_or(DUP_THRESH, |adapting| adapting.reordering)
    }

    /// Resets that number to three if a timeout shows a loss although at least as many segments were SACKed (Linux:
    /// `tcp_enter_loss`).
    #[cold]
    pub fn forget_reordering(&mut self) {
        let sacked = self.sacked;
        if let Some(adapting) = self.adapting.as_deref_mut().filter(|adapting| sacked >= adapting.reordering) {
            adapting.reordering = DUP_THRESH;
        }
    }

    /// Notes that a recovery ends. After some recoveries without duplicates the reordering window is narrow again.
    #[inline]
    pub fn end_recovery(&mut self) {
        if let Some(adapting) = self.adapting.as_deref_mut() {
            adapting.end_recovery();
        }
    }

    /// Whether a segment that was sent once has arrived after one sent later.
    #[inline]
    fn has_seen(&self) -> bool {
        self.adapting.as_deref().is_some_and(|adapting| adapting.seen)
    }

    /// Reordering window (`reo_wnd`) of a sender that waits for reordered segments.
    #[inline]
    fn patience(&self, rtts: SrttAndMin) -> Span {
        self.adapting.as_deref().map_or_else(|| patience(1, rtts), |adapting| adapting.patience(rtts))
    }

    /// Reordering window now: `hurries` says that a recovery is in progress, or that enough segments are SACKed.
    #[inline]
    fn window(&self, hurries: bool, rtts: SrttAndMin) -> Span {
        if self.adapting.is_some() {
            self.adapted_window(hurries, rtts)
        } else if hurries {
            Span::ZERO
        } else {
            patience(1, rtts)
        }
    }

    #[cold]
    #[inline(never)]
    fn adapted_window(&self, hurries: bool, rtts: SrttAndMin) -> Span {
        if hurries && !self.has_seen() { Span::ZERO } else { self.patience(rtts) }
    }

    /// Unmarks the segments that are lost and not sent again. All outstanding segments are judged again.
    pub fn forgive(&mut self, departures: &mut Departures, Outstanding { una, nxt }: Outstanding) {
        for seq in una..nxt {
            departures.find_again(seq);
        }
        self.lost = 0;
        self.cursor = una;
        if let Some(repairs) = self.repairs.as_deref_mut() {
            repairs.waiting.clear();
        }
    }

    /// Sets the number of SACKed segments from which the sender does not wait for segments below them any more.
    pub fn set_dup_thresh(&mut self, dup_thresh: u32) {
        self.dup_thresh = dup_thresh;
    }

    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    pub fn begin_at(&mut self, first: u64) {
        self.cursor = first;
    }

    /// SACKed segments above `una`.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Whether a lost segment waits for retransmission.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Segments of [una, nxt) in flight.
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

    /// Processes an ACK (steps 1 to 3). `una` is the value before it. Returns how many segments it SACKs for the first
    /// time, and the transmission times of the first and the last of those that were sent once; calls `on_new` with
    /// them.
    pub fn update(
        &mut self,
        departures: &mut Departures,
        now: Time,
        una: u64,
        ack: &Ack,
        min_rtt: Span,
        mut on_new: impl FnMut(u64, u64),
    ) -> (u32, Option<(Time, Time)>) {
        let Self { runs, lost, latest, rtt, timed, .. } = self;
        let mut delivered = |departure: Departure, seq: u64| {
            // A segment that was SACKed before is not new.
            if departure.delivered() {
                return;
            }
            *lost -= u32::from(departure.lost());
            let taken = now - departure.time();
            *timed |= !departure.again();
            // An ACK of a retransmitted segment that comes too soon is for the first transmission.
            if departure.again() && taken < min_rtt {
                return;
            }
            let left = departure.time();
            if left > latest.at || (left == latest.at && seq > latest.seq) {
                (*latest, *rtt) = (Transmission { at: left, seq }, taken);
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
                departures.trim();
            }
            if let Some(repairs) = self.repairs.as_deref_mut().filter(|repairs| !repairs.firsts.is_empty()) {
                repairs.firsts = repairs.firsts.split_off(&ack.cum);
            }
        }
        let (mut new, mut ends) = (0, None);
        for &(start, end) in ack.blocks() {
            if end > ack.cum {
                runs.insert(start.max(ack.cum), end, |s, e| {
                    new += (e - s) as u32;
                    on_new(s, e);
                    for seq in s..e {
                        if let Some(departure) = departures.deliver(seq) {
                            delivered(departure, seq);
                            if !departure.again() {
                                let left = departure.time();
                                ends = Some((ends.map_or(left, |ends: (Time, Time)| ends.0), left));
                            }
                        }
                    }
                });
            }
        }
        self.sacked += new;
        (new, ends)
    }

    /// Highest run of SACKed segments, for a connection without a probe.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        if self.probe_end == NO_SEGMENT && !self.has_seen() { self.runs.top() } else { None }
    }

    /// [`Self::update`] and [`Self::detect`] for an ACK in recovery that SACKs the segment after the highest run and
    /// nothing else. Returns that segment and its transmission time if the ACK proves no loss and no timer has to be
    /// set; else it changes nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every ACK of a repair")]
    pub fn extend(&mut self, departures: &mut Departures, now: Time) -> Option<(u64, Time)> {
        let next = self.next_in_row()?;
        let left = departures.deliver_first(next, self.latest, self.first_resent())?;
        self.note_row(1, left, now);
        Some((next, left))
    }

    /// [`Self::extend`] for as many as possible of the ACKs at `times`: calls `on_each` with departure and delivery of each. Returns
    /// how many.
    #[inline]
    pub fn extend_row(
        &mut self,
        departures: &mut Departures,
        times: impl Iterator<Item = Time>,
        on_each: impl FnMut(Time, Time),
    ) -> u32 {
        let Some(next) = self.next_in_row() else { return 0 };
        let before = self.first_resent();
        let Some((acks, left, now)) = departures.deliver_row(next, self.latest, before, times, on_each) else {
            return 0;
        };
        self.note_row(acks, left, now);
        acks
    }

    /// The segment after the highest run of SACKed ones, if all before it is judged.
    #[inline]
    fn next_in_row(&self) -> Option<u64> {
        self.runs.top().filter(|top| top.1 == self.cursor).map(|top| top.1)
    }

    /// Notes the SACKs of the next `acks` segments, of which the last was sent at `left` and acknowledged at `now`. All
    /// retransmissions, and all segments never SACKed, must have been sent after them.
    #[inline]
    fn note_row(&mut self, acks: u32, left: Time, now: Time) {
        self.runs.extend(acks);
        self.sacked += acks;
        self.cursor += u64::from(acks);
        self.latest = Transmission { at: left, seq: self.cursor - 1 };
        (self.rtt, self.timed, self.window) = (now - left, true, Span::ZERO);
    }

    /// Earliest retransmission on record, even if it was delivered or lost since; at `NEVER` if there is none.
    #[inline]
    fn first_resent(&self) -> Transmission {
        let first = self.repairs.as_deref().and_then(|repairs| repairs.rexmits.front().copied());
        first.unwrap_or(Transmission { at: Time::NEVER, seq: 0 })
    }

    /// Processes ACKs in a row, of segments sent once: the last was `seq`, sent at `left` and acknowledged `rtt` later;
    /// the smoothed and the smallest round-trip time are now `rtts`.
    #[inline]
    pub fn on_plain_acks(&mut self, seq: u64, left: Time, rtt: Span, rtts: SrttAndMin) {
        self.latest = Transmission { at: left, seq };
        self.rtt = rtt;
        self.timed = true;
        self.window = self.patience(rtts);
    }

    /// Marks segments that are lost by now, and calls `on_lost` with each (steps 4 and 5); returns when the reordering
    /// timer must expire to judge the others.
    pub fn detect(
        &mut self,
        departures: &mut Departures,
        now: Time,
        out: Outstanding,
        recovering: bool,
        rtts: SrttAndMin,
        mut on_lost: impl FnMut(u64),
    ) -> Time {
        let window = self.window(recovering || self.sacked >= self.dup_thresh, rtts);
        self.window = window;
        let mut resent = self.earliest_resent(departures);
        loop {
            let first = self.earliest_first(departures, out);
            let Some((sent, again)) = earlier(first, resent).filter(|(sent, _)| sent.order() < self.latest.order())
            else {
                return Time::NEVER;
            };
            let judged_at = sent.at + self.rtt + window;
            if judged_at > now {
                // All segments sent before the latest delivered one are judged together, when the last of them is due.
                return self.latest.at + self.rtt + window;
            }
            self.lose(departures, sent.seq, again, &mut on_lost);
            if again {
                resent = self.earliest_resent(departures);
            }
        }
    }

    /// Handles a timeout (Section 6.3): the first segment is lost, and every overdue one; `on_lost` is called with each.
    pub fn on_timeout(
        &mut self,
        departures: &mut Departures,
        now: Time,
        out: Outstanding,
        mut on_lost: impl FnMut(u64),
    ) {
        self.forget_probe();
        while let Some((sent, again)) = self.earliest(departures, out)
            && sent.at + self.rtt + self.window <= now
        {
            self.lose(departures, sent.seq, again, &mut on_lost);
        }
        let una = out.una;
        if una < out.nxt && departures.lose(una) {
            self.count_lost(una);
            on_lost(una);
        }
    }

    /// Earliest departure of a segment that is neither delivered nor considered lost, and whether it is a retransmission.
    fn earliest(&mut self, departures: &Departures, out: Outstanding) -> Option<(Transmission, bool)> {
        let first = self.earliest_first(departures, out);
        earlier(first, self.earliest_resent(departures))
    }

    /// Earliest departure of the segments that were sent once.
    #[inline]
    fn earliest_first(&mut self, departures: &Departures, out: Outstanding) -> Option<Transmission> {
        // The cursor passes each segment once, because its entry in `departures` shows its state.
        let from = self.cursor.max(out.una);
        let first = departures.first_from(from);
        self.cursor = first.map_or(out.nxt.max(from), |first| first.seq);
        first
    }

    /// Earliest retransmission that is neither delivered nor considered lost.
    #[inline]
    fn earliest_resent(&mut self, departures: &Departures) -> Option<Transmission> {
        let rexmits = &mut self.repairs.as_deref_mut()?.rexmits;
        while let Some(&sent) = rexmits.front() {
            if departures.get(sent.seq).is_some_and(|d| d.time() == sent.at && !d.lost() && !d.delivered()) {
                return Some(sent);
            }
            rexmits.pop_front();
        }
        None
    }

    /// Whether a retransmitted segment is in flight. At the end of a recovery the segment of a probe does not count: it
    /// was sent before the recovery began.
    pub fn has_resent(&mut self, departures: &Departures) -> bool {
        self.earliest_resent(departures).is_some()
    }

    #[inline]
    fn lose(&mut self, departures: &mut Departures, seq: u64, again: bool, on_lost: &mut impl FnMut(u64)) {
        if again {
            if let Some(repairs) = self.repairs.as_deref_mut() {
                repairs.rexmits.pop_front();
            }
        } else {
            self.cursor = seq + 1;
        }
        if departures.lose(seq) {
            self.count_lost(seq);
            on_lost(seq);
        }
    }

    fn count_lost(&mut self, seq: u64) {
        let first = self.lost == 0;
        self.lost += 1;
        let Some(repairs) = self.repairs.as_deref_mut() else { return self.begin_repairs(&[], &[Reverse(seq)]) };
        if first && !repairs.waiting.is_empty() {
            repairs.waiting.clear();
        }
        repairs.waiting.push(Reverse(seq));
    }

    /// Creates the state for retransmissions, when a segment is first lost or retransmitted.
    #[cold]
    fn begin_repairs(&mut self, rexmits: &[Transmission], waiting: &[Reverse<u64>]) {
        let (rexmits, waiting) = (rexmits.iter().copied().collect(), waiting.iter().copied().collect());
        self.repairs = Some(Box::new(Repairs { waiting, rexmits, firsts: BTreeMap::new() }));
    }

    /// Lowest segment that is lost and not retransmitted since.
    pub fn next_lost(&mut self, departures: &Departures) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        let waiting = &mut self.repairs.as_deref_mut()?.waiting;
        while let Some(&Reverse(seq)) = waiting.peek() {
            if departures.get(seq).is_some_and(|departure| departure.lost() && !departure.delivered()) {
                return Some(seq);
            }
            waiting.pop();
        }
        None
    }

    /// Notes that segment `seq` is about to be retransmitted, at `now`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, for every segment sent again")]
    pub fn on_retransmit(&mut self, departures: &Departures, now: Time, seq: u64) {
        let departure = departures.get(seq);
        self.lost -= u32::from(departure.is_some_and(Departure::lost));
        match self.repairs.as_deref_mut() {
            Some(repairs) => repairs.sent_again(now, seq),
            None => self.begin_repairs(&[Transmission { at: now, seq }], &[]),
        }
        if let Some(departure) = departure.filter(|departure| !departure.again())
            && let Some(repairs) = self.repairs.as_deref_mut()
        {
            repairs.firsts.insert(seq, departure.time());
        }
    }

    /// First transmission time of segment `seq`, which was retransmitted.
    #[must_use]
    pub fn first_departure(&self, seq: u64) -> Option<Time> {
        self.repairs.as_deref()?.firsts.get(&seq).copied()
    }

    /// Time of the probe if nothing else happens to the outstanding segments, whose ACK may be delayed by `wait`
    /// (Section 7.2): at `rto_at` at the latest, and never without a round-trip sample since the last probe (7.3).
    #[inline]
    pub fn probe_at(&self, now: Time, wait: Span, srtt: Span, rto_at: Time) -> Time {
        let wait = Span(2 * srtt.0) + wait;
        if self.timed { (now + wait).min(rto_at) } else { Time::NEVER }
    }

    /// Ends the probe's episode because a recovery begins, which repairs its loss, too (Section 7.1).
    pub fn forget_probe(&mut self) {
        self.probe_end = NO_SEGMENT;
    }

    /// Segment that the probe retransmits if there is no new one: the last, unless it is SACKed (RFC 8985, Section 7.3).
    #[must_use]
    pub fn last_segment(&self, nxt: u64) -> Option<u64> {
        let last = nxt.checked_sub(1)?;
        self.runs.find(last).is_none().then_some(last)
    }

    /// Notes that the probe was sent; `again` if it is a retransmission.
    pub fn on_probe(&mut self, nxt: u64, again: bool) {
        (self.probe_end, self.probes_again) = (nxt, again);
        self.timed = false;
    }

    /// Whether the ACK says that the probe repaired a loss that was not detected otherwise (RFC 8985, Section 7.4).
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

/// Earlier of two departures, of a segment sent once and of a retransmitted one, as far as they exist; true if it is the
/// retransmitted one.
#[inline]
fn earlier(first: Option<Transmission>, resent: Option<Transmission>) -> Option<(Transmission, bool)> {
    let again = resent.is_some_and(|resent| first.is_none_or(|first| resent.order() < first.order()));
    Some((if again { resent } else { first }?, again))
}

#[cfg(test)]
mod tests;
