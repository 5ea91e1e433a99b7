//! An acknowledgement as the receiver sends it.
//!
//! Source: RFC 5681 (cumulative), RFC 2018 (SACK blocks, most recent first), RFC 2883 (the first block may be a duplicate's), RFC 3168
//! (congestion echo).

/// SACK blocks that fit beside a timestamp option (RFC 2018, Section 3).
pub const MAX_BLOCKS: usize = 3;

/// An acknowledgement as the sender reads it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The segment expected next: everything below has arrived.
    pub cum: u64,
    count: u8,
    /// Congestion echo.
    pub ece: bool,
    /// Whether the timestamp that it echoes is that of a retransmission (RFC 7323).
    pub echoes_resent: bool,
    /// Whether the first block is that of a segment that had arrived before.
    duplicate: bool,
    /// Window field of a receiver that tunes its window ([`crate::WindowLimits`]); 0 from other receivers.
    pub tuning: u16,
    /// Window increase granted by routers to the segments since the last ACK, in segments (XCP); 0 without headers.
    pub feedback: f32,
    blocks: [(u64, u64); MAX_BLOCKS],
}

impl Ack {
    /// Empty ACK.
    pub const NONE: Self = Self {
        cum: 0,
        count: 0,
        ece: false,
        echoes_resent: false,
        duplicate: false,
        tuning: 0,
        feedback: 0.0,
        blocks: [(0, 0); MAX_BLOCKS],
    };

    /// An acknowledgement with these blocks `[start, end)`, at most [`MAX_BLOCKS`] of them.
    #[inline]
    #[must_use]
    pub fn new(cum: u64, blocks: &[(u64, u64)], ece: bool) -> Self {
        let mut ack = Self { cum, ece, ..Self::NONE };
        for (slot, block) in ack.blocks.iter_mut().zip(blocks) {
            *slot = *block;
            ack.count += 1;
        }
        ack
    }

    /// Makes it an acknowledgement of `cum` without blocks, with `tuning` as its window field.
    #[inline]
    pub fn renew(&mut self, cum: u64, ece: bool, tuning: u16) {
        (self.cum, self.ece, self.tuning, self.count) = (cum, ece, tuning, 0);
        (self.echoes_resent, self.duplicate) = (false, false);
    }

    /// Adds a block, if there is room and it is not there yet.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every segment out of order")]
    pub fn report(&mut self, run: (u64, u64)) {
        let is_there = self.blocks().contains(&run) && !self.is_only_duplicate(run);
        if !is_there && let Some(slot) = self.blocks.get_mut(self.count as usize) {
            *slot = run;
            self.count += 1;
        }
    }

    /// Whether `run`, which is among the blocks, is there only as the duplicate. The run that contains the duplicate is
    /// reported after it, even if both are equal (RFC 2883, Section 4).
    #[cold]
    fn is_only_duplicate(&self, run: (u64, u64)) -> bool {
        self.duplicate && !self.blocks()[1..].contains(&run)
    }

    /// Reports the segments [start, end), which had arrived before, in the first block. The ACK must not have blocks
    /// yet.
    pub fn report_duplicate(&mut self, segments: (u64, u64)) {
        (self.blocks[0], self.count, self.duplicate) = (segments, 1, true);
    }

    /// Segments that it reports as duplicates (RFC 2883).
    #[inline]
    #[must_use]
    pub fn duplicate(&self) -> Option<(u64, u64)> {
        self.duplicate.then(|| self.blocks[0])
    }

    /// Runs of segments that arrived above `cum`, the one that triggered this ACK first.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count as usize]
    }
}

impl PartialEq for Ack {
    fn eq(&self, other: &Self) -> bool {
        let said = |ack: &Self| (ack.cum, ack.ece, ack.echoes_resent, ack.duplicate, ack.tuning, ack.feedback);
        said(self) == said(other) && self.blocks() == other.blocks()
    }
}

impl Eq for Ack {}
