//! ACKs in a row that a sender takes together, and the way in which it does. The result is the same, to the bit, as with
//! `on_ack` for each.

use super::core::Core;
use crate::Wire;
use crate::loss::rules::SackRow;
use crate::loss::{LossRecovery, each, each_ref};
use base::Time;
use law::CongestionControl;

/// Largest number of ACKs in a row in recovery. It is small because the caller looks at all of them before the sender
/// takes the first.
const MOST_IN_REPAIR: u32 = 64;

/// Row of ACKs that a sender may take together.
#[derive(Clone, Copy, Debug)]
pub struct AckRow {
    way: Way,
    /// Segments that each ACK acknowledges.
    each: u32,
    /// Largest number of ACKs in it.
    pub most: u32,
    /// Latest time of an ACK in it: a timer expires then.
    pub deadline: Time,
}

/// Effect of the ACKs of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Each ACK releases as many segments as it acknowledges; the window changes by the control's step.
    Steady,
    /// Each ACK releases two segments, in slow start.
    Opening,
    /// Nothing is lost, SACKed, marked or paced.
    Plain,
    /// Nothing is lost, SACKed or marked, and segments are paced.
    Paced,
    /// In recovery, each SACKs the segment after the highest run; the first `quiet` release no segment, the others one each.
    Sack { quiet: u32 },
    /// In recovery, each SACKs the segment after the highest run, and any of them may do more.
    Repair,
}

impl<C: CongestionControl> Core<C> {
    /// See [`crate::Sender::row`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "few callers, one in the hottest loop")]
    pub(super) fn row(&self, loss: &LossRecovery, each: u32) -> Option<AckRow> {
        let (way, most) = match self.steady(loss, each) {
            0 => match if each == 1 { self.opening(loss) } else { 0 } {
                0 => match self.plain(loss, each) {
                    0 => (Way::Paced, self.paced(loss, each)),
                    plain => (Way::Plain, plain),
                },
                opening => (Way::Opening, opening),
            },
            steady => (Way::Steady, steady),
        };
        // All ACKs of the row come before the timer that the ACK before the row started, so it does not expire in the
        // row.
        let deadline =
            if way == Way::Paced { self.state.timers.deadline_but_pacing() } else { self.state.timers.deadline() };
        (most > 0).then_some(AckRow { way, each, most, deadline })
    }

    /// See [`crate::Sender::row_in_repair`].
    #[inline]
    pub(super) fn row_in_repair(&self, loss: &LossRecovery, next: u64, top: (u64, u64), first: Time) -> Option<AckRow> {
        if !self.repairs(loss, next, top) {
            return None;
        }
        let deadline = self.state.timers.deadline();
        let row = if first > deadline { None } else { each_ref!(loss, loss => self.sack_row(loss)) };
        Some(match row {
            Some(SackRow { quiet, all: most }) if most > 0 => {
                AckRow { way: Way::Sack { quiet }, each: 1, most, deadline }
            }
            _ => AckRow { way: Way::Repair, each: 1, most: MOST_IN_REPAIR, deadline: Time::NEVER },
        })
    }

    /// See [`crate::Sender::take_row`].
    #[inline]
    pub(super) fn take_row(
        &mut self,
        loss: &mut LossRecovery,
        row: &AckRow,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        wire: &mut impl Wire,
    ) -> u32 {
        let (acks, most) = (times.clone().map(|time| (time, row.each)), times.len() as u32);
        match row.way {
            Way::Repair => return each!(loss, loss => self.take_repairs(loss, times, wire)),
            Way::Steady => self.take_steady(loss, row.each, times, wire),
            Way::Opening => self.take_opening(times, wire),
            Way::Plain => each!(loss, loss => self.take_plain(loss, acks, wire)),
            Way::Paced => each!(loss, loss => self.take_paced(loss, acks, wire)),
            Way::Sack { quiet } => each!(loss, loss => self.take_sack_row(loss, times, quiet, wire)),
        }
        most
    }

    /// Reports the state of the sender to the wire after each of a row of ACKs at `times`. Each ACK acknowledges
    /// `acked` segments and will release `released`.
    #[inline]
    pub(super) fn show_row(&self, times: impl Iterator<Item = Time>, acked: u32, released: u32, wire: &mut impl Wire) {
        if wire_observes(wire) {
            let gain = self.state.control.step().map_or(0.0, |step| step.gain) * f64::from(acked);
            let (mut cwnd, mut una, mut nxt) = (self.state.control.cwnd(), self.state.seq.una(), self.state.seq.nxt());
            for now in times {
                (cwnd, una, nxt) = (cwnd + gain, una + u64::from(acked), nxt + u64::from(released));
                wire.on_window(now, cwnd, una, nxt, (nxt - una) as u32);
            }
        }
    }
}

/// Whether this kind of wire observes windows.
const fn wire_observes<W: Wire>(_: &W) -> bool {
    W::OBSERVES
}
