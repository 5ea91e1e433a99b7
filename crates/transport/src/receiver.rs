//! Receiver: the segments that have arrived, and the acknowledgements for them.
//!
//! Source: RFC 5681, Section 4.2 (every n-th in-order segment, at once when out of order or filling a hole), RFC 1122
//! 4.2.3.2 (delayed ACKs within a bound), Linux 6.12, `tcp_event_data_recv` (quick ACKs; facts, not text), RFC 2018, Section 4 (the block of the segment that triggered the ACK first, then
//! those most recently reported), RFC 2883 (a duplicate before them, if asked for), RFC 3168, Section 6.1.3 (echo until the sender says it has reduced), or
//! RFC 8257, Section 3.2 (echo what each segment carried). Linux 6.12, `tcp_gro_receive` (receive offload: segments in a row
//! with the same flags become one, up to a size, until the interface's poll is over).
//! Differs from RFC 8257: a segment out of order, or the last of a transfer, whose mark differs from that of the
//! pending segments acknowledges them with its own mark.

mod extra;
mod quick;
mod runs;

use crate::ack::{Ack, MAX_BLOCKS};
use crate::autotuning::Tuner;
use crate::ranges::Ranges;
use crate::sequence::NO_SEGMENT;
use base::{Flags, Header, PacketNumber, Span, Time};
use extra::{Extra, Merging};

/// Receiving end of one connection.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what every segment asks for, answered before")]
pub struct Receiver {
    next: u64,
    /// First segment of the open transfer: those below belong to a closed one.
    base: u64,
    /// One past the last segment of the transfer.
    end: u64,
    held: Ranges,
    timeout: Span,
    deadline: Time,
    /// Time at which the last segment in order arrived, and the pause after which ACKs are quick again.
    last: Time,
    quick_after: Span,
    /// Optional state.
    extra: Option<Box<Extra>>,
    /// Number of in-order segments not yet acknowledged.
    pending: u32,
    /// Window field of ACKs, where the window is tuned.
    tuning: u16,
    /// Number of further ACKs that are not delayed, and their number after a pause.
    quick: u8,
    quick_acks: u8,
    /// Number of in-order segments per acknowledgement, at most 64.
    delayed_ack: u8,
    /// Number of SACK blocks that ACKs carry; 0 without SACK.
    sack_blocks: u8,
    /// Whether each in-order segment is acknowledged when it arrives.
    acknowledges_each: bool,
    echo: bool,
    /// Whether each ACK reports only the marks of the segments that it acknowledges (DCTCP).
    every_mark: bool,
    /// Whether segments are merged, or the window still grows: the slow path.
    is_special: bool,
    /// Whether a transfer is announced and none of its segments has arrived.
    is_announced: bool,
    /// Whether the timestamp to be echoed is that of a retransmission: of the first segment that is not acknowledged
    /// (RFC 7323, 4.3).
    echoes_resent: bool,
}

impl Receiver {
    /// A receiver that acknowledges every `delayed_ack` in-order segments, or after `timeout`. `sack_blocks` is 0
    /// without SACK; 1 where no ACK can be lost on the way back (the first block of each then has all new information),
    /// else 3.
    #[must_use]
    pub fn new(delayed_ack: u32, timeout: Span, sack_blocks: usize) -> Self {
        let sack_blocks = sack_blocks.min(MAX_BLOCKS);
        Self {
            next: 0,
            base: 0,
            end: u64::MAX,
            held: Ranges::default(),
            timeout,
            deadline: Time::NEVER,
            last: Time::ZERO,
            quick_after: Span::ZERO,
            extra: (sack_blocks > 1).then(Box::default),
            delayed_ack: delayed_ack as u8,
            pending: 0,
            tuning: 0,
            quick: 0,
            quick_acks: 0,
            sack_blocks: sack_blocks as u8,
            acknowledges_each: delayed_ack == 1,
            echo: false,
            every_mark: false,
            is_special: false,
            is_announced: false,
            echoes_resent: false,
        }
    }

    /// Receiver that echoes marks segment by segment, as DCTCP needs it.
    #[must_use]
    pub fn echoing_every_mark(mut self) -> Self {
        self.every_mark = true;
        self
    }

    #[inline]
    fn merging(&mut self) -> Option<&mut Merging> {
        self.extra.as_deref_mut()?.merging.as_mut()
    }

    #[inline]
    fn tuner(&mut self) -> Option<&mut Tuner> {
        self.extra.as_deref_mut()?.tuner.as_mut()
    }

    /// Whether every segment needs the slow path.
    fn set_special(&mut self, is_special: bool) {
        self.is_special = is_special;
        self.acknowledges_each = self.delayed_ack == 1 && !is_special;
    }

    /// Receiver of a transfer that ends before segment `end`: the last segment is acknowledged at once, as its FIN makes it.
    #[must_use]
    pub fn until(mut self, end: u64) -> Self {
        self.end = end;
        self
    }

    /// Marks the segment before `end` as pushed: it is acknowledged at once.
    pub fn expect_end(&mut self, end: u64) {
        self.end = end;
    }

    /// Receiver that has not received anything, for segments numbered from `first`.
    #[must_use]
    pub fn beginning_at(mut self, first: u64) -> Self {
        (self.next, self.base) = (first, first);
        self
    }

    /// Segment of a packet with this number: no sender is further from the expected segment than
    /// [`crate::MAX_OUTSTANDING`].
    #[inline]
    #[must_use]
    pub fn segment(&self, number: PacketNumber) -> u64 {
        number.near(self.next)
    }

    /// Announces another transfer, with the segments from `first` up to `end`. Until one of them arrives, the receiver
    /// answers for the last transfer.
    pub fn announce(&mut self, first: u64, end: u64) {
        self.extra.get_or_insert_default().upcoming = (first, end);
        self.is_announced = true;
    }

    /// Opens the announced transfer when its first segment arrives.
    #[cold]
    fn accept(&mut self) {
        debug_assert!(self.held.is_empty());
        self.is_announced = false;
        (self.pending, self.deadline, self.echo, self.echoes_resent) = (0, Time::NEVER, false, false);
        self.quick = self.quick_acks;
        let extra = self.extra.get_or_insert_default();
        let (first, end) = std::mem::replace(&mut extra.upcoming, (NO_SEGMENT, NO_SEGMENT));
        extra.earlier += self.next - self.base;
        (self.next, self.base, self.end) = (first, first, end);
        if let Some(merging) = &mut extra.merging {
            // Segments that wait here belong to the last transfer, which is complete: they were sent again in vain.
            (merging.run, merging.due, merging.delayed) = ((first, first), Time::NEVER, Time::NEVER);
        }
        extra.recent = [NO_SEGMENT; MAX_BLOCKS];
        if let Some(tuner) = &mut extra.tuner {
            *tuner = tuner.renewed();
            self.set_special(true);
        }
    }

    /// Whether all of the transfer has arrived, and none is announced.
    #[inline]
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.next == self.end && !self.is_announced
    }

    /// Number of segments delivered to the application, in all transfers.
    #[inline]
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.next - self.base + self.extra.as_deref().map_or(0, |extra| extra.earlier)
    }

    /// Next expected segment (`rcv_nxt`); all below were delivered to the application.
    #[inline]
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Number of in-order segments per acknowledgement.
    #[inline]
    #[must_use]
    pub fn delayed_ack(&self) -> u32 {
        u32::from(self.delayed_ack)
    }

    /// Longest delay of a delayed acknowledgement.
    #[inline]
    #[must_use]
    pub fn timeout(&self) -> Span {
        self.timeout
    }

    /// Number of in-order segments not yet acknowledged; they are acknowledged at [`Self::deadline`] at the latest.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> u32 {
        self.pending
    }

    /// Time at which [`Self::on_timer`] must be called.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Takes the `header` of segment `seq`, which is about to arrive, in segments: the next ACK returns the feedback in it.
    #[inline]
    pub fn on_header(&mut self, seq: u64, header: &Header) {
        if seq >= self.base && header.feedback != 0.0 {
            self.note_granted(header.feedback);
        }
    }

    #[inline(never)]
    fn note_granted(&mut self, feedback: f32) {
        self.extra.get_or_insert_default().granted += feedback;
    }

    /// Processes segment `seq`. Returns whether it triggers an acknowledgement, which is then in `ack`. The caller
    /// provides `ack`, because copying fields that were just written would stall the processor.
    pub fn on_segment(&mut self, now: Time, seq: u64, flags: Flags, ack: &mut Ack) -> bool {
        if self.is_announced && self.extra.as_deref().is_some_and(|extra| seq >= extra.upcoming.0) {
            self.accept();
        } else if seq < self.base {
            return false;
        }
        if self.is_special {
            self.take_specially(now, seq, flags, ack)
        } else {
            self.take::<false>(now, seq, 1, flags, ack)
        }
    }

    /// Processes segment `seq` at a receiver that merges segments, or whose window still grows. Returns the same as
    /// [`Self::on_segment`].
    fn take_specially(&mut self, now: Time, seq: u64, flags: Flags, ack: &mut Ack) -> bool {
        if self.merging().is_some() { self.merge(now, seq, flags, ack) } else { self.take_run(now, seq, 1, flags, ack) }
    }

    /// Adds segment `seq` to those that wait to be delivered, or makes it the first of the next. Returns the same as
    /// [`Self::on_segment`].
    fn merge(&mut self, now: Time, seq: u64, flags: Flags, ack: &mut Ack) -> bool {
        // Only the first arrival counts, because the application may have written more before a retransmission arrives.
        let is_last = seq + 1 == self.end && seq >= self.next;
        let Some(merging) = self.merging() else { return false };
        let (start, end) = merging.run;
        if start < end && end == seq && merging.flags == flags {
            merging.run.1 += 1;
            let full = seq + 1 - start >= u64::from(merging.coalescing.segments);
            return (full || is_last) && self.hand_over(now, ack);
        }
        let acknowledges = self.hand_over(now, ack);
        if let Some(merging) = self.merging() {
            (merging.run, merging.flags) = ((seq, seq + 1), flags);
            merging.due = if is_last { now } else { now + merging.coalescing.wait };
            self.deadline = merging.due.min(merging.delayed);
        }
        acknowledges
    }

    /// Passes merged segments to TCP. Returns the same as [`Self::on_segment`].
    fn hand_over(&mut self, now: Time, ack: &mut Ack) -> bool {
        let Some(merging) = self.merging() else { return false };
        let ((start, end), flags, delayed) = (merging.run, merging.flags, merging.delayed);
        (merging.run.0, merging.due) = (end, Time::NEVER);
        self.deadline = delayed;
        let acknowledges = start < end && self.take_run(now, start, end - start, flags, ack);
        let deadline = self.deadline;
        if let Some(merging) = self.merging() {
            merging.delayed = deadline;
        }
        acknowledges
    }

    /// The same as [`Self::take`] for several segments; a function of its own so that the one for plain receivers stays
    /// inlined.
    #[inline(never)]
    fn take_run(&mut self, now: Time, seq: u64, n: u64, flags: Flags, ack: &mut Ack) -> bool {
        let next = self.next;
        if let Some(tuner) = self.tuner() {
            let new = (seq + n).saturating_sub(next).min(n) as u32;
            self.tuning = tuner.on_segments(now, next, new, flags);
        }
        let acknowledges = self.take::<true>(now, seq, n, flags, ack);
        let next = self.next;
        if let Some(tuner) = self.tuner() {
            if acknowledges {
                tuner.on_ack(now);
            }
            if tuner.on_read(now, next) {
                let stays = self.merging().is_some() || self.reports_duplicates();
                self.set_special(stays);
            }
        }
        acknowledges
    }

    /// Processes `n` segments from `seq` on. Returns the same as [`Self::on_segment`]. `REPORTS`: it may report duplicates.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "with one segment at once, which is the rule, it costs nothing to allow for more"
    )]
    fn take<const REPORTS: bool>(&mut self, now: Time, mut seq: u64, mut n: u64, flags: Flags, ack: &mut Ack) -> bool {
        if seq < self.next && seq + n > self.next {
            (seq, n) = (self.next, seq + n - self.next);
        }
        if seq == self.next && self.pending == 0 && flags.has(Flags::RETRANSMITTED) {
            self.echoes_resent = true;
        }
        let marked = flags.has(Flags::CE);
        if self.every_mark {
            // The pending segments carried the other mark. They are acknowledged separately, and this segment is the
            // first pending one. The last segment of a transfer acknowledges all of them with its own mark.
            let changes = marked != self.echo && self.pending > 0 && seq + n != self.end;
            if changes && seq == self.next && self.held.is_empty() {
                self.acknowledge(ack);
                self.echo = marked;
                self.next += n;
                self.pending = n as u32;
                // If these segments are enough for an immediate ACK, they get one of their own.
                self.deadline = if n > 1 && self.pending >= self.delayed_ack() { now } else { now + self.timeout };
                return true;
            }
            self.echo = marked;
        } else {
            if flags.has(Flags::CWR) {
                self.echo = false;
            }
            self.echo |= marked;
        }
        if seq == self.next && self.quick_acks > 0 {
            self.note_arrival(now);
        }
        if seq == self.next && self.held.is_empty() {
            self.next += n;
            self.pending += n as u32;
            let early = self.pending < self.delayed_ack() && self.next != self.end && self.quick == 0;
            if early && (!marked || self.every_mark) {
                if self.deadline == Time::NEVER {
                    self.deadline = now + self.timeout;
                }
                return false;
            }
            self.acknowledge(ack);
            return true;
        }
        if seq > self.next {
            let before = self.held.count();
            let run = self.held.insert(seq, seq + n, |_, _| {});
            self.acknowledge(ack);
            if REPORTS && self.held.count() == before {
                self.report_duplicate((seq, seq + n), ack);
            }
            match self.sack_blocks {
                0 => {}
                // No ACK is lost, so earlier ACKs have reported the other blocks.
                1 => ack.report(run),
                _ => {
                    self.remember(seq, run);
                    self.report_recent(ack);
                }
            }
            return true;
        }
        let is_new = seq == self.next;
        if is_new {
            self.next += n;
            while let Some((start, end)) = self.held.bottom()
                && start <= self.next
            {
                self.next = self.next.max(end);
                self.held.remove_below(self.next);
            }
        }
        self.acknowledge(ack);
        if REPORTS && !is_new {
            self.report_duplicate((seq, seq + n), ack);
        }
        self.report_recent(ack);
        true
    }

    /// Handles the timer, at [`Self::deadline`]. Returns whether `ack` is sent.
    pub fn on_timer(&mut self, now: Time, ack: &mut Ack) -> bool {
        if self.merging().is_some_and(|merging| merging.due <= now) && self.hand_over(now, ack) {
            return true;
        }
        if self.deadline > now {
            return false;
        }
        self.acknowledge(ack);
        self.report_recent(ack);
        if let Some(merging) = self.merging() {
            merging.delayed = Time::NEVER;
            self.deadline = merging.due;
        }
        if let Some(tuner) = self.tuner() {
            tuner.on_ack(now);
        }
        true
    }

    #[inline]
    fn acknowledge(&mut self, ack: &mut Ack) {
        self.quick = self.quick.saturating_sub(1);
        self.pending = 0;
        self.deadline = Time::NEVER;
        ack.renew(self.next, self.echo, self.tuning);
        ack.echoes_resent = std::mem::take(&mut self.echoes_resent);
        ack.feedback = self.extra.as_deref_mut().map_or(0.0, |extra| std::mem::take(&mut extra.granted));
    }

    /// Adds the blocks most recently reported, where ACKs may be lost.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every segment out of order")]
    fn report_recent(&self, ack: &mut Ack) {
        let Some(extra) = self.extra.as_deref().filter(|_| self.sack_blocks > 1 && !self.held.is_empty()) else {
            return;
        };
        for &seq in extra.recent.iter().filter(|&&seq| seq != NO_SEGMENT) {
            if let Some(run) = self.held.find(seq) {
                ack.report(run);
            }
        }
    }

    /// Puts `seq` in front, in place of an earlier report of the same `run`, or of the oldest one.
    fn remember(&mut self, seq: u64, run: (u64, u64)) {
        let Some(Extra { recent, .. }) = self.extra.as_deref_mut() else { return };
        let same = recent.iter().position(|&s| s != NO_SEGMENT && run.0 <= s && s < run.1);
        let last = same.unwrap_or(MAX_BLOCKS - 1);
        recent[..=last].rotate_right(1);
        recent[0] = seq;
    }
}

#[cfg(test)]
mod tests;
