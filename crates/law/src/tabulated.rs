//! A law given by two tables in the scenario file: a gain of a(w) segments per round trip, and a cut by the share b(w) on
//! loss.
//!
//! Source: S. Floyd, RFC 3649, Section 5, the general form: w + a(w)/w per ACK, (1 - b(w)) w on loss. Between its knots b
//! is linear in log w, as there, and a is a power of w. The error of HighSpeed's a(w) is at most 0.7 % with 16 knots and
//! 0.04 % with 70; with a linear in log w it would be 1.4 % and 0.07 %.
//! Differs from the source: a and b are the user's. A timeout halves, as in RFC 5681.

use crate::{CongestionEvent, Knots, Law, Signal, WindowLaw};
use base::{Card, ParamError, Registered};

/// Largest number of segments gained per round trip: more than the BDP of any link.
const MOST: f64 = 1e6;

base::params! {
    /// Tables of windows, in segments, and values.
    pub struct Params {
        /// Windows and growth per round trip there: a power of the window in between, constant outside.
        increase: Knots = Knots::constant(1.0), "segments";
        /// Windows and the share given up on loss there: linear in log w in between, constant outside.
        decrease: Knots = Knots::constant(0.5), "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Tabulated {
    increase: Knots,
    decrease: Knots,
}

impl Registered for Tabulated {
    type Params = Params;
    const CARD: Card = Card {
        name: "tabulated",
        aliases: &["table"],
        title: "A law from tables of a(w) and b(w)",
        source: "RFC 3649, Section 5 (general form)",
        differs: "The tables are the user's; their defaults are Reno's. A timeout halves, whatever b(w).",
    };
}

impl Law for Tabulated {
    const REMEMBERS: bool = false;
    const RESPONSE: Option<&'static str> = Some("RFC3649");

    fn new(p: &Params) -> Result<Self, ParamError> {
        p.increase.check("increase", |a| a > 0.0 && a <= MOST, "must be above 0 and at most 1000000 segments")?;
        p.decrease.check("decrease", |b| b > 0.0 && b < 1.0, "must lie strictly between 0 and 1")?;
        Ok(Self { increase: p.increase.clone(), decrease: p.decrease.clone() })
    }
}

impl WindowLaw for Tabulated {
    fn per_rtt(&self, w: f64) -> Option<f64> {
        Some(self.increase.power(w))
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        // The table applies to losses; the response to a timeout is that of RFC 5681.
        let b = if event.signal == Signal::Timeout { 0.5 } else { self.decrease.line(cwnd) };
        cwnd * (1.0 - b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::highspeed::{self, Highspeed};
    use base::param::ParamType;
    use base::{Span, Time, Value};

    fn table(pairs: &[[f64; 2]]) -> Knots {
        Knots::read(&Value::Pairs(pairs.to_vec())).unwrap()
    }

    fn after(law: &mut Tabulated, w: f64, signal: Signal) -> f64 {
        law.backoff(w, &CongestionEvent::plain(Time::ZERO, signal, Span::millis(100)))
    }

    #[test]
    fn is_reno_by_default() {
        let mut law = Tabulated::new(&Params::default()).unwrap();
        for w in [1.5, 2.5, 38.5, 1e6] {
            assert_eq!((law.per_rtt(w), after(&mut law, w, Signal::Loss)), (Some(1.0), 0.5 * w));
        }
    }

    /// HighSpeed's b(w), and its a(w) at `n` windows with equally spaced logarithms, plus one knot for the end of the range
    /// in which Reno's growth is larger than the formula.
    fn highspeed(n: u32) -> (Highspeed, Tabulated) {
        let law = Highspeed::new(&highspeed::Params::default()).unwrap();
        let (from, to) = (libm::log(40.244_039), libm::log(83_000.0));
        let windows = (0..n).map(|i| libm::exp(from + (to - from) * f64::from(i) / f64::from(n - 1)));
        let increase: Vec<_> = windows.map(|w| [w, law.a(w)]).collect();
        let tables = Params { increase: table(&increase), decrease: table(&[[38.0, 0.5], [83_000.0, 0.1]]) };
        (law, Tabulated::new(&tables).unwrap())
    }

    #[test]
    fn few_knots_give_highspeed() {
        // These are the errors given at the head of the file.
        for (n, least, most) in [(16, 0.0065, 0.007), (70, 3.5e-4, 4e-4)] {
            let (law, tables) = highspeed(n);
            let off = |w: f64| (tables.per_rtt(w).unwrap() / law.a(w) - 1.0).abs();
            let worst = (1..83_000).map(|w| off(f64::from(w) + 0.5)).fold(0.0, f64::max);
            assert!((least..=most).contains(&worst), "{worst} with {n} knots");
        }
        // b(w) is a line through two knots, so the only error is rounding.
        let (law, mut tables) = highspeed(16);
        for w in [20.0, 38.0, 118.0, 1058.0, 12_834.0, 83_000.0] {
            assert!((after(&mut tables, w, Signal::Loss) / (w * (1.0 - law.b(w))) - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_timeout_halves() {
        let mut law = highspeed(16).1;
        assert_eq!(after(&mut law, 83_000.0, Signal::Timeout), 41_500.0);
    }

    #[test]
    fn invalid_tables_are_refused_and_the_error_names_the_entry() {
        let error = |increase: &[[f64; 2]], decrease: &[[f64; 2]]| {
            Tabulated::new(&Params { increase: table(increase), decrease: table(decrease) }).unwrap_err().to_string()
        };
        let fine: &[[f64; 2]] = &[[1.0, 0.5]];
        assert_eq!(
            error(&[[1.0, 1.0], [2.0, 0.0]], fine),
            "increase[1]: the value must be above 0 and at most 1000000 segments"
        );
        assert_eq!(error(fine, &[[1.0, 0.5], [9.0, 1.0]]), "decrease[1]: the value must lie strictly between 0 and 1");
        assert_eq!(
            error(fine, &[[9.0, 0.5], [8.0, 0.4]]),
            "decrease[1]: the window must be above the 9 in front of it"
        );
    }
}
