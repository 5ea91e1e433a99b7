//! Proportional rate reduction: how much a recovery may send on each ACK, so that it ends with ssthresh in the network
//! and is clocked by what arrives all the way there.
//!
//! Source: RFC 6937, Section 3, with the slow-start reduction bound (PRR-SSRB).
//! Differs from RFC 9937, which replaces it, and from Linux: there the slow-start bound holds only on ACKs that move
//! snd.una without new losses ("safe" ones), otherwise the conservative one; segments SACKed before the recovery do not
//! count as in flight; an ACK that delivers nothing releases nothing.

/// The state of one recovery. Everything counts segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// `RecoverFS`: outstanding when the recovery began.
    flight: u32,
    /// `prr_delivered`.
    delivered: u32,
    /// `prr_out`.
    out: u32,
    /// What this ACK still allows.
    pub room: u32,
}

impl Prr {
    /// A recovery begins with `flight` segments outstanding.
    #[must_use]
    pub fn new(flight: u32) -> Self {
        Self { flight: flight.max(1), delivered: 0, out: 0, room: 0 }
    }

    /// An ACK reports `delivered` segments as arrived and leaves `pipe` in the network.
    pub fn on_ack(&mut self, delivered: u32, pipe: u32, ssthresh: u32) {
        self.delivered += delivered;
        self.room = if pipe > ssthresh {
            let share = (u64::from(self.delivered) * u64::from(ssthresh)).div_ceil(u64::from(self.flight));
            (share as u32).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + 1;
            (ssthresh - pipe).min(bound)
        };
    }

    /// A segment leaves.
    pub fn on_transmit(&mut self) {
        self.out += 1;
        self.room = self.room.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_one_for_two_while_halving() {
        // RFC 6937, Section 4, first example: 20 segments in flight, one lost, ssthresh one half. Of the 19 that arrive
        // every second releases one, beginning with the fast retransmit, until ssthresh is reached: from there one for
        // one.
        let mut prr = Prr::new(20);
        let (mut pipe, mut sent) = (19, Vec::new());
        for ack in 0..19 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10);
            if prr.room > 0 {
                assert_eq!(prr.room, 1, "one at a time");
                prr.on_transmit();
                pipe += 1;
                sent.push(ack);
            }
        }
        assert_eq!(sent, [0, 2, 4, 6, 8, 10, 12, 14, 17, 18]);
        assert_eq!(pipe, 10, "ends at ssthresh");
    }

    #[test]
    fn catches_up_to_ssthresh_after_a_burst_of_losses() {
        // Section 4, second example: 15 of 20 lost. The pipe is below ssthresh at once: each ACK releases its own and
        // one more.
        let mut prr = Prr::new(20);
        let (mut pipe, mut sent) = (5, 0);
        for _ in 0..5 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10);
            assert!(prr.room <= 2, "slow start at most");
            while prr.room > 0 {
                prr.on_transmit();
                pipe += 1;
                sent += 1;
            }
        }
        assert_eq!((sent, pipe), (10, 10));
    }
}
