//! RACK-TLP: a segment is lost when one sent later has arrived, and a probe goes out when ACKs stop coming.
//!
//! Source: RFC 8985, Sections 6 (RACK) and 7 (TLP).
//! Differs from the source: no path here reorders one flow, so reordering is never seen and the window for it does not
//! adapt (receivers send no DSACK); its timer judges together what left before the latest arrival, at most the gap
//! between two departures late, and runs beside the retransmission timer; the probe's budget for delayed ACKs is the
//! flow's own.
//! Differs from Linux: no F-RTO (RFC 5682) after a timeout.

use crate::ack::Ack;
use crate::departures::{Departure, Departures};
use crate::ranges::Ranges;
use crate::scoreboard::DUP_THRESH;
use crate::sequence::NO_SEGMENT;
use base::{Span, Time};
use std::collections::VecDeque;

/// What RACK-TLP knows of one connection.
#[derive(Clone, Debug)]
pub struct Rack {
    departures: Departures,
    runs: Ranges,
    sacked: u32,
    /// Lost and not sent since.
    lost: u32,
    /// Taken for lost since the last [`Self::take_newly_lost`].
    newly_lost: Vec<u64>,
    /// First transmissions of segments below this are judged: delivered, lost, or sent again.
    cursor: u64,
    /// Retransmissions in the order sent; those since delivered, lost or sent again are skipped.
    rexmits: VecDeque<(Time, u64)>,
    /// No segment below this waits to be sent again.
    hint: u64,
    /// `RACK.xmit_ts` and `RACK.segment`: the latest departure among what was delivered.
    latest: (Time, u64),
    /// `RACK.rtt`.
    rtt: Span,
    /// `RACK.reo_wnd`, as of the last ACK.
    window: Span,
    /// `TLP.end_seq` and `TLP.is_retrans` of the probe that is out.
    probe: Option<(u64, bool)>,
    /// Whether there was a round-trip sample since the last probe, or at all.
    timed: bool,
    /// How many in-order segments the receiver acknowledges together, and how long it may wait for that.
    delayed_ack: (u32, Span),
}

impl Rack {
    /// A connection whose receiver acknowledges every so many segments, or after so long.
    #[must_use]
    pub fn new(delayed_ack: (u32, Span)) -> Self {
        Self {
            departures: Departures::default(),
            runs: Ranges::default(),
            sacked: 0,
            lost: 0,
            newly_lost: Vec::new(),
            cursor: 0,
            rexmits: VecDeque::new(),
            hint: NO_SEGMENT,
            latest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            window: Span::ZERO,
            probe: None,
            timed: false,
            delayed_ack,
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
        self.sacked == 0 && self.lost == 0 && self.probe.is_none()
    }

    /// Steps 1 to 3: takes in an ACK. `una` is the value before it. Returns how many segments it SACKs for the first time, and
    /// calls `on_new` with them.
    pub fn update(&mut self, now: Time, una: u64, ack: &Ack, min_rtt: Span, mut on_new: impl FnMut(u64, u64)) -> u32 {
        let mut runs = std::mem::take(&mut self.runs);
        if ack.cum > una {
            // What was SACKed before is not new.
            let mut seq = una;
            while seq < ack.cum {
                if let Some((_, end)) = runs.find(seq) {
                    seq = end;
                    continue;
                }
                self.delivered(now, seq, min_rtt);
                seq += 1;
            }
            self.sacked -= runs.remove_below(ack.cum);
        }
        let mut new = 0;
        for &(start, end) in ack.blocks() {
            if end > ack.cum {
                runs.insert(start.max(ack.cum), end, |s, e| {
                    new += (e - s) as u32;
                    on_new(s, e);
                    for seq in s..e {
                        self.delivered(now, seq, min_rtt);
                    }
                });
            }
        }
        self.runs = runs;
        self.sacked += new;
        if ack.cum > una {
            self.departures.advance(ack.cum);
        }
        new
    }

    fn delivered(&mut self, now: Time, seq: u64, min_rtt: Span) {
        let Some(departure) = self.departures.get(seq) else { return };
        self.lost -= u32::from(departure.lost());
        let rtt = now - departure.time();
        self.timed |= !departure.again();
        // The ACK of a segment sent twice that comes too soon is the first one's.
        if departure.again() && rtt < min_rtt {
            return;
        }
        if (departure.time(), seq) > self.latest {
            self.latest = (departure.time(), seq);
            self.rtt = rtt;
        }
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

    /// What was taken for lost since the last call.
    pub fn take_newly_lost(&mut self) -> std::vec::Drain<'_, u64> {
        self.newly_lost.drain(..)
    }

    /// Steps 4 and 5: marks what is lost by now; returns when the reordering timer has to expire for what may be soon.
    pub fn detect(&mut self, now: Time, (una, nxt): (u64, u64), recovering: bool, rtts: (Span, Span)) -> Time {
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
            self.lose(seq, again);
        }
        Time::NEVER
    }

    /// The timer expired (Section 6.3): the first segment is lost, and whatever is overdue.
    pub fn on_timeout(&mut self, now: Time, (una, nxt): (u64, u64)) {
        self.forget_probe();
        while let Some((left, seq, again)) = self.earliest(una, nxt)
            && left + self.rtt + self.window <= now
        {
            self.lose(seq, again);
        }
        if una < nxt && self.departures.lose(una) {
            self.count_lost(una);
        }
    }

    /// The earliest departure whose segment is neither delivered nor taken for lost: when, which, and whether again.
    fn earliest(&mut self, una: u64, nxt: u64) -> Option<(Time, u64, bool)> {
        self.cursor = self.cursor.max(una);
        let first = loop {
            if self.cursor >= nxt {
                break None;
            }
            if let Some((_, end)) = self.runs.find(self.cursor) {
                self.cursor = end;
                continue;
            }
            match self.departures.get(self.cursor) {
                Some(departure) if !departure.again() && !departure.lost() => {
                    break Some((departure.time(), self.cursor, false));
                }
                _ => self.cursor += 1,
            }
        };
        let again = loop {
            let Some(&(left, seq)) = self.rexmits.front() else { break None };
            let current = self.departures.get(seq).filter(|d| d.time() == left && !d.lost());
            if current.is_some() && seq >= una && self.runs.find(seq).is_none() {
                break Some((left, seq, true));
            }
            self.rexmits.pop_front();
        };
        first.into_iter().chain(again).min()
    }

    fn lose(&mut self, seq: u64, again: bool) {
        if again {
            self.rexmits.pop_front();
        } else {
            self.cursor = seq + 1;
        }
        if self.departures.lose(seq) {
            self.count_lost(seq);
        }
    }

    fn count_lost(&mut self, seq: u64) {
        self.lost += 1;
        self.newly_lost.push(seq);
        self.hint = self.hint.min(seq);
    }

    /// The lowest segment that is lost and not sent since.
    pub fn next_lost(&mut self, una: u64, nxt: u64) -> Option<u64> {
        if self.lost == 0 {
            self.hint = NO_SEGMENT;
            return None;
        }
        let mut seq = self.hint.max(una);
        while seq < nxt {
            if let Some((_, end)) = self.runs.find(seq) {
                seq = end;
            } else if self.departures.get(seq).is_some_and(Departure::lost) {
                self.hint = seq;
                return Some(seq);
            } else {
                seq += 1;
            }
        }
        None
    }

    /// Segment `seq` is about to be sent again, at `now`.
    pub fn on_retransmit(&mut self, now: Time, seq: u64) {
        self.lost -= u32::from(self.departures.get(seq).is_some_and(Departure::lost));
        self.rexmits.push_back((now, seq));
    }

    /// Section 7.2: when the probe should leave, if nothing else happens to the `flight` segments outstanding: at
    /// `rto_at` at the latest, and never without a round-trip sample since the last probe (7.3).
    #[inline]
    pub fn probe_at(&self, now: Time, flight: u32, srtt: Span, rto_at: Time) -> Time {
        let wait = Span(2 * srtt.0) + if self.expects_delayed_ack(flight) { self.delayed_ack.1 } else { Span::ZERO };
        if self.timed { (now + wait).min(rto_at) } else { Time::NEVER }
    }

    /// Whether the receiver may delay the ACK of so few segments.
    #[inline]
    #[must_use]
    pub fn expects_delayed_ack(&self, flight: u32) -> bool {
        flight < self.delayed_ack.0
    }

    /// Section 7.1: a recovery begins, and what the probe was about is repaired in it.
    pub fn forget_probe(&mut self) {
        self.probe = None;
    }

    /// Section 7.3: the segment that the probe sends again, if there is no new one: the last, unless it is SACKed.
    #[must_use]
    pub fn last_segment(&self, nxt: u64) -> Option<u64> {
        let last = nxt.checked_sub(1)?;
        self.runs.find(last).is_none().then_some(last)
    }

    /// The probe left; `again` if it is a retransmission.
    pub fn on_probe(&mut self, nxt: u64, again: bool) {
        self.probe = Some((nxt, again));
        self.timed = false;
    }

    /// Section 7.4: whether the ACK says that the probe repaired a loss that nobody else noticed.
    pub fn probe_repaired(&mut self, ack: &Ack, progress: bool, sacked: u32) -> bool {
        let Some((end, again)) = self.probe else { return false };
        if ack.cum < end {
            return false;
        }
        let duplicate = !progress && sacked == 0;
        if !again || duplicate || ack.cum > end {
            self.probe = None;
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
