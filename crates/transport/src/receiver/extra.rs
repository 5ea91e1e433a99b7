//! Optional state of a receiver, kept apart so that a million plain flows do not carry it.

use super::Receiver;
use crate::ack::{Ack, MAX_BLOCKS};
use crate::autotuning::{Tuner, WindowLimits};
use crate::options::Coalescing;
use crate::sequence::NO_SEGMENT;
use base::{Flags, Time};

/// State for connections with transfers, headers, ACKs that may be lost, merged segments, or a tuned window.
#[derive(Clone, Debug)]
pub struct Extra {
    /// First segment and end of the next transfer, once its sender has opened it.
    pub upcoming: (u64, u64),
    /// Number of segments delivered in transfers before the present one.
    pub earlier: u64,
    /// Segments whose blocks were reported last, most recent first.
    pub recent: [u64; MAX_BLOCKS],
    /// Window increase granted by routers since the last ACK, in segments (XCP).
    pub granted: f32,
    /// Segments that the interface has not delivered yet, where it merges segments.
    pub merging: Option<Merging>,
    /// Receive-window tuning, if it is on.
    pub tuner: Option<Tuner>,
    /// Whether ACKs report segments that had arrived before.
    pub reports_duplicates: bool,
}

impl Receiver {
    /// Reports segments that had arrived before (RFC 2883), if the receiver has SACK.
    #[must_use]
    pub fn reporting_duplicates(mut self) -> Self {
        if self.sack_blocks > 0 {
            self.extra.get_or_insert_default().reports_duplicates = true;
            self.set_special(true);
        }
        self
    }

    pub(super) fn reports_duplicates(&self) -> bool {
        self.extra.as_deref().is_some_and(|extra| extra.reports_duplicates)
    }

    /// Reports `segments`, which had arrived before, in the first block of `ack`, if duplicates are reported.
    #[cold]
    pub(super) fn report_duplicate(&self, segments: (u64, u64), ack: &mut Ack) {
        if self.reports_duplicates() {
            ack.report_duplicate(segments);
        }
    }

    /// Adds an interface that merges segments.
    #[must_use]
    pub fn behind(mut self, offload: Option<Coalescing>) -> Self {
        if let Some(coalescing) = offload {
            self.extra.get_or_insert_default().merging = Some(Merging::new(coalescing));
            self.set_special(true);
        }
        self
    }

    /// Adds receive-window tuning within `limits`; `may_lose_acks` says whether ACKs can be lost.
    #[must_use]
    pub fn tuning(mut self, limits: WindowLimits, may_lose_acks: bool) -> Self {
        self.extra.get_or_insert_default().tuner = Some(Tuner::new(limits, may_lose_acks));
        self.set_special(true);
        self
    }
}

impl Default for Extra {
    fn default() -> Self {
        let upcoming = (NO_SEGMENT, NO_SEGMENT);
        Self {
            upcoming,
            earlier: 0,
            recent: [NO_SEGMENT; MAX_BLOCKS],
            granted: 0.0,
            merging: None,
            tuner: None,
            reports_duplicates: false,
        }
    }
}

/// Consecutive segments that wait to be delivered as one.
#[derive(Clone, Copy, Debug)]
pub struct Merging {
    pub coalescing: Coalescing,
    /// First segment and end; equal if no segment waits.
    pub run: (u64, u64),
    /// Flags that all of them have.
    pub flags: Flags,
    /// Latest time at which they are handed over.
    pub due: Time,
    /// Time at which the delayed ACK is sent: the receiver's deadline is the earlier of the two.
    pub delayed: Time,
}

impl Merging {
    /// Interface with no segment waiting.
    pub fn new(coalescing: Coalescing) -> Self {
        Self { coalescing, run: (0, 0), flags: Flags::NONE, due: Time::NEVER, delayed: Time::NEVER }
    }
}
