//! Sequence numbers of a sender, counted in segments: acknowledged, outstanding, sent and offered ones, and the marks
//! for comparison with later ACKs.
//!
//! They have 64 bits and never wrap, so a mark may be arbitrarily old. Packets carry the low 32 bits
//! ([`base::PacketNumber`]).
//!
//! Source: RFC 9293, Section 3.3.1 (SND.UNA, SND.NXT); RFC 6582 (`recover`), RFC 6675 (`RecoveryPoint`); RFC 3168, 6.1.2
//! (one reduction per window); RFC 5681, equation 4 (ssthresh once per segment that times out).

/// Number that no segment has: all of them are below [`NO_END`].
pub const NO_SEGMENT: u64 = u64::MAX;

/// End of data without an end: larger than any number in a run.
pub const NO_END: u64 = 1 << 63;

/// Largest number of outstanding segments: within such a range 32 bits identify a segment (RFC 9293, 3.4, and RFC 7323, 2.3,
/// where windows end for the same reason).
pub const MAX_OUTSTANDING: u32 = (1 << 31) - 1;

/// Outstanding segments, from `una` up to `nxt`. For a round-trip sample: `una` after the ACK, `nxt` before the ACK
/// releases segments.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// First segment not acknowledged.
    pub una: u64,
    /// Next segment to send.
    pub nxt: u64,
}

/// Invariant: `base` <= `una` <= `nxt` <= `high` <= `data_end`.
#[derive(Clone, Debug)]
pub struct SequenceSpace {
    una: u64,
    nxt: u64,
    high: u64,
    data_end: u64,
    base: u64,
    marks: Marks,
}

impl SequenceSpace {
    /// Sequence numbers of a connection with `segments` to send, the first numbered `first`.
    #[must_use]
    pub fn new(first: u64, segments: u64) -> Self {
        let data_end = first.saturating_add(segments).min(NO_END);
        Self { una: first, nxt: first, high: first, data_end, base: first, marks: Marks::new(first) }
    }

    /// Numbers of another transfer of `segments`, after all of `last`. One number is left out, so that an ACK of the old
    /// connection acknowledges nothing of the new one.
    #[must_use]
    pub fn after(last: &Self, segments: u64) -> Self {
        Self::new(if last.high == last.base { last.base } else { last.high + 1 }, segments)
    }

    /// First segment not acknowledged.
    #[inline]
    #[must_use]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Next new segment, or after a timeout the next to be sent again (`snd_nxt`).
    #[inline]
    #[must_use]
    pub fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Outstanding segments.
    #[inline]
    #[must_use]
    pub fn out(&self) -> Outstanding {
        Outstanding { una: self.una(), nxt: self.nxt() }
    }

    /// One past the highest segment ever sent; above `nxt` only when going back.
    #[inline]
    #[must_use]
    pub fn high(&self) -> u64 {
        self.high
    }

    /// One past the last segment that the application offers.
    #[inline]
    #[must_use]
    pub fn data_end(&self) -> u64 {
        self.data_end
    }

    /// First segment of the transfer.
    #[inline]
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Segments sent and not acknowledged, up to `nxt`.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    /// Whether all data that the application offered is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.una == self.data_end
    }

    /// Segments acknowledged in this transfer.
    #[inline]
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.una - self.base
    }

    /// Segments offered and not yet sent, or to be sent again.
    #[inline]
    #[must_use]
    pub fn unsent(&self) -> u64 {
        self.data_end - self.nxt
    }

    /// Whether segments from before a timeout remain to be sent again.
    #[inline]
    #[must_use]
    pub fn is_going_back(&self) -> bool {
        self.nxt != self.high
    }

    /// Whether an ACK of everything below `cum` can belong to this transfer.
    #[inline]
    #[must_use]
    pub fn accepts(&self, cum: u64) -> bool {
        self.una <= cum && cum <= self.high
    }

    /// Moves `una` to `cum`.
    #[inline]
    pub fn acknowledge(&mut self, cum: u64) {
        debug_assert!(self.accepts(cum));
        self.una = cum;
        self.nxt = self.nxt.max(cum);
    }

    /// Advances `nxt` by one and returns the number of the segment to send; [`Self::on_transmit`] must follow.
    #[inline]
    pub fn take_next(&mut self) -> u64 {
        debug_assert!(self.nxt < self.data_end);
        self.nxt += 1;
        self.nxt - 1
    }

    /// Notes that `seq` is sent; returns whether it is a retransmission.
    #[inline]
    pub fn on_transmit(&mut self, seq: u64) -> bool {
        debug_assert!(self.una <= seq && seq <= self.high);
        let again = seq < self.high;
        if again {
            self.mark(Mark::Resent);
        } else {
            self.high = seq + 1;
        }
        again
    }

    /// Moves `una` up by `n` outstanding segments.
    #[inline]
    pub fn acknowledge_first(&mut self, n: u32) {
        debug_assert!(n <= self.outstanding());
        self.una += u64::from(n);
    }

    /// One past the last segment that may be sent with this `window`.
    #[inline]
    #[must_use]
    pub fn end_of_window(&self, window: u32) -> u64 {
        (self.una + u64::from(window)).min(self.data_end)
    }

    /// Notes that the next segment is sent for the first time. Returns its number.
    #[inline]
    pub fn send_new(&mut self) -> u64 {
        debug_assert!(!self.is_going_back() && self.nxt < self.data_end);
        self.nxt += 1;
        self.high = self.nxt;
        self.nxt - 1
    }

    /// Notes that the next `n` segments are sent for the first time.
    #[inline]
    pub fn send_row(&mut self, n: u32) {
        debug_assert!(!self.is_going_back() && u64::from(n) <= self.unsent());
        self.nxt += u64::from(n);
        self.high = self.nxt;
    }

    /// Goes back to `una`: everything outstanding is sent again, in order.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// Adds `segments` of data; `None` for no end.
    pub fn offer(&mut self, segments: Option<u64>) {
        self.data_end = segments.map_or(NO_END, |segments| self.data_end.saturating_add(segments).min(NO_END));
    }

    /// Ends the data after the segments sent.
    pub fn stop(&mut self) {
        self.data_end = self.data_end.min(self.high);
    }

    /// Whether everything between sender and receiver was sent once, in order: a segment sent after the last
    /// retransmission has been acknowledged, and paths keep the order of a flow.
    #[inline]
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        self.marks.is_past(Mark::Resent, self.una)
    }

    /// Begins a recovery, which ends when everything sent up to now is acknowledged.
    pub fn begin_recovery(&mut self) {
        self.mark(Mark::Recovery);
    }

    /// Whether everything sent before the last recovery began is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_recovered(&self) -> bool {
        self.marks.is_past(Mark::Recovery, self.una + 1)
    }

    /// Whether also a segment sent after the last recovery began is acknowledged: duplicate ACKs then show a new loss
    /// (RFC 6582, 3.2, step 1).
    #[inline]
    #[must_use]
    pub fn is_past_recovery(&self) -> bool {
        self.marks.is_past(Mark::Recovery, self.una)
    }

    /// Whether a segment was sent that had not been when the last recovery began.
    #[inline]
    #[must_use]
    pub fn has_sent_past_recovery(&self) -> bool {
        self.marks.is_past(Mark::Recovery, self.high)
    }

    /// Notes that a congestion echo, or an equivalent, has reduced the window.
    pub fn mark_echo(&mut self) {
        self.mark(Mark::Echo);
    }

    /// Whether a congestion echo belongs to a window that no loss and no other echo has reduced.
    #[inline]
    #[must_use]
    pub fn is_past_echo(&self) -> bool {
        self.marks.is_past(Mark::Recovery, self.una) && self.marks.is_past(Mark::Echo, self.una)
    }

    /// Whether everything sent before the last counted congestion echo is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_past_mark(&self) -> bool {
        self.marks.is_past(Mark::Echo, self.una + 1)
    }

    /// Notes a timeout; returns whether it is the first one for this segment.
    pub fn on_timeout(&mut self) -> bool {
        let first = self.marks.is_past(Mark::Timeout, self.una);
        self.marks.put(Mark::Timeout, self.una, self.una);
        first
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.put(mark, self.una, self.high);
    }
}

/// Remembered sequence numbers.
#[derive(Clone, Copy, Debug)]
enum Mark {
    /// `high` when a segment was last retransmitted; at the beginning, the first segment.
    Resent,
    /// `high` at the last fast retransmit or timeout. RFC 6582's `recover` is the number before it.
    Recovery,
    /// `high` when a congestion echo last counted.
    Echo,
    /// `una` at the last timeout.
    Timeout,
}

/// Marks at or above `una`, stored as differences to it: those that `una` has passed are not needed, so 32 bits each
/// are enough.
#[derive(Clone, Debug)]
struct Marks {
    /// Number that `una` has reached.
    origin: u64,
    /// Distance of each mark above that plus one; 0 for a mark that was passed, or never set.
    above: [u32; 4],
}

impl Marks {
    fn new(first: u64) -> Self {
        let mut marks = Self { origin: first, above: [0; 4] };
        marks.put(Mark::Resent, first, first);
        marks
    }

    /// Whether `number`, at or above `una`, is above the mark.
    #[inline]
    fn is_past(&self, mark: Mark, number: u64) -> bool {
        number - self.origin >= u64::from(self.above[mark as usize])
    }

    /// Sets a mark at `number`, at or above `una`.
    #[inline]
    fn put(&mut self, mark: Mark, una: u64, number: u64) {
        if number - self.origin >= u64::from(u32::MAX) {
            self.move_to(una);
        }
        self.above[mark as usize] = (number - self.origin) as u32 + 1;
    }

    /// Removes the marks below `una`.
    #[cold]
    fn move_to(&mut self, una: u64) {
        for above in &mut self.above {
            *above = u64::from(*above).saturating_sub(una - self.origin) as u32;
        }
        self.origin = una;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of a sender of `data_end` segments that has sent `n`.
    fn sent(n: u64, data_end: u64) -> SequenceSpace {
        let mut seq = SequenceSpace::new(0, data_end);
        for expected in 0..n {
            let next = seq.take_next();
            assert_eq!((next, seq.on_transmit(next)), (expected, false));
        }
        seq
    }

    #[test]
    fn going_back_sends_old_numbers_again_and_then_new_ones() {
        let mut seq = sent(4, 10);
        seq.acknowledge(1);
        seq.go_back();
        assert_eq!((seq.nxt(), seq.high(), seq.outstanding(), seq.unsent()), (1, 4, 0, 9));
        assert!(seq.is_going_back());
        let again = |seq: &mut SequenceSpace| {
            let next = seq.take_next();
            seq.on_transmit(next)
        };
        assert_eq!([0; 4].map(|_| again(&mut seq)), [true, true, true, false]);
        assert!(!seq.is_going_back() && seq.high() == 5);
    }

    #[test]
    fn an_ack_beyond_where_the_sender_went_back_to_moves_both() {
        let mut seq = sent(5, 10);
        seq.go_back();
        seq.acknowledge(3);
        assert_eq!((seq.una(), seq.nxt(), seq.high()), (3, 3, 5));
    }

    #[test]
    fn accepts_only_acks_between_una_and_nxt() {
        let mut seq = sent(5, 10);
        seq.acknowledge(2);
        assert_eq!([1, 2, 5, 6].map(|cum| seq.accepts(cum)), [false, true, true, false]);
    }

    #[test]
    fn is_pristine_when_a_segment_sent_after_the_last_retransmission_is_acknowledged() {
        let mut seq = sent(3, 10);
        assert!(seq.on_transmit(0));
        seq.acknowledge(3);
        assert!(!seq.is_pristine(), "the ACK may be for the segment that was sent twice");
        let next = seq.take_next();
        seq.on_transmit(next);
        seq.acknowledge(4);
        assert!(seq.is_pristine());
    }

    #[test]
    fn a_recovery_ends_at_its_point_and_another_may_begin_one_later() {
        let mut seq = sent(6, 10);
        assert!(seq.is_recovered() && seq.is_past_recovery(), "before any mark");
        seq.begin_recovery();
        let mut after = |cum| {
            seq.acknowledge(cum);
            (seq.is_recovered(), seq.is_past_recovery())
        };
        assert_eq!(after(5), (false, false));
        assert_eq!(after(6), (true, false));
        let next = seq.take_next();
        seq.on_transmit(next);
        seq.acknowledge(7);
        assert!(seq.is_past_recovery());
    }

    #[test]
    fn an_echo_counts_once_per_window_and_not_beside_a_loss() {
        let mut seq = sent(4, 10);
        assert!(seq.is_past_echo());
        seq.mark_echo();
        seq.acknowledge(4);
        assert!(!seq.is_past_echo());
        for _ in 4..8 {
            let next = seq.take_next();
            seq.on_transmit(next);
        }
        seq.acknowledge(5);
        assert!(seq.is_past_echo());
        seq.begin_recovery();
        seq.acknowledge(8);
        assert!(!seq.is_past_echo(), "the loss was of the same window");
    }

    #[test]
    fn on_timeout_returns_whether_it_is_the_first_timeout_of_the_segment() {
        let mut seq = sent(3, 10);
        assert_eq!([seq.on_timeout(), seq.on_timeout()], [true, false]);
        seq.acknowledge(1);
        assert!(seq.on_timeout());
    }

    #[test]
    fn a_transfer_begins_one_number_after_the_end_of_the_last() {
        assert_eq!(SequenceSpace::after(&SequenceSpace::new(0, 9), 5).base(), 0, "nothing was sent");
        let next = SequenceSpace::after(&sent(4, 4), 5);
        assert_eq!((next.base(), next.una(), next.nxt(), next.high(), next.data_end()), (5, 5, 5, 5, 10));
        assert!(!next.accepts(4) && !next.is_pristine());
        assert_eq!(SequenceSpace::after(&sent(4, 4), NO_END).data_end(), NO_END);
    }

    #[test]
    fn a_window_ends_with_the_data() {
        let mut seq = sent(4, 10);
        seq.acknowledge_first(1);
        assert_eq!([0, 4, 9, 10, u32::MAX].map(|window| seq.end_of_window(window)), [1, 5, 10, 10, 10]);
        assert_eq!((seq.send_new(), seq.nxt(), seq.high()), (4, 5, 5));
    }

    /// Takes ACKs of `segments`, which release as many.
    fn slide(seq: &mut SequenceSpace, segments: u32) {
        seq.send_row(segments);
        seq.acknowledge_first(segments);
    }

    #[test]
    fn a_run_of_acks_advances_una_nxt_and_high() {
        let mut seq = sent(4, 10);
        slide(&mut seq, 3);
        assert_eq!((seq.una(), seq.nxt(), seq.high(), seq.acknowledged(), seq.unsent()), (3, 7, 7, 3, 3));
        seq.stop();
        assert_eq!(seq.unsent(), 0);
    }

    #[test]
    fn marked_sequence_numbers_stay_valid_after_more_than_2_to_the_32_segments() {
        // 3 * 2^31 at a time: by a number of 32 bits, every second mark would seem to lie ahead.
        let mut seq = sent(4, NO_END);
        for _ in 0..5 {
            let next = seq.take_next();
            assert!(!seq.on_transmit(next) && seq.on_transmit(next), "sent again at once");
            seq.begin_recovery();
            assert_eq!([seq.on_timeout(), seq.on_timeout()], [true, false]);
            seq.mark_echo();
            let high = seq.high;
            let seen = |seq: &SequenceSpace| {
                [seq.is_pristine(), seq.is_recovered(), seq.is_past_recovery(), seq.is_past_echo()]
            };
            let all_but_one = seq.outstanding() - 1;
            slide(&mut seq, all_but_one);
            assert_eq!(seen(&seq), [false; 4]);
            slide(&mut seq, 1);
            assert_eq!(seen(&seq), [false, true, false, false]);
            for _ in 0..3 {
                // As runs of ACKs do it, where nothing looks at the marks.
                let passed = 1 << 31;
                (seq.una, seq.nxt, seq.high) = (seq.una + passed, seq.nxt + passed, seq.high + passed);
                assert_eq!(seen(&seq), [true; 4]);
            }
            assert_eq!(seq.una(), high + (3 << 31));
        }
        assert!(seq.acknowledged() > 7 << 32);
    }
}
