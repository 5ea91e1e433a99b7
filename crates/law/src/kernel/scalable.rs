//! Scalable TCP, bit for bit that of `crates/bpf/kernel/scalable.h`.
//!
//! Source: Kelly 2003. Differs from [`crate::scalable`]: a gain of 20 bits after the point.

use super::arithmetic::{ONE, SEGMENT, grow, keep, middle};
use super::{Signal, Twin, of_one, of_window};
use crate::{Law, scalable};
use base::ParamError;

/// As they lie in the BPF object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// 1/4096 segments.
    pub legacy_window: u64,
    /// Of 2^20, for each segment.
    pub increase: u64,
    /// Of 2^20.
    pub decrease: u64,
}

impl Params {
    /// From the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &scalable::Params) -> Result<Self, ParamError> {
        scalable::Scalable::new(p)?;
        Ok(Self {
            legacy_window: of_window("legacy_window", p.legacy_window)?,
            increase: of_one(p.increase),
            decrease: of_one(p.decrease),
        })
    }
}

/// State of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// What the window has grown beyond whole segments.
    pub grown: u64,
}

impl Twin for State {
    type Params = Params;

    fn avoid(&mut self, p: &Params, cwnd: u32, ack: &Signal) -> u32 {
        let middle = middle(cwnd);
        let gain = if middle <= p.legacy_window { ONE } else { (p.increase * middle) >> 12 };
        grow(&mut self.grown, gain, cwnd, ack.acked)
    }

    fn backoff(&mut self, p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.grown = 0;
        keep(cwnd, if u64::from(cwnd) * SEGMENT <= p.legacy_window { ONE / 2 } else { p.decrease })
    }

    fn timeout(&mut self, _p: &Params, cwnd: u32, _loss: &Signal) -> u32 {
        self.grown = 0;
        keep(cwnd, ONE / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_a_hundredth_of_a_segment_for_each_and_keeps_seven_eighths() {
        let p = Params::of(&scalable::Params::default()).unwrap();
        let mut twin = State::default();
        let ack = Signal { acked: 1, ..Signal::default() };
        let mut cwnd = 1000;
        for _ in 0..10_000 {
            cwnd = twin.avoid(&p, cwnd, &ack);
        }
        // 0.01 has 20 bits, so 10,000 of them are 100.002; a segment may be under way.
        assert!((1099..=1100).contains(&cwnd), "{cwnd}");
        assert_eq!(twin.backoff(&p, 1100, &ack), 962);
        assert_eq!(twin.backoff(&p, 16, &ack), 8);
        assert_eq!(twin.timeout(&p, 1100, &ack), 550);
    }
}
