//! A sender's sequence numbers, counted in segments: what is acknowledged, outstanding, sent and offered, and the marks that
//! later ACKs are compared with.
//!
//! Source: RFC 9293, Section 3.3.1 (SND.UNA, SND.NXT); RFC 6582 (`recover`), RFC 6675 (`RecoveryPoint`); RFC 3168, 6.1.2
//! (one reduction per window); RFC 5681, equation 4 (ssthresh once per segment that times out).

/// A number that no segment has.
pub const NO_SEGMENT: u32 = u32::MAX;

/// `base` <= `una` <= `nxt` <= `high` <= `data_end`, always.
#[derive(Clone, Debug)]
pub struct SequenceSpace {
    una: u32,
    nxt: u32,
    high: u32,
    data_end: u32,
    base: u32,
    /// `high` when a segment was last retransmitted.
    resent: u32,
    /// `high` at the last fast retransmit or timeout. RFC 6582's `recover` is the number before it.
    recovery_point: Option<u32>,
    /// `high` when a congestion echo last counted.
    echo_point: Option<u32>,
    /// `una` at the last timeout.
    timed_out: Option<u32>,
}

impl SequenceSpace {
    /// Nothing of `data_end` segments has been sent.
    #[must_use]
    pub fn new(data_end: u32) -> Self {
        Self {
            una: 0,
            nxt: 0,
            high: 0,
            data_end,
            base: 0,
            resent: 0,
            recovery_point: None,
            echo_point: None,
            timed_out: None,
        }
    }

    /// Another transfer of `segments`, with numbers after all of `last`. They leave one out, so that an ACK of the old
    /// connection acknowledges nothing of the new one.
    #[must_use]
    pub fn after(last: &Self, segments: u32) -> Self {
        let first = if last.high == 0 { 0 } else { last.high + 1 };
        // What would need more numbers than there are is more than any run passes that may begin.
        let data_end = first.saturating_add(segments).min(NO_SEGMENT - 1);
        Self { una: first, nxt: first, high: first, base: first, resent: first, ..Self::new(data_end) }
    }

    /// First segment not acknowledged.
    #[inline]
    #[must_use]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Next new segment, or the next to be sent again when going back.
    #[inline]
    #[must_use]
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    /// One past the highest segment ever sent; above `nxt` only when going back.
    #[inline]
    #[must_use]
    pub fn high(&self) -> u32 {
        self.high
    }

    /// One past the last segment that the application offers.
    #[inline]
    #[must_use]
    pub fn data_end(&self) -> u32 {
        self.data_end
    }

    /// The first segment of the transfer.
    #[inline]
    #[must_use]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Segments sent and not acknowledged, as far as the sender has not gone back.
    #[inline]
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Segments acknowledged in this transfer.
    #[inline]
    #[must_use]
    pub fn acknowledged(&self) -> u32 {
        self.una - self.base
    }

    /// Segments offered that `nxt` has not passed.
    #[inline]
    #[must_use]
    pub fn unsent(&self) -> u32 {
        self.data_end - self.nxt
    }

    /// Whether the sender has gone back and not yet sent everything again.
    #[inline]
    #[must_use]
    pub fn is_going_back(&self) -> bool {
        self.nxt != self.high
    }

    /// Whether an ACK of everything below `cum` can be one of this transfer.
    #[inline]
    #[must_use]
    pub fn accepts(&self, cum: u32) -> bool {
        self.una <= cum && cum <= self.high
    }

    /// Everything below `cum` is acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, cum: u32) {
        debug_assert!(self.accepts(cum));
        self.una = cum;
        self.nxt = self.nxt.max(cum);
    }

    /// The next segment is about to leave: [`Self::on_transmit`] follows.
    #[inline]
    pub fn take_next(&mut self) -> u32 {
        debug_assert!(self.nxt < self.data_end);
        self.nxt += 1;
        self.nxt - 1
    }

    /// `seq` leaves; returns whether it is a retransmission.
    #[inline]
    pub fn on_transmit(&mut self, seq: u32) -> bool {
        debug_assert!(self.una <= seq && seq <= self.high);
        let again = seq < self.high;
        if again {
            self.resent = self.high;
        } else {
            self.high = seq + 1;
        }
        again
    }

    /// The first segment outstanding is acknowledged.
    #[inline]
    pub fn acknowledge_one(&mut self) {
        debug_assert!(self.una < self.nxt);
        self.una += 1;
    }

    /// One past the last segment that a window of so many lets leave.
    #[inline]
    #[must_use]
    pub fn end_of_window(&self, window: u32) -> u32 {
        self.una.saturating_add(window).min(self.data_end)
    }

    /// The next segment leaves for the first time.
    #[inline]
    pub fn send_new(&mut self) -> u32 {
        debug_assert!(!self.is_going_back() && self.nxt < self.data_end);
        self.nxt += 1;
        self.high = self.nxt;
        self.nxt - 1
    }

    /// `acks` ACKs for the next segment each, every one of which released one new segment.
    #[inline]
    pub fn slide(&mut self, acks: u32) {
        debug_assert!(!self.is_going_back() && acks <= self.outstanding() && acks <= self.unsent());
        self.una += acks;
        self.nxt += acks;
        self.high = self.nxt;
    }

    /// Everything outstanding is to be sent again, in order.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// The application offers nothing more than what was sent.
    pub fn stop(&mut self) {
        self.data_end = self.data_end.min(self.high);
    }

    /// Whether everything between sender and receiver was sent once, in order: a segment sent after the last
    /// retransmission has been acknowledged, and paths keep the order of a flow.
    #[inline]
    #[must_use]
    pub fn is_pristine(&self) -> bool {
        self.una > self.resent
    }

    /// A recovery begins: it ends when what was sent up to now is acknowledged.
    pub fn begin_recovery(&mut self) {
        self.recovery_point = Some(self.high);
    }

    /// Whether all that was sent before the last recovery began is acknowledged.
    #[inline]
    #[must_use]
    pub fn is_recovered(&self) -> bool {
        self.recovery_point.is_none_or(|point| self.una >= point)
    }

    /// Whether more than that is acknowledged: duplicate ACKs then speak of a new loss (RFC 6582, 3.2, step 1).
    #[inline]
    #[must_use]
    pub fn is_past_recovery(&self) -> bool {
        self.recovery_point.is_none_or(|point| self.una > point)
    }

    /// A congestion echo counted, or what stands for one.
    pub fn mark_echo(&mut self) {
        self.echo_point = Some(self.high);
    }

    /// Whether a congestion echo belongs to a window that no loss and no other echo has reduced.
    #[inline]
    #[must_use]
    pub fn is_past_echo(&self) -> bool {
        self.recovery_point.max(self.echo_point).is_none_or(|point| self.una > point)
    }

    /// The retransmission timer expired; returns whether for the first time for this segment.
    pub fn on_timeout(&mut self) -> bool {
        self.timed_out.replace(self.una) != Some(self.una)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` segments of `data_end` have been sent.
    fn sent(n: u32, data_end: u32) -> SequenceSpace {
        let mut seq = SequenceSpace::new(data_end);
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
    fn accepts_acks_of_what_is_outstanding_only() {
        let mut seq = sent(5, 10);
        seq.acknowledge(2);
        assert_eq!([1, 2, 5, 6].map(|cum| seq.accepts(cum)), [false, true, true, false]);
    }

    #[test]
    fn is_pristine_when_a_segment_sent_after_the_last_retransmission_is_acknowledged() {
        let mut seq = sent(3, 10);
        assert!(seq.on_transmit(0));
        seq.acknowledge(3);
        assert!(!seq.is_pristine(), "3 may still wait for what was sent twice");
        let next = seq.take_next();
        seq.on_transmit(next);
        seq.acknowledge(4);
        assert!(seq.is_pristine());
    }

    #[test]
    fn a_recovery_ends_at_its_point_and_another_may_begin_one_later() {
        let mut seq = sent(6, 10);
        assert!(seq.is_recovered() && seq.is_past_recovery(), "before any");
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
    fn a_segment_times_out_for_the_first_time_once() {
        let mut seq = sent(3, 10);
        assert_eq!([seq.on_timeout(), seq.on_timeout()], [true, false]);
        seq.acknowledge(1);
        assert!(seq.on_timeout());
    }

    #[test]
    fn transfers_leave_a_number_out_between_them() {
        assert_eq!(SequenceSpace::after(&SequenceSpace::new(9), 5).base(), 0, "nothing was sent");
        let next = SequenceSpace::after(&sent(4, 4), 5);
        assert_eq!((next.base(), next.una(), next.nxt(), next.high(), next.data_end()), (5, 5, 5, 5, 10));
        assert!(!next.accepts(4) && !next.is_pristine());
        assert_eq!(SequenceSpace::after(&sent(4, 4), u32::MAX).data_end(), NO_SEGMENT - 1);
    }

    #[test]
    fn a_window_ends_with_the_data() {
        let mut seq = sent(4, 10);
        seq.acknowledge_one();
        assert_eq!([0, 4, 9, 10, u32::MAX].map(|window| seq.end_of_window(window)), [1, 5, 10, 10, 10]);
        assert_eq!((seq.send_new(), seq.nxt(), seq.high()), (4, 5, 5));
    }

    #[test]
    fn a_run_of_acks_slides_everything() {
        let mut seq = sent(4, 10);
        seq.slide(3);
        assert_eq!((seq.una(), seq.nxt(), seq.high(), seq.acknowledged(), seq.unsent()), (3, 7, 7, 3, 3));
        seq.stop();
        assert_eq!(seq.unsent(), 0);
    }
}
