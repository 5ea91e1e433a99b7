//! Loss detection and retransmission. Each recovery holds its own data and drives the [`Connection`], which has the
//! shared state.

use crate::connection::{AckInfo, Connection};
use crate::cumulative::Cumulative;
use crate::departures::Departures;
use crate::prr::Prr;
use crate::rack_recovery::RackRecovery;
use crate::sack::SackRecovery;
use crate::sequence::SequenceSpace;
use crate::timers::Due;
use crate::{Ack, Phase, Recovery, Wire};
use base::{Span, Time};
use law::{CongestionControl, Needs};

/// The recovery of one sender, with its data.
///
/// The tag stands by itself, and the data in a box: every flow would take what the largest of them takes.
#[derive(Clone, Debug)]
#[repr(u8)]
pub enum LossRecovery {
    /// Tahoe, Reno, NewReno.
    Cumulative(Box<Cumulative>),
    /// A scoreboard, with or without PRR.
    Sack(Box<SackRecovery>),
    /// RACK-TLP.
    Rack(Box<RackRecovery>),
}

/// Runs the expression with the recovery that the enum holds, compiled once for each.
macro_rules! each {
    ($recovery:expr, $it:ident => $does:expr) => {
        match $recovery {
            $crate::recovery::LossRecovery::Cumulative($it) => {
                let $it = &mut **$it;
                $does
            }
            $crate::recovery::LossRecovery::Sack($it) => {
                let $it = &mut **$it;
                $does
            }
            $crate::recovery::LossRecovery::Rack($it) => {
                let $it = &mut **$it;
                $does
            }
        }
    };
}
pub(crate) use each;

impl Recovery {
    /// Memory that a sender uses for this recovery outside of the sender itself, in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Tahoe | Self::Reno | Self::NewReno => size_of::<Cumulative>(),
            Self::Sack | Self::Prr => size_of::<SackRecovery>(),
            Self::Rack => size_of::<RackRecovery>(),
        }
    }
}

impl LossRecovery {
    /// Recovery of this kind, for a sender whose control has these needs.
    #[must_use]
    pub fn new(recovery: Recovery, needs: Needs) -> Self {
        // A control that asks for every delivery rules its own window in recovery.
        let proportional = !needs.deliveries;
        match recovery {
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => {
                Self::Cumulative(Box::new(Cumulative::new(recovery)))
            }
            Recovery::Sack => Self::Sack(Box::new(SackRecovery::new(false))),
            Recovery::Prr => Self::Sack(Box::new(SackRecovery::new(proportional))),
            Recovery::Rack => Self::Rack(Box::new(RackRecovery::new(proportional))),
        }
    }

    /// Whether it keeps the transmission times of segments itself.
    #[must_use]
    pub fn keeps_departures(&self) -> bool {
        matches!(self, Self::Rack(_))
    }

    /// Whether nothing is lost, SACKed or suspected, so that ACKs may be taken in runs.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        match self {
            Self::Cumulative(cumulative) => cumulative.is_quiet(),
            Self::Sack(sack) => sack.is_quiet(),
            Self::Rack(rack) => rack.is_quiet(),
        }
    }

    /// Whether a timer waits longer if the outstanding segments are few enough that the receiver may delay their ACK.
    #[inline]
    #[must_use]
    pub fn expects_delayed_acks(&self) -> bool {
        matches!(self, Self::Rack(_))
    }

    /// Segments in flight as the sender sees it.
    #[must_use]
    pub fn in_flight(&self, seq: &SequenceSpace) -> u32 {
        match self {
            Self::Cumulative(cumulative) => cumulative.in_flight(seq),
            Self::Sack(sack) => sack.in_flight(seq),
            Self::Rack(rack) => rack.in_flight(seq),
        }
    }

    /// Highest run of SACKed segments, if ACKs that extend it may be taken in a row.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<(u64, u64)> {
        match self {
            Self::Cumulative(_) => None,
            Self::Sack(sack) => sack.top(),
            Self::Rack(rack) => rack.top(),
        }
    }

    /// SACKed segments above `una`.
    #[must_use]
    pub fn sacked(&self) -> u32 {
        match self {
            Self::Cumulative(cumulative) => cumulative.sacked(),
            Self::Sack(sack) => sack.sacked(),
            Self::Rack(rack) => rack.sacked(),
        }
    }
}

/// Interface of a loss recovery: its answers, and its reactions to events. `connection` is the connection it drives.
pub trait RecoveryRules {
    /// Sets the number of the first segment to `first`. Call it before anything is sent.
    fn begin_at(&mut self, first: u64);

    /// Segments in flight as the sender sees it.
    fn in_flight(&self, seq: &SequenceSpace) -> u32;

    /// Whether nothing is lost, SACKed or suspected.
    fn is_quiet(&self) -> bool;

    /// SACKed segments above `una`.
    fn sacked(&self) -> u32 {
        0
    }

    /// Whether a lost segment waits for retransmission.
    fn has_lost(&self) -> bool {
        false
    }

    /// PRR state, if PRR is in use.
    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        None
    }

    /// Notes that a segment was sent in `phase`: PRR counts those sent in recovery.
    #[inline]
    fn count_sent(&mut self, phase: Phase) {
        if matches!(phase, Phase::Recovery | Phase::Reduction)
            && let Some(prr) = self.prr()
        {
            prr.on_transmit();
        }
    }

    /// Number of new segments that [`Self::fill`] would send now as far as pacing allows; 0 if it would do anything else.
    #[inline]
    fn room_for_new<C: CongestionControl>(&mut self, _: &Connection<C>) -> u32 {
        0
    }

    /// Whether the fast retransmit is held back by pacing.
    #[inline]
    fn waits(&self) -> bool {
        false
    }

    /// Takes an ACK in recovery that SACKs the segment after the highest run of SACKed ones and nothing else. Returns false,
    /// and changes nothing, if the ACK has other consequences (losses, timers).
    #[inline]
    fn extend<C: CongestionControl>(&mut self, _: &mut Connection<C>, _now: Time) -> bool {
        false
    }

    /// Takes as many as possible of the ACKs at `times`, each as in [`Self::extend`], but does nothing else: the caller
    /// stops the reordering timer and counts for PRR. Calls `on_each` with transmission and delivery time of each.
    /// Returns the number of ACKs taken; zero while a lost segment waits for retransmission.
    #[inline]
    fn extend_row(&mut self, _times: impl Iterator<Item = Time>, _on_each: impl FnMut(Time, Time)) -> u32 {
        0
    }

    /// Number of ACKs in a row (as for [`Self::extend`]) that release no segment, and the number of all ACKs in the row, the
    /// rest of which release at most one segment each.
    #[inline]
    fn row<C: CongestionControl>(&self, _: &Connection<C>) -> Option<(u32, u32)> {
        None
    }

    /// Takes `n` such ACKs.
    #[inline]
    fn extend_by(&mut self, _n: u32) {}

    /// Number of new segments that [`Self::fill`] would send now in recovery as far as pacing allows; `None` if it would do
    /// anything else.
    #[inline]
    fn room_in_repair<C: CongestionControl>(&mut self, _: &Connection<C>) -> Option<u32> {
        None
    }

    /// Transmission times of segments, if the recovery keeps them itself.
    #[inline]
    fn departures(&mut self) -> Option<&mut Departures> {
        None
    }

    /// First transmission time of segment `seq`, which was retransmitted, where that is kept.
    #[inline]
    fn first_departure(&self, _seq: u64) -> Option<Time> {
        None
    }

    /// Reads the SACK blocks of an ACK, before `una` moves, and completes `info`.
    fn on_report<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &mut AckInfo, ack: &Ack);

    /// Acts on an ACK after [`Self::on_report`]: grows the window, begins a recovery, sends, or ends one.
    fn on_ack<C: CongestionControl>(&mut self, connection: &mut Connection<C>, info: &AckInfo, wire: &mut impl Wire);

    /// Marks segments lost after the retransmission timer expired.
    fn on_timeout<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time);

    /// Starts sending again after a timeout, when the window is one segment.
    fn restart<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire);

    /// Sends the segments that may be sent now.
    fn fill<C: CongestionControl>(&mut self, connection: &mut Connection<C>, now: Time, wire: &mut impl Wire);

    /// Handles the expired timers of its own, `due`.
    fn on_timer<C: CongestionControl>(&mut self, _: &mut Connection<C>, _now: Time, _due: Due, _: &mut impl Wire) {}

    /// Sets its own timers; `moved` says whether there was progress or a new segment was sent.
    #[inline]
    fn arm_timers<C: CongestionControl>(&mut self, _: &mut Connection<C>, _now: Time, _moved: bool) {}

    /// Processes ACKs in a row, of segments sent once: the last was `seq`, sent at `left` and acknowledged `rtt` later;
    /// the smoothed and the smallest round-trip time are now `rtts`.
    #[inline]
    fn on_plain_acks(&mut self, _seq: u64, _left: Time, _rtt: Span, _rtts: (Span, Span)) {}
}
