//! The receiver: what has arrived, and which acknowledgements that makes.
//!
//! Source: RFC 5681, Section 4.2 (every n-th in-order segment, at once when out of order or filling a hole), RFC 1122
//! 4.2.3.2 (delayed ACKs within a bound), RFC 2018, Section 4 (the block of the segment that triggered the ACK first, then
//! those most recently reported), RFC 3168, Section 6.1.3 (echo until the sender says it has reduced), or
//! RFC 8257, Section 3.2 (echo what each segment carried).
//! Differs from RFC 8257: a segment out of order, or the last of a transfer, that carries another mark than those pending
//! acknowledges them with its own.

use crate::ack::{Ack, MAX_BLOCKS};
use crate::ranges::Ranges;
use crate::sequence::NO_SEGMENT;
use base::{Flags, Header, PacketNumber, Span, Time};

/// The receiving end of one connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u64,
    /// The first segment of the transfer that is open: what is below belongs to one that is closed.
    base: u64,
    /// One past the last segment of the transfer.
    end: u64,
    /// First segment and end of the transfer that comes next, once its sender has opened it.
    upcoming: (u64, u64),
    /// Numbers below `next` that no segment has.
    skipped: u64,
    held: Ranges,
    delayed_ack: u32,
    timeout: Span,
    /// In-order segments not yet acknowledged.
    pending: u32,
    deadline: Time,
    echo: bool,
    /// Whether each ACK reports the marks of just the segments that it acknowledges.
    every_mark: bool,
    /// Whether ACKs carry SACK blocks, and how many are needed.
    sack_blocks: usize,
    /// Segments whose blocks were reported last, most recent first.
    recent: [u64; MAX_BLOCKS],
    /// What routers granted since the last ACK.
    granted: f32,
    ack: Ack,
}

impl Receiver {
    /// A receiver that acknowledges every `delayed_ack` in-order segments, or after `timeout`. `sack_blocks` is 0
    /// without SACK; 1 where no ACK can be lost on the way back (the first block of each then says all there is to
    /// know), else 3.
    #[must_use]
    pub fn new(delayed_ack: u32, timeout: Span, sack_blocks: usize) -> Self {
        Self {
            next: 0,
            base: 0,
            end: u64::MAX,
            upcoming: (NO_SEGMENT, NO_SEGMENT),
            skipped: 0,
            held: Ranges::default(),
            delayed_ack,
            timeout,
            pending: 0,
            deadline: Time::NEVER,
            echo: false,
            every_mark: false,
            sack_blocks: sack_blocks.min(MAX_BLOCKS),
            recent: [NO_SEGMENT; MAX_BLOCKS],
            granted: 0.0,
            ack: Ack::new(0, &[], false),
        }
    }

    /// The same, echoing marks segment by segment as DCTCP needs it.
    #[must_use]
    pub fn echoing_every_mark(mut self) -> Self {
        self.every_mark = true;
        self
    }

    /// The same of a transfer that ends before segment `end`: the last segment is acknowledged at once, as its FIN makes it.
    #[must_use]
    pub fn until(mut self, end: u64) -> Self {
        self.end = end;
        self
    }

    /// The same, which has got nothing, of segments that count from `first`.
    #[must_use]
    pub fn beginning_at(mut self, first: u64) -> Self {
        (self.next, self.base, self.skipped) = (first, first, first);
        self
    }

    /// The segment that a packet with this number carries: no sender is further from what is expected next than
    /// [`crate::MAX_OUTSTANDING`].
    #[inline]
    #[must_use]
    pub fn segment(&self, number: PacketNumber) -> u64 {
        number.near(self.next)
    }

    /// Another transfer opens: segments from `first` up to `end` are its own. Until one of them arrives, the receiver knows
    /// nothing of it and answers for the last one.
    pub fn announce(&mut self, first: u64, end: u64) {
        self.upcoming = (first, end);
    }

    /// The first segment of the announced transfer to arrive opens it here.
    #[cold]
    fn accept(&mut self) {
        debug_assert!(self.held.is_empty());
        let (first, end) = self.upcoming;
        self.skipped += first - self.next;
        (self.next, self.base, self.end) = (first, first, end);
        self.upcoming = (NO_SEGMENT, NO_SEGMENT);
        (self.pending, self.deadline, self.echo) = (0, Time::NEVER, false);
        self.recent = [NO_SEGMENT; MAX_BLOCKS];
    }

    /// Segments delivered to the application, of all transfers.
    #[inline]
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.next - self.skipped
    }

    /// The segment expected next; everything below was delivered to the application.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether every in-order segment is acknowledged at once and nothing is out of order.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.delayed_ack == 1 && self.held.is_empty() && !self.echo && self.upcoming.0 == NO_SEGMENT
    }

    /// `n` segments in order, each acknowledged, when [`Self::is_plain`].
    #[inline]
    pub fn take_plain(&mut self, n: u32) {
        debug_assert!(self.is_plain());
        self.next += u64::from(n);
    }

    /// When [`Self::on_timer`] wants to be called.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The acknowledgement last made. It stays where it was made: copying what was just written in pieces would stall.
    #[inline]
    #[must_use]
    pub fn ack(&self) -> &Ack {
        &self.ack
    }

    /// Segment `seq`, about to arrive, carries `header`, in segments: the next ACK returns what it grants.
    #[inline]
    pub fn on_header(&mut self, seq: u64, header: &Header) {
        if seq >= self.base {
            self.granted += header.feedback;
        }
    }

    /// Segment `seq` arrives. Returns whether it triggers an acknowledgement, which is then [`Self::ack`].
    pub fn on_segment(&mut self, now: Time, seq: u64, flags: Flags) -> bool {
        if seq >= self.upcoming.0 {
            self.accept();
        } else if seq < self.base {
            return false;
        }
        let marked = flags.has(Flags::CE);
        if self.every_mark {
            // What is pending carried the other mark: it is acknowledged by itself, and this segment begins anew.
            // The last segment leaves no time for that: its own mark stands for all.
            let changes = marked != self.echo && self.pending > 0 && seq + 1 != self.end;
            if changes && seq == self.next && self.held.is_empty() {
                self.acknowledge();
                self.echo = marked;
                self.next += 1;
                self.pending = 1;
                self.deadline = now + self.timeout;
                return true;
            }
            self.echo = marked;
        } else {
            if flags.has(Flags::CWR) {
                self.echo = false;
            }
            self.echo |= marked;
        }
        if seq == self.next && self.held.is_empty() {
            self.next += 1;
            self.pending += 1;
            let early = self.pending < self.delayed_ack && self.next != self.end;
            if early && (!marked || self.every_mark) {
                if self.deadline == Time::NEVER {
                    self.deadline = now + self.timeout;
                }
                return false;
            }
            self.acknowledge();
            return true;
        }
        if seq > self.next {
            let run = self.held.insert(seq, seq + 1, |_, _| {});
            self.acknowledge();
            match self.sack_blocks {
                0 => {}
                // Every ACK arrives: what it does not repeat was said before.
                1 => self.ack.report(run),
                _ => {
                    self.remember(seq, run);
                    self.report_recent();
                }
            }
            return true;
        }
        if seq == self.next {
            self.next += 1;
            if let Some(&(start, end)) = self.held.runs().first()
                && start == self.next
            {
                self.next = end;
                self.held.remove_below(end);
            }
        }
        self.acknowledge();
        self.report_recent();
        true
    }

    /// The delayed-ACK timer, at [`Self::deadline`]: [`Self::ack`] leaves.
    pub fn on_timer(&mut self) {
        self.acknowledge();
        self.report_recent();
    }

    fn acknowledge(&mut self) {
        self.pending = 0;
        self.deadline = Time::NEVER;
        self.ack.renew(self.next, self.echo);
        self.ack.feedback = std::mem::take(&mut self.granted);
    }

    /// Adds the blocks most recently reported, where ACKs may be lost.
    fn report_recent(&mut self) {
        if self.sack_blocks > 1 && !self.held.is_empty() {
            for &seq in self.recent.iter().filter(|&&seq| seq != NO_SEGMENT) {
                if let Some(run) = self.held.find(seq) {
                    self.ack.report(run);
                }
            }
        }
    }

    /// Puts `seq` in front; an earlier report of the same `run`, or the oldest, makes room.
    fn remember(&mut self, seq: u64, run: (u64, u64)) {
        let same = self.recent.iter().position(|&s| s != NO_SEGMENT && run.0 <= s && s < run.1);
        let last = same.unwrap_or(MAX_BLOCKS - 1);
        self.recent[..=last].rotate_right(1);
        self.recent[0] = seq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_blocks_as_the_example_of_rfc_2018() {
        // Section 7, case 3 in segments: 0 arrives, 1 is lost, 2 arrives, 3 is lost, 4 arrives, 5 lost, 6 arrives; then
        // 3 (the fourth of the RFC's) comes late, and 1.
        let mut receiver = Receiver::new(1, Span::ZERO, 3);
        let mut on = |seq| {
            assert!(receiver.on_segment(Time::ZERO, seq, Flags::NONE), "every segment is acknowledged");
            *receiver.ack()
        };
        assert_eq!(on(0), Ack::new(1, &[], false));
        assert_eq!(on(2), Ack::new(1, &[(2, 3)], false));
        assert_eq!(on(4), Ack::new(1, &[(4, 5), (2, 3)], false));
        assert_eq!(on(6), Ack::new(1, &[(6, 7), (4, 5), (2, 3)], false));
        assert_eq!(on(3), Ack::new(1, &[(2, 5), (6, 7)], false));
        assert_eq!(on(1), Ack::new(5, &[(6, 7)], false));
        assert_eq!(on(5), Ack::new(7, &[], false));
    }

    #[test]
    fn delays_in_order_acks_only() {
        let mut receiver = Receiver::new(2, Span::millis(200), 3);
        assert!(!receiver.on_segment(Time::ZERO, 0, Flags::NONE));
        assert_eq!(receiver.deadline(), Time::ZERO + Span::millis(200));
        receiver.on_timer();
        assert_eq!(*receiver.ack(), Ack::new(1, &[], false));
        assert!(!receiver.on_segment(Time::ZERO, 1, Flags::NONE));
        assert!(receiver.on_segment(Time::ZERO, 3, Flags::NONE));
        assert_eq!(*receiver.ack(), Ack::new(2, &[(3, 4)], false));
        assert!(receiver.on_segment(Time::ZERO, 2, Flags::NONE));
        assert_eq!(*receiver.ack(), Ack::new(4, &[], false));
        assert_eq!(receiver.deadline(), Time::NEVER);
    }

    #[test]
    fn an_ack_returns_what_was_granted_since_the_last() {
        let mut receiver = Receiver::new(2, Span::millis(200), 3);
        let mut on = |seq, feedback| {
            receiver.on_header(seq, &Header { rtt: 0.1, cwnd: 10.0, feedback });
            receiver.on_segment(Time::ZERO, seq, Flags::NONE).then(|| receiver.ack().feedback)
        };
        assert_eq!(on(0, 1.5), None);
        assert_eq!(on(1, -0.25), Some(1.25));
        assert_eq!(on(3, 2.0), Some(2.0), "out of order");
        assert_eq!(on(2, 0.5), Some(0.5));
        assert_eq!(on(4, f32::INFINITY), None);
        assert_eq!(on(5, 1.0), Some(f32::INFINITY), "one met no router");
    }

    #[test]
    fn echoes_each_mark_and_no_other_when_asked() {
        // RFC 8257, Figure 1: a change of the mark acknowledges what came before it, with the old mark.
        let mut receiver = Receiver::new(2, Span::millis(40), 0).echoing_every_mark();
        let mut on = |seq, marked: bool| {
            let flags = if marked { Flags::ECT.with(Flags::CE) } else { Flags::ECT };
            receiver.on_segment(Time::ZERO, seq, flags).then(|| (receiver.ack().cum, receiver.ack().ece))
        };
        assert_eq!(on(0, false), None);
        assert_eq!(on(1, true), Some((1, false)), "0 was not marked");
        assert_eq!(on(2, true), Some((3, true)));
        assert_eq!(on(3, true), None);
        assert_eq!(on(4, false), Some((4, true)));
        assert_eq!(on(5, false), Some((6, false)));
    }

    #[test]
    fn echoes_congestion_until_the_sender_has_reduced() {
        let mut receiver = Receiver::new(1, Span::ZERO, 0);
        let mut echo = |seq, flags| receiver.on_segment(Time::ZERO, seq, flags) && receiver.ack().ece;
        assert!(!echo(0, Flags::ECT));
        assert!(echo(1, Flags::ECT.with(Flags::CE)));
        assert!(echo(2, Flags::ECT));
        assert!(!echo(3, Flags::ECT.with(Flags::CWR)));
    }
}
