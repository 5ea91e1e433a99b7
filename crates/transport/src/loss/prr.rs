//! Proportional rate reduction: number of segments that a recovery may send on each ACK, so that it ends with ssthresh
//! in flight and is clocked by deliveries until then.
//!
//! Source: RFC 9937, Section 6. Below ssthresh a recovery sends what was delivered (PRR-CRB), and one segment more
//! (PRR-SSRB) only on a "safe" ACK: one that moves snd.una and shows no further loss.
//! Differs from RFC 6937, which it obsoletes: there every ACK below ssthresh releases one segment more than it
//! delivers. If ssthresh exceeds the BDP plus the buffer, that rule keeps the buffer full, and the same segments are
//! lost again and again.
//! Differs from Linux: Linux divides by the cwnd before the reduction, not by `RecoverFS`; both are equal if cwnd was
//! full.

use crate::state::{Phase, SenderState};
use law::CongestionControl;

/// State of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Segments outstanding at the start of the recovery, without those SACKed before the ACK that began it: `RecoverFS`.
    flight: u32,
    /// `prr_delivered`.
    delivered: u32,
    /// `prr_out`.
    out: u32,
    /// Limit on the segments in flight.
    cwnd: u32,
}

impl Prr {
    /// Begins a recovery with `flight` segments to be delivered in it, `in_flight` of them in flight now.
    #[must_use]
    pub fn new(flight: u32, in_flight: u32) -> Self {
        Self { flight: flight.max(1), delivered: 0, out: 0, cwnd: in_flight }
    }

    /// Limit on the segments in flight.
    #[inline]
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// Number of segments that may be sent now, with `in_flight` in flight: up to the limit of PRR, if it is in use, in a recovery
    /// or a reduction, and up to the window otherwise.
    #[inline]
    #[must_use]
    pub fn room<C: CongestionControl>(prr: Option<&Self>, state: &SenderState<C>, in_flight: u32) -> u32 {
        let window = match prr {
            Some(prr) if matches!(state.phase, Phase::Recovery | Phase::Reduction) => prr.cwnd,
            _ => state.window(),
        };
        window.saturating_sub(in_flight)
    }

    /// Processes an ACK that reports `delivered` segments and leaves `in_flight` in flight; `safe` says whether it moved
    /// snd.una without showing a further loss. An ACK that delivers nothing changes nothing.
    #[inline]
    pub fn on_ack(&mut self, delivered: u32, in_flight: u32, ssthresh: u32, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let count = if in_flight > ssthresh {
            let share = (u64::from(self.delivered) * u64::from(ssthresh)).div_ceil(u64::from(self.flight));
            (share as u32).saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - in_flight).min(conserved + u32::from(safe))
        };
        // Nothing sent yet: the fast retransmit leaves in any case.
        self.cwnd = in_flight + if self.out == 0 { count.max(1) } else { count };
    }

    /// Notes that a segment is sent.
    #[inline]
    pub fn on_transmit(&mut self) {
        self.out += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers one ACK that delivers a segment: sends all that the window allows; returns how many.
    fn answer(prr: &mut Prr, in_flight: &mut u32, safe: bool) -> u32 {
        *in_flight -= 1;
        prr.on_ack(1, *in_flight, 10, safe);
        let room = prr.cwnd.saturating_sub(*in_flight);
        for _ in 0..room {
            prr.on_transmit();
        }
        *in_flight += room;
        room
    }

    #[test]
    fn sends_one_for_two_while_halving() {
        // RFC 9937, Section 8, first example: 20 segments, the first is lost, ssthresh is half. Limited transmit sends two
        // on the first two duplicate ACKs; the third begins the recovery, with 18 in the network. The windows that the
        // pseudocode of Section 6 gives from that ACK on, by hand.
        let mut prr = Prr::new(20, 18);
        let mut in_flight = 19;
        let (mut windows, mut sent) = (Vec::new(), Vec::new());
        for ack in 3..=22 {
            let left = answer(&mut prr, &mut in_flight, false);
            windows.push(prr.cwnd);
            sent.extend(std::iter::repeat_n(ack, left as usize));
        }
        assert_eq!(windows, [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10, 10, 10, 10]);
        assert_eq!(sent, [3, 5, 7, 9, 11, 13, 15, 17, 20, 21, 22]);
        assert_eq!(in_flight, 10, "ends at ssthresh");
    }

    #[test]
    fn conserves_packets_after_a_burst_of_losses() {
        // Second example: the first 15 of 20 are lost. Duplicate ACKs do not move snd.una, so each releases its own and no
        // more: windows of 5, one retransmission for each. RFC 6937 released two for each.
        let mut prr = Prr::new(20, 4);
        let mut in_flight = 5;
        for _ in 17..=19 {
            assert_eq!(answer(&mut prr, &mut in_flight, false), 1);
            assert_eq!(prr.cwnd, 5);
        }
    }

    #[test]
    fn catches_up_on_safe_acks_alone() {
        let (mut prr, mut in_flight) = (Prr::new(20, 4), 5);
        answer(&mut prr, &mut in_flight, false);
        assert_eq!(answer(&mut prr, &mut in_flight, true), 2, "slow start");
        assert_eq!(answer(&mut prr, &mut in_flight, false), 1, "a further loss");
        while in_flight < 10 {
            answer(&mut prr, &mut in_flight, true);
        }
        assert_eq!(answer(&mut prr, &mut in_flight, true), 1, "not beyond ssthresh");
    }

    #[test]
    fn an_ack_that_delivers_nothing_releases_nothing() {
        let (mut prr, mut in_flight) = (Prr::new(20, 4), 5);
        answer(&mut prr, &mut in_flight, false);
        let before = prr.cwnd;
        prr.on_ack(0, in_flight, 10, true);
        assert_eq!(prr.cwnd, before);
    }

    #[test]
    fn sends_the_fast_retransmit_if_the_share_is_zero() {
        let mut prr = Prr::new(20, 10);
        prr.on_ack(1, 10, 10, false);
        assert_eq!(prr.cwnd, 11);
    }
}
