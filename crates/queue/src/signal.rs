//! Random decisions, and how they are signalled to the sender: by a mark or a drop.

use crate::{Packet, Verdict};
use base::{Cause, Flags, Stream};

/// Decides with probability `prob` and returns the cause; draws a number only if both outcomes are possible.
#[inline]
pub(crate) fn by_chance(prob: f64, chance: &mut Stream) -> Option<Cause> {
    if prob >= 1.0 {
        Some(Cause::Forced)
    } else if prob > 0.0 && chance.unit() < prob {
        Some(Cause::Early)
    } else {
        None
    }
}

/// A mark, if the rule marks (`ecn`) and `packet` is ECN-capable; otherwise a drop.
#[inline]
pub(crate) fn signal(packet: &Packet, cause: Cause, ecn: bool) -> Verdict {
    if ecn && packet.flags.has(Flags::ECT) { Verdict::Mark(cause) } else { Verdict::Drop(cause) }
}
