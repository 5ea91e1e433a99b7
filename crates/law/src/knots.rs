//! A function of the window, given by knots in a scenario file: `[[1, 1], [38, 1], [83000, 72.5]]`.
//!
//! It is constant below the first knot and above the last. In between it is either linear in log w or a power of w (linear
//! in the logarithms of both); the law decides. At a knot it has exactly the knot's value.

use base::param::ParamType;
use base::{ParamError, Value};
use std::sync::Arc;

/// Largest number of knots: more than the curve of any law needs.
const MOST: usize = 4096;

/// See the [module](self). Copies share their knots.
#[derive(Clone, Debug, PartialEq)]
pub struct Knots(Arc<[Knot]>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Knot {
    w: f64,
    y: f64,
    ln_w: f64,
    /// Slope dy / d ln w up to the next knot; 0 at the last knot.
    slope: f64,
    /// Exponent d ln y / d ln w up to the next knot; 0 at the last knot.
    power: f64,
}

impl Knots {
    /// A table with these windows and values, at least one pair.
    fn through(pairs: &[[f64; 2]]) -> Self {
        let knot = |(i, &[w, y]): (usize, &[f64; 2])| {
            let ln_w = libm::log(w);
            let [next_w, next_y] = pairs.get(i + 1).copied().unwrap_or([w, y]);
            let over = if next_w > w { libm::log(next_w) - ln_w } else { f64::INFINITY };
            let power = if next_y == y { 0.0 } else { (libm::log(next_y) - libm::log(y)) / over };
            Knot { w, y, ln_w, slope: (next_y - y) / over, power }
        };
        Self(pairs.iter().enumerate().map(knot).collect())
    }

    /// A table with the same value at every window.
    #[must_use]
    pub fn constant(y: f64) -> Self {
        Self::through(&[[1.0, y]])
    }

    /// The value at window `w`, linear in log w between knots.
    #[must_use]
    pub fn line(&self, w: f64) -> f64 {
        let (knot, ln) = self.below(w);
        knot.y + knot.slope * ln
    }

    /// The value at window `w`, a power of w between knots.
    #[must_use]
    pub fn power(&self, w: f64) -> f64 {
        let (knot, ln) = self.below(w);
        knot.y * libm::exp(knot.power * ln)
    }

    /// The last knot that is not above `w` (the first one if all are), and ln of `w` divided by the knot's window.
    fn below(&self, w: f64) -> (&Knot, f64) {
        let above = self.0.partition_point(|knot| knot.w <= w);
        let knot = &self.0[above.saturating_sub(1)];
        (knot, if above == 0 { 0.0 } else { libm::log(w) - knot.ln_w })
    }

    /// Checks that the first window is at least one segment, that the windows increase, and that all values are `fine`.
    /// `right` describes valid values.
    ///
    /// # Errors
    /// The first invalid entry of `field`, with a description of valid ones.
    pub fn check(&self, field: &'static str, fine: impl Fn(f64) -> bool, right: &str) -> Result<(), ParamError> {
        let mut least = 1.0;
        for (i, knot) in self.0.iter().enumerate() {
            if i == 0 && knot.w < least {
                return Err(ParamError::at(field, i, "the window must be 1 segment or more"));
            }
            if i > 0 && knot.w <= least {
                return Err(ParamError::at(field, i, format!("the window must be above the {least} in front of it")));
            }
            if !fine(knot.y) {
                return Err(ParamError::at(field, i, format!("the value {right}")));
            }
            least = knot.w;
        }
        Ok(())
    }
}

impl ParamType for Knots {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Pairs(pairs) if pairs.is_empty() || pairs.len() > MOST => {
                Err(format!("must have between 1 and {MOST} pairs, not {}", pairs.len()))
            }
            Value::Pairs(pairs) if pairs.iter().flatten().all(|x| x.is_finite()) => Ok(Self::through(pairs)),
            _ => Err("must be a list of pairs of window and value such as [[1, 1], [1000, 8.2]]".into()),
        }
    }
    fn write(&self) -> Value {
        Value::Pairs(self.0.iter().map(|knot| [knot.w, knot.y]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knots(pairs: &[[f64; 2]]) -> Knots {
        Knots::read(&Value::Pairs(pairs.to_vec())).unwrap()
    }

    #[test]
    fn is_exact_at_the_knots_and_constant_outside_them() {
        let pairs = [[2.0, 0.3], [7.0, 0.9], [1000.0, 0.1]];
        let table = knots(&pairs);
        for [w, y] in pairs {
            assert_eq!([table.line(w), table.power(w)], [y, y]);
        }
        for (w, y) in [(0.5, 0.3), (1.0, 0.3), (1001.0, 0.1), (1e300, 0.1)] {
            assert_eq!([table.line(w), table.power(w)], [y, y]);
        }
        // Flat pieces are exact, so Reno's table is exactly Reno.
        let flat = knots(&[[1.0, 0.1], [10.0, 0.1]]);
        assert!((1..100).all(|w| [flat.line(0.1 * f64::from(w)), flat.power(0.1 * f64::from(w))] == [0.1, 0.1]));
    }

    #[test]
    fn is_a_line_in_the_logarithm_or_a_power() {
        let table = knots(&[[1.0, 1.0], [100.0, 10.0]]);
        // Half way between 1 and 100 in logarithms: the arithmetic mean, and the geometric mean; two roundings each.
        assert!((table.line(10.0) - 5.5).abs() < 1e-14);
        assert!((table.power(10.0) - libm::sqrt(10.0)).abs() < 1e-14);
        // Two knots are enough for a power law, whatever the distance between them.
        let power = |w: f64| 0.078 * libm::pow(w, 0.8);
        let table = knots(&[[1.0, power(1.0)], [1e6, power(1e6)]]);
        assert!([3.0, 77.0, 12_345.0].iter().all(|&w| (table.power(w) / power(w) - 1.0).abs() < 1e-14));
    }

    #[test]
    fn an_invalid_table_is_refused() {
        let error = |value| Knots::read(&value).unwrap_err();
        let form = "must be a list of pairs of window and value such as [[1, 1], [1000, 8.2]]";
        assert_eq!(error(Value::Number(1.0)), form);
        assert_eq!(error(Value::Pairs(vec![[1.0, f64::NAN]])), form);
        assert_eq!(error(Value::Pairs(vec![])), "must have between 1 and 4096 pairs, not 0");
        assert_eq!(error(Value::Pairs(vec![[1.0, 1.0]; 4097])), "must have between 1 and 4096 pairs, not 4097");
        let check = |pairs: &[[f64; 2]]| {
            knots(pairs).check("a", |y| y > 0.0, "must be above 0").map_err(|error| error.to_string())
        };
        assert_eq!(check(&[[1.0, 1.0], [1.5, 2.0]]), Ok(()));
        assert_eq!(check(&[[0.5, 1.0]]).unwrap_err(), "a[0]: the window must be 1 segment or more");
        assert_eq!(
            check(&[[1.0, 1.0], [3.0, 1.0], [3.0, 2.0]]).unwrap_err(),
            "a[2]: the window must be above the 3 in front of it"
        );
        assert_eq!(check(&[[1.0, 1.0], [3.0, 0.0]]).unwrap_err(), "a[1]: the value must be above 0");
    }

    #[test]
    fn writing_and_reading_back_is_the_identity() {
        let table = knots(&[[1.0, 1.0], [38.0, 0.3], [83_000.0, 1.0 / 3.0]]);
        assert_eq!(Knots::read(&table.write()), Ok(table));
    }
}
