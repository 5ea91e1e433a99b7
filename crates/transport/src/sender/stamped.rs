//! Round-trip time samples of a sender with timestamps: one from every ACK that acknowledges or SACKs something new.
//!
//! Source: RFC 7323, Section 4.1; Linux 6.12, `tcp_clean_rtx_queue` and `tcp_ack_update_rtt` (facts, not text): segments sent once
//! are timed by when they left; where any of what is acknowledged was sent again, the timestamp says which copy arrived.
//! Differs from Linux: of a segment that was sent again more than once, an ACK of an earlier retransmission counts for the last,
//! and as the smallest round trip at least.

use super::core::Core;
use crate::Ack;
use crate::departures::Departure;
use crate::loss::rules::{AckInfo, Loss};
use crate::options::Rto;
use crate::rtt::AckRtt;
use crate::sequence::Outstanding;
use crate::state::SenderState;
use base::Time;
use law::CongestionControl;

/// Transmission times of the segments that an ACK acknowledges cumulatively.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckTimes {
    /// First and last of the newly reported segments, if all were sent once.
    acked: Option<(Time, Time)>,
    /// Echoed timestamp, if it acknowledges anything.
    pub(super) echoed: Option<Time>,
}

impl<C: CongestionControl> Core<C> {
    /// Transmission times of the segments that `ack` acknowledges, before they are forgotten.
    pub(super) fn ack_times(&self, loss: &impl Loss, now: Time, ack: &Ack) -> AckTimes {
        let una = self.state.seq.una();
        if ack.cum == una {
            return AckTimes::default();
        }
        let first = loss.first_departure(una);
        let Some(departures) = self.departures.as_deref() else { return AckTimes::default() };
        let acked = departures.ends_of_first(una, ack.cum);
        let echoed = match departures.get(una) {
            Some(departure) if !departure.again() || ack.echoes_resent => {
                let (left, soonest) = (departure.time(), now - self.state.rtt.min());
                Some(if departure.often() { left.min(soonest) } else { left })
            }
            _ => first,
        };
        AckTimes { acked, echoed }
    }

    /// Takes the sample of an ACK after it was processed.
    pub(super) fn sample_stamped(&mut self, info: &mut AckInfo, ack: &Ack, times: &AckTimes) {
        let oldest = times.acked.or(info.report.sacked_ends).map(|ends| ends.0);
        let latest = info.report.sacked_ends.or(times.acked).map(|ends| ends.1);
        let echoed = times.echoed.filter(|_| info.acked > 0);
        let Some((oldest, latest)) = oldest.zip(latest).or(echoed.zip(echoed)) else { return };
        let rtt = AckRtt { oldest: info.now - oldest, latest: info.now - latest };
        self.take_sample(rtt, ack.cum, info.in_flight_before);
        if self.state.switches.every_rtt() {
            info.rtt = Some(rtt.latest);
        }
        if info.acked == 0 {
            self.restart_rto_by_sack(info.now, oldest);
        }
    }

    /// Takes the sample of an ACK that SACKs the segment after the highest run, which was sent once, at `left`.
    #[inline]
    pub fn sample_next_sacked(&mut self, now: Time, left: Time, in_flight: u32) {
        if !self.state.switches.timestamps() {
            return;
        }
        self.take_sample(AckRtt { oldest: now - left, latest: now - left }, self.state.seq.una(), in_flight);
        self.restart_rto_by_sack(now, left);
    }

    /// Takes the sample of an ACK of everything below `una` that found `in_flight` segments in the network.
    #[inline]
    fn take_sample(&mut self, rtt: AckRtt, una: u64, in_flight: u32) {
        self.state.rtt.sample_ack(rtt, Outstanding { una, nxt: self.state.seq.nxt() }, in_flight);
        if let Some(optional) = self.optional.as_deref_mut() {
            optional.on_rtt(rtt.oldest);
        }
    }

    /// [`Loss::extend_row`] with a sample of each ACK, for a sender with Linux's timers
    /// ([`Self::smooths_alike`]): these do not depend on the number of segments in flight.
    #[inline]
    pub(super) fn extend_stamped_row(&mut self, loss: &mut impl Loss, times: impl Iterator<Item = Time>) -> u32 {
        let una = self.state.seq.una();
        let round = self.state.seq.out();
        let first = self.departures.as_deref().and_then(|list| list.get(una)).map_or(Time::ZERO, Departure::time);
        debug_assert!(self.smooths_alike(), "the number in flight counts");
        let SenderState { rtt, timers, .. } = &mut self.state;
        let Some(departures) = self.departures.as_deref_mut() else { return 0 };
        loss.extend_row(departures, times, |left, now| {
            rtt.sample_ack(AckRtt { oldest: now - left, latest: now - left }, round, 1);
            if left < first {
                timers.set_rto(now + rtt.rto());
            }
        })
    }

    /// Whether the weight of samples is independent of the segments in flight: RFC 7323's is not (Appendix G).
    #[inline]
    pub(super) fn smooths_alike(&self) -> bool {
        !self.state.switches.timestamps() || self.state.rtt.options().rule() == Rto::Linux
    }

    /// Restarts the retransmission timer, as Linux does, for SACKs of segments sent before the last transmission of the
    /// first outstanding segment, which may still be in flight.
    #[inline]
    fn restart_rto_by_sack(&mut self, now: Time, left: Time) {
        let una = self.state.seq.una();
        if self.state.rtt.options().rule() == Rto::Linux
            && self.departures.as_deref().and_then(|list| list.get(una)).is_some_and(|first| left < first.time())
        {
            self.restart_rto(now);
        }
    }
}
