//! SACK scoreboard: the holes at the receiver, and the number of segments in flight (the pipe).
//!
//! Source: RFC 6675, Section 4 (`IsLost`, `SetPipe`, `NextSeg`), counted in segments. Every quantity is kept up to date
//! in closed form, so the cost of an ACK does not depend on the window: a segment is lost when three segments above it
//! are SACKed, so all holes below the third-highest SACKed segment are lost. Another number than three is possible, and
//! it may adapt to reordering, that is, to segments that arrive late although they were not sent again (RFC 9002,
//! Section 6.1.1; Linux 6.12, `tcp_check_sack_reordering`, facts, not text).
//! Differs from ns-2's Sack1: SACKed data survives a timeout (RFC 2018 advised against it, RFC 6675 5.1 reports why it may).

use crate::ack::Ack;
use crate::ranges::Ranges;
use crate::{DUP_THRESH, DupThresh};

/// Largest value of an adaptive number of SACKed segments above one that make it lost (Linux: `tcp_max_reordering`).
const MOST_REORDERING: u32 = 300;

/// The scoreboard of one connection.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// SACKed segments above `una`.
    runs: Ranges,
    /// Every hole below this is lost; never moves down.
    edge: u64,
    /// SACKed segments below `edge`.
    sacked_below_edge: u32,
    /// One past the highest segment retransmitted in this recovery (`HighRxt` + 1).
    rexmitted: u64,
    /// Holes below `rexmitted`: retransmissions on the way.
    rexmits_out: u32,
    /// Number of SACKed segments above one that make it lost, and the most that it may become.
    dup_thresh: u32,
    most_dup_thresh: u32,
}

impl Default for Scoreboard {
    fn default() -> Self {
        Self {
            runs: Ranges::default(),
            edge: 0,
            sacked_below_edge: 0,
            rexmitted: 0,
            rexmits_out: 0,
            dup_thresh: DUP_THRESH,
            most_dup_thresh: DUP_THRESH,
        }
    }
}

impl Scoreboard {
    /// Clears the scoreboard and sets the first number to `first`.
    pub fn begin_at(&mut self, first: u64) {
        let (dup_thresh, most_dup_thresh) = (self.dup_thresh, self.most_dup_thresh);
        *self = Self { edge: first, rexmitted: first, dup_thresh, most_dup_thresh, ..Self::default() };
    }

    /// [`Self::note_overtaken`] for the first segment that each block SACKs anew.
    #[cold]
    fn note_blocks(&mut self, ack: &Ack) {
        for &(start, end) in ack.blocks() {
            let first = self.next_hole(start.max(ack.cum));
            if first < end {
                self.note_overtaken(first);
            }
        }
    }

    /// Sets the number of SACKed segments above one that make it lost.
    pub fn set_dup_thresh(&mut self, dup_thresh: DupThresh) {
        self.dup_thresh = dup_thresh.initial();
        self.most_dup_thresh = if dup_thresh == DupThresh::Adaptive { MOST_REORDERING } else { self.dup_thresh };
    }

    /// Number of SACKed segments above one that make it lost.
    #[inline]
    #[must_use]
    pub fn dup_thresh(&self) -> u32 {
        self.dup_thresh
    }

    /// Notes that segment `seq` arrived after others above it. If it was sent once, the number of SACKed segments that
    /// make another one lost rises to its distance from the end of the highest run.
    #[cold]
    fn note_overtaken(&mut self, seq: u64) {
        if seq >= self.rexmitted
            && let Some((_, end)) = self.runs.top()
            && seq < end
        {
            let reordering = (end - seq).min(u64::from(self.most_dup_thresh)) as u32;
            self.dup_thresh = self.dup_thresh.max(reordering);
        }
    }

    /// Processes an ACK; `una` is the value before it. Returns how many segments it SACKs for the first time, and calls
    /// `on_new` with them.
    #[inline]
    pub fn update(&mut self, una: u64, ack: &Ack, on_new: impl FnMut(u64, u64)) -> u32 {
        if ack.cum > una {
            self.advance(una, ack.cum);
        }
        // Most ACKs bring no blocks.
        if ack.blocks().is_empty() { 0 } else { self.add_blocks(ack, on_new) }
    }

    fn add_blocks(&mut self, ack: &Ack, mut on_new: impl FnMut(u64, u64)) -> u32 {
        if self.dup_thresh < self.most_dup_thresh {
            self.note_blocks(ack);
        }
        let (before, mut below_edge, mut filled) = (self.runs.count(), 0, 0);
        let (edge, rexmitted) = (self.edge, self.rexmitted);
        for &(start, end) in ack.blocks() {
            // Blocks at or below `cum` are a duplicate's (RFC 2883); they say nothing new.
            if end > ack.cum {
                self.runs.insert(start.max(ack.cum), end, |s, e| {
                    on_new(s, e);
                    below_edge += e.min(edge).saturating_sub(s) as u32;
                    filled += e.min(rexmitted).saturating_sub(s) as u32;
                });
            }
        }
        let new = self.runs.count() - before;
        if new > 0 {
            self.sacked_below_edge += below_edge;
            self.rexmits_out -= filled;
            self.raise_edge();
        }
        new
    }

    /// Processes an ACK that SACKs the segment after the highest run, `next`, and nothing else.
    #[inline]
    pub fn extend(&mut self, next: u64) {
        self.runs.extend(1);
        self.sacked_below_edge += u32::from(next < self.edge);
        self.rexmits_out -= u32::from(next < self.rexmitted);
        self.raise_edge();
    }

    /// Whether ACKs that each SACK the next segment after the highest run show no loss and take one segment out of the pipe:
    /// all holes below that run are lost and have been retransmitted.
    #[inline]
    #[must_use]
    pub fn grows_plainly(&self) -> bool {
        let inside = |(start, end): (u64, u64)| {
            start <= self.edge && self.edge <= end && start <= self.rexmitted && self.rexmitted <= end
        };
        self.runs.top().is_some_and(inside)
    }

    /// Number of ACKs, as in [`Self::grows_plainly`], that SACK segments declared lost by a timeout: they do not change the pipe.
    #[inline]
    #[must_use]
    pub fn grows_below_edge(&self) -> u32 {
        let (_, end) = self.runs.top().unwrap_or_default();
        if self.rexmitted <= end { self.edge.saturating_sub(end) as u32 } else { 0 }
    }

    /// The same as `n` calls of [`Self::extend`]. Either [`Self::grows_plainly`] must hold, or `n` is at most
    /// [`Self::grows_below_edge`].
    #[inline]
    pub fn extend_by(&mut self, n: u32) {
        debug_assert!(self.grows_plainly() || n <= self.grows_below_edge());
        self.sacked_below_edge += if self.grows_below_edge() > 0 { n } else { 0 };
        self.runs.extend(n);
        self.raise_edge();
    }

    /// Highest run of SACKed segments.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        self.runs.top()
    }

    /// Moves `una` up to `cum`.
    #[inline]
    fn advance(&mut self, una: u64, cum: u64) {
        if self.runs.is_empty() && self.edge <= una && self.rexmitted <= una {
            (self.edge, self.rexmitted) = (cum, cum);
        } else {
            if self.dup_thresh < self.most_dup_thresh {
                self.note_overtaken(una);
            }
            self.advance_over(una, cum);
        }
    }

    /// Advances where a segment below `cum` was SACKed, lost or retransmitted.
    fn advance_over(&mut self, una: u64, cum: u64) {
        let high = cum.min(self.rexmitted);
        // Of the holes below `rexmitted`, those below `cum` are filled: all numbers there less those SACKed.
        let popped_low = if high > una { self.runs.remove_below(high) } else { 0 };
        if high > una {
            self.rexmits_out -= (high - una) as u32 - popped_low;
        }
        let popped = popped_low + self.runs.remove_below(cum);
        if cum >= self.edge {
            self.edge = cum;
            self.sacked_below_edge = 0;
        } else {
            self.sacked_below_edge -= popped;
        }
        if cum >= self.rexmitted {
            self.rexmitted = cum;
            debug_assert_eq!(self.rexmits_out, 0);
        }
    }

    #[inline]
    fn raise_edge(&mut self) {
        if let Some(edge) = self.runs.from_top(u64::from(self.dup_thresh))
            && edge > self.edge
        {
            self.edge = edge;
            self.sacked_below_edge = self.sacked() - self.dup_thresh;
        }
    }

    /// SACKed segments above `una`.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        self.runs.count()
    }

    /// Whether nothing above `una` is SACKed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether the hole at `seq` counts as lost.
    #[must_use]
    pub fn is_lost(&self, seq: u64) -> bool {
        seq < self.edge
    }

    /// Segments of [una, nxt) in flight: `SetPipe`.
    #[must_use]
    pub fn pipe(&self, una: u64, nxt: u64) -> u32 {
        let holes = (nxt - una) as u32 - self.sacked();
        holes - self.lost(una) + self.rexmits_out
    }

    /// Segments above `una` that count as lost.
    fn lost(&self, una: u64) -> u32 {
        (self.edge.saturating_sub(una) as u32).saturating_sub(self.sacked_below_edge)
    }

    /// Edge below which every hole is lost.
    #[must_use]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// The holes of [from, to), lowest first.
    pub fn holes(&self, from: u64, to: u64) -> impl Iterator<Item = u64> {
        (from..to).inspect(|_| base::steps::count_steps(1)).filter(|&seq| self.runs.find(seq).is_none())
    }

    /// Whether a hole at or above `from` counts as lost.
    #[must_use]
    pub fn has_lost_above(&self, from: u64) -> bool {
        self.next_hole(from) < self.edge
    }

    /// Whether the hole at `seq` was retransmitted in this recovery.
    #[must_use]
    pub fn is_resent(&self, seq: u64) -> bool {
        seq < self.rexmitted
    }

    /// Begins a recovery: nothing has been retransmitted in it.
    pub fn begin_recovery(&mut self, una: u64) {
        self.rexmitted = una;
        self.rexmits_out = 0;
    }

    /// Handles a timeout: every hole below `nxt` is lost, whatever was retransmitted before.
    pub fn all_lost(&mut self, una: u64, nxt: u64) {
        self.edge = nxt;
        self.sacked_below_edge = self.sacked();
        self.begin_recovery(una);
    }

    /// Unmarks all holes: none is lost until further segments above it are SACKed.
    pub fn forgive(&mut self, una: u64) {
        (self.edge, self.sacked_below_edge) = (una, 0);
        self.begin_recovery(una);
    }

    /// Lowest hole at or above `from`, if one lies below the highest SACKed segment or the lost edge.
    fn next_hole(&self, from: u64) -> u64 {
        self.runs.find(from).map_or(from, |run| run.1)
    }

    /// Lowest lost segment not yet retransmitted: `NextSeg` rule 1.
    #[must_use]
    pub fn next_lost(&self) -> Option<u64> {
        // All holes below the highest run were sent again, and nothing above it is lost, so there is nothing to search.
        if self.runs.top().is_some_and(|top| top.0 <= self.rexmitted && self.edge <= top.1) {
            return None;
        }
        let hole = self.next_hole(self.rexmitted);
        (hole < self.edge).then_some(hole)
    }

    /// Lowest hole below a SACKed segment not yet retransmitted, lost or not: `NextSeg` rule 3.
    #[must_use]
    pub fn next_unsacked(&self) -> Option<u64> {
        let hole = self.next_hole(self.rexmitted);
        let top = self.runs.top()?;
        (hole < top.0).then_some(hole)
    }

    /// Highest outstanding segment, unless it is SACKed: `NextSeg` rule 4.
    #[must_use]
    pub fn rescue(&self, nxt: u64) -> Option<u64> {
        let top = nxt.checked_sub(1)?;
        self.runs.find(top).is_none().then_some(top)
    }

    /// Notes that the segment which a `next_…` returned was retransmitted.
    pub fn on_retransmit(&mut self, seq: u64) {
        debug_assert!(seq >= self.rexmitted);
        self.rexmitted = seq + 1;
        self.rexmits_out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scoreboard that answers segment by segment, as RFC 6675 words it.
    #[derive(Default)]
    struct Plain {
        una: u64,
        sacked: Vec<bool>,
        rexmitted: u64,
        forced: u64,
        /// Edge below which holes are lost. It never moves back: a segment SACKed later adds to the count of `IsLost`,
        /// and cumulative ACKs remove both the counted segments and those for which they counted.
        edge: u64,
    }

    impl Plain {
        fn lost(&self, seq: u64) -> bool {
            let above = (seq + 1..self.sacked.len() as u64).filter(|&s| self.sacked[s as usize]).count();
            seq < self.forced || seq < self.edge || above >= DUP_THRESH as usize
        }
        fn pipe(&self, nxt: u64) -> u32 {
            (self.una..nxt)
                .filter(|&s| !self.sacked[s as usize])
                .map(|s| u32::from(!self.lost(s)) + u32::from(s < self.rexmitted))
                .sum()
        }
        fn next_lost(&self, nxt: u64) -> Option<u64> {
            (self.rexmitted.max(self.una)..nxt).find(|&s| !self.sacked[s as usize] && self.lost(s))
        }
    }

    #[test]
    fn an_adaptive_threshold_is_the_distance_from_a_late_segment_to_the_highest_run_s_end() {
        let mut board = Scoreboard::default();
        board.set_dup_thresh(DupThresh::Adaptive);
        // Segments 1 and 2 overtake 0: the threshold stays at three.
        board.update(0, &Ack::new(0, &[(1, 3)], false), |_, _| {});
        board.update(0, &Ack::new(3, &[], false), |_, _| {});
        assert_eq!(board.dup_thresh(), 3);
        // Segments 5 to 9 overtake 3, which is then acknowledged. The highest run ends at 10, seven above 3.
        board.update(3, &Ack::new(3, &[(5, 10)], false), |_, _| {});
        assert!(board.is_lost(3) && !board.is_lost(10));
        board.update(3, &Ack::new(5, &[(5, 10)], false), |_, _| {});
        assert_eq!(board.dup_thresh(), 7);
        board.update(5, &Ack::new(10, &[], false), |_, _| {});
        board.update(10, &Ack::new(10, &[(11, 17)], false), |_, _| {});
        assert!(!board.is_lost(10));
        board.update(10, &Ack::new(10, &[(11, 18)], false), |_, _| {});
        assert!(board.is_lost(10));
        // A retransmitted segment says nothing about the order, and the threshold is at most 300.
        board.begin_recovery(10);
        board.on_retransmit(10);
        board.update(10, &Ack::new(18, &[], false), |_, _| {});
        assert_eq!(board.dup_thresh(), 7);
        board.update(18, &Ack::new(18, &[(1000, 2000)], false), |_, _| {});
        board.update(18, &Ack::new(19, &[], false), |_, _| {});
        assert_eq!(board.dup_thresh(), 300);
        board.begin_at(0);
        assert_eq!(board.dup_thresh(), 300, "the next transfer keeps the threshold");
    }

    proptest! {
        /// Against the plain reading, over random SACKs, cumulative ACKs, retransmissions and timeouts.
        #[test]
        fn agrees_with_rfc_6675_segment_by_segment(script in prop::collection::vec((0u8..10, 0u64..100), 1..150)) {
            const N: u64 = 100;
            let mut board = Scoreboard::default();
            let mut plain = Plain { sacked: vec![false; N as usize], ..Plain::default() };
            board.begin_recovery(0);
            for (what, x) in script {
                match what {
                    0..=5 => {
                        let seq = plain.una + 1 + x * (N - plain.una) / 100;
                        if seq >= N { continue; }
                        plain.sacked[seq as usize] = true;
                        let ack = Ack::new(plain.una, &[(seq, seq + 1)], false);
                        board.update(plain.una, &ack, |_, _| {});
                    }
                    6 => {
                        let mut cum = plain.una + 1 + x / 10;
                        if cum >= N { continue; }
                        while plain.sacked[cum as usize] { cum += 1; if cum == N { break; } }
                        if cum >= N { continue; }
                        for s in plain.una..cum { plain.sacked[s as usize] = false; }
                        board.update(plain.una, &Ack::new(cum, &[], false), |_, _| {});
                        // Holes that were lost stay lost although the SACKed segments that said so may be gone.
                        plain.una = cum;
                        plain.rexmitted = plain.rexmitted.max(cum);
                    }
                    7 | 8 => {
                        prop_assert_eq!(board.next_lost(), plain.next_lost(N));
                        if let Some(seq) = board.next_lost() {
                            board.on_retransmit(seq);
                            plain.rexmitted = seq + 1;
                        }
                    }
                    _ if x < 10 => {
                        board.all_lost(plain.una, N);
                        plain.forced = N;
                        plain.rexmitted = plain.una;
                    }
                    _ => {}
                }
                for seq in plain.una..N {
                    if !plain.sacked[seq as usize] {
                        let lost = plain.lost(seq);
                        if lost { plain.edge = plain.edge.max(seq + 1); }
                        prop_assert_eq!(board.is_lost(seq), lost, "segment {}", seq);
                    }
                }
                prop_assert_eq!(board.pipe(plain.una, N), plain.pipe(N));
            }
        }
    }
}
