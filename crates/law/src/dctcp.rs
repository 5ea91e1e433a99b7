//! DCTCP: a mark cuts the window by half the recent share of marked segments; growth and losses are as in Reno.
//!
//! Source: RFC 8257, Sections 3.3 (alpha, the cut), 3.4 (growth) and 3.5 (losses).
//! Differs from the source: the share counts segments, not bytes; after a timeout each ACK counts as one.
//! Differs from Linux: alpha there is in whole units of 1/1024, and reaches zero when there are no marks.

use crate::{AckSample, CongestionEvent, Law, Needs, Signal, WindowLaw};
use base::{Card, Need, ParamError, Registered};

base::params! {
    /// RFC 8257.
    pub struct Params {
        /// Weight of the latest window's share of marks in alpha.
        g: f64 = 0.0625, "", needs [Marks];
        /// Share of marks assumed at first.
        initial_alpha: f64 = 1.0, "", needs [Marks];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Dctcp {
    g: f64,
    /// Average share of marked segments.
    alpha: f64,
    /// Segments acknowledged in this window of data, and the number of them that were marked.
    acked: f64,
    marked: f64,
    /// Growth per acknowledged segment in this round; zero until it is known.
    gain: f64,
}

impl Registered for Dctcp {
    type Params = Params;
    const CARD: Card = Card {
        name: "dctcp",
        aliases: &["TcpDctcp"],
        title: "Data Center TCP",
        source: "RFC 8257",
        differs: "The share of marks counts segments; after a timeout each ACK counts as one. Linux keeps alpha in units \
                  of 1/1024.",
    };
    const NEEDS: &'static [Need] = &[Need::Marks];
    const WITHOUT: &'static str = "reno";
}

impl Law for Dctcp {
    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.g <= 0.0 || p.g > 1.0 {
            return Err(ParamError::new("g", "must be above 0 and at most 1"));
        }
        if p.initial_alpha < 0.0 || p.initial_alpha > 1.0 {
            return Err(ParamError::new("initial_alpha", "must lie between 0 and 1"));
        }
        Ok(Self { g: p.g, alpha: p.initial_alpha, acked: 0.0, marked: 0.0, gain: 0.0 })
    }
}

impl WindowLaw for Dctcp {
    fn needs(&self) -> Needs {
        Needs { rounds: true, marks: true, ..Needs::default() }
    }

    fn on_sample(&mut self, ack: &AckSample) {
        self.acked += ack.acked;
        self.marked += ack.ce_marked;
        if ack.round_start {
            self.alpha += self.g * (self.marked / self.acked - self.alpha);
            (self.acked, self.marked) = (0.0, 0.0);
        }
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        if ack.round_start || self.gain == 0.0 {
            self.gain = 1.0 / cwnd;
        }
        cwnd + self.gain * ack.acked
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        self.gain = 0.0;
        cwnd * (1.0 - 0.5 * if event.signal == Signal::Ecn { self.alpha } else { 1.0 })
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("alpha", self.alpha);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Span, Time};

    fn law() -> Dctcp {
        Dctcp::new(&Params::default()).unwrap()
    }

    /// Acknowledges a window of `w` segments, the first `marked` of them marked; returns the window with Reno's growth.
    fn round(law: &mut Dctcp, mut w: f64, marked: u64) -> f64 {
        let segments = w as u64;
        for i in 0..segments {
            let ce_marked = if i < marked { 1.0 } else { 0.0 };
            // Here the ACK that ends the window of data comes last.
            let round_start = i + 1 == segments;
            let ack = AckSample { ce_marked, round_start, ..AckSample::plain(Time(i), Span::millis(1)) };
            law.on_sample(&ack);
            w = law.avoid(w, &ack);
        }
        w
    }

    fn keeps(law: &mut Dctcp, w: f64, signal: Signal) -> f64 {
        law.backoff(w, &CongestionEvent::plain(Time(0), signal, Span::millis(1)))
    }

    #[test]
    fn alpha_follows_the_share_of_marks_with_a_sixteenth_per_window() {
        let mut law = law();
        for _ in 0..10 {
            round(&mut law, 20.0, 0);
        }
        // (15/16)^10.
        assert!((law.alpha - 0.524_460_475_0).abs() < 1e-9, "{}", law.alpha);
        for _ in 0..300 {
            round(&mut law, 20.0, 5);
        }
        // A distance of (15/16)^300 = 4e-9 of the way is left.
        assert!((law.alpha - 0.25).abs() < 1e-8, "{}", law.alpha);
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha_and_a_loss_by_half() {
        let mut law = law();
        assert_eq!(keeps(&mut law, 100.0, Signal::Ecn), 50.0);
        law.alpha = 0.2;
        assert_eq!(keeps(&mut law, 100.0, Signal::Ecn), 90.0);
        assert_eq!(keeps(&mut law, 100.0, Signal::Loss), 50.0);
        assert_eq!(keeps(&mut law, 100.0, Signal::Timeout), 50.0);
    }

    #[test]
    fn a_flow_marked_in_the_last_round_before_each_cut_settles_at_the_square_root_of_two_over_its_window() {
        // Alizadeh et al., SIGCOMM 2010, Section 3.3: alpha = sqrt(2/W*). All segments of a window above W* are marked.
        let mut law = Dctcp::new(&Params { g: 1.0 / 1024.0, ..Params::default() }).unwrap();
        let (mut w, mut sum) = (2000.0, 0.0);
        for i in 0..12_000 {
            if w > 2000.0 {
                round(&mut law, w, u64::MAX);
                w = keeps(&mut law, w, Signal::Ecn);
            } else {
                w = round(&mut law, w, 0);
            }
            if i >= 6000 {
                sum += law.alpha / 6000.0;
            }
        }
        // sqrt(2/2000) = 0.0316. The period of W* alpha/2 = 31.6 rounds becomes whole rounds here, plus the marked one: up
        // to two rounds, or 6 %, more between marks.
        assert!((0.94..1.0).contains(&(sum / 0.001_f64.sqrt())), "{sum} instead of 0.0316");
    }
}
