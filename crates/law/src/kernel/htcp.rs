//! H-TCP, bit for bit that of `crates/bpf/kernel/htcp.h`.
//!
//! Source: Shorten and Leith 2004. Differs from [`crate::htcp`]: alpha holds for the instant of each ACK; a round trip
//! of its throughput is a smoothed round-trip time.

use super::arithmetic::{ONE, grow, keep};
use super::{Signal, Twin, micros, of_one};
use crate::{Law, htcp};
use base::ParamError;

/// Microseconds after the low-speed time beyond which alpha stays.
const LONGEST: u64 = 3_600_000_000;
/// Segments in 2^20 us above which throughput counts as such.
const FASTEST: u64 = 1 << 40;

/// As they lie in the BPF object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Params {
    /// us.
    pub low_speed: u64,
    /// Of 2^20.
    pub beta_min: u64,
    /// Of 2^20.
    pub beta_max: u64,
    /// Of 2^20.
    pub throughput_change: u64,
    /// Whether the share kept follows the round-trip times.
    pub adaptive_backoff: u32,
    /// Whether alpha is scaled.
    pub rtt_scaling: u32,
    /// us.
    pub reference_rtt: u32,
    /// Padding, so that every byte is defined.
    pub spare: u32,
}

impl Params {
    /// From the parameters of the law in the simulator.
    ///
    /// # Errors
    /// The first parameter outside the range of the kernel's numbers.
    pub fn of(p: &htcp::Params) -> Result<Self, ParamError> {
        htcp::Htcp::new(p)?;
        if p.throughput_change >= 16.0 {
            return Err(ParamError::new("throughput_change", "must be below 16 in the kernel"));
        }
        Ok(Self {
            low_speed: if p.low_speed.0 == 0 { 0 } else { micros("low_speed", p.low_speed, u32::MAX)?.into() },
            beta_min: of_one(p.beta_min),
            beta_max: of_one(p.beta_max),
            throughput_change: of_one(p.throughput_change),
            adaptive_backoff: p.adaptive_backoff.into(),
            rtt_scaling: p.rtt_scaling.into(),
            reference_rtt: micros("reference_rtt", p.reference_rtt, 1 << 24)?,
            spare: 0,
        })
    }
}

/// State of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct State {
    /// What the window has grown beyond whole segments.
    pub grown: u64,
    /// The last loss, or the first sample; 0 before.
    pub since: u64,
    /// When the round trip under way began.
    pub round: u64,
    /// Delivered by then.
    pub delivered: u64,
    /// In the last whole round trip, segments in 2^20 us.
    pub throughput: u64,
    /// Before the last loss.
    pub throughput_before: u64,
    /// Of 2^20; 0 before the first loss.
    pub beta: u32,
    /// Since the last loss.
    pub max_rtt: u32,
}

impl State {
    /// Segments (of 2^20) a round trip.
    fn alpha(&self, p: &Params, ack: &Signal) -> u64 {
        let beta = if self.beta > 0 { self.beta.into() } else { p.beta_min };
        let since = if self.since > 0 { self.since } else { ack.now };
        let past = ack.now.saturating_sub(since).clamp(p.low_speed, p.low_speed + LONGEST) - p.low_speed;
        let x = (past << 16) / 1_000_000;
        let alpha = (1 << 16) + 10 * x + ((x * x) >> 18);
        let scale = if p.rtt_scaling > 0 && ack.srtt > 0 {
            (u64::from(ack.srtt) * ONE / u64::from(p.reference_rtt)).clamp(ONE / 10, 2 * ONE)
        } else {
            ONE
        };
        ((((alpha * (ONE - beta)) >> 20) * scale) >> 20) << 5
    }

    /// Whether throughput was about the same before this loss and before the last one.
    fn is_steady(&self, p: &Params) -> bool {
        let (now, before) = (self.throughput, self.throughput_before);
        before > 0 && now.abs_diff(before) <= (before * p.throughput_change) >> 20
    }

    /// A loss starts the clock anew.
    fn forget(&mut self, p: &Params, loss: &Signal) {
        self.beta = p.beta_min as u32;
        self.throughput_before = self.throughput;
        (self.since, self.round, self.delivered) = (loss.now, loss.now, loss.delivered);
        (self.max_rtt, self.grown) = (0, 0);
    }
}

impl Twin for State {
    type Params = Params;
    const IN_SLOW_START: bool = true;
    const EVERY_RTT: bool = true;

    fn sample(&mut self, _p: &Params, _cwnd: u32, ack: &Signal) -> bool {
        let took = ack.now.wrapping_sub(self.round);
        self.max_rtt = self.max_rtt.max(ack.rtt);
        if self.since == 0 {
            (self.since, self.round, self.delivered) = (ack.now, ack.now, ack.delivered);
        } else if took > 0 && took >= ack.srtt.into() {
            self.throughput = ((ack.delivered.wrapping_sub(self.delivered) << 20) / took).min(FASTEST);
            (self.round, self.delivered) = (ack.now, ack.delivered);
        }
        false
    }

    fn avoid(&mut self, p: &Params, cwnd: u32, ack: &Signal) -> u32 {
        let alpha = self.alpha(p, ack);
        grow(&mut self.grown, alpha, cwnd, ack.acked)
    }

    fn backoff(&mut self, p: &Params, cwnd: u32, loss: &Signal) -> u32 {
        let max_rtt = self.max_rtt.max(loss.rtt);
        let beta = if p.adaptive_backoff > 0 && max_rtt > 0 && self.is_steady(p) {
            (u64::from(loss.min_rtt) * ONE / u64::from(max_rtt)).clamp(p.beta_min, p.beta_max)
        } else {
            p.beta_min
        };
        self.forget(p, loss);
        self.beta = beta as u32;
        keep(cwnd, ONE - beta)
    }

    fn timeout(&mut self, p: &Params, cwnd: u32, loss: &Signal) -> u32 {
        self.forget(p, loss);
        keep(cwnd, ONE / 2)
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("beta", f64::from(self.beta) / ONE as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_is_the_papers_function_of_the_time_since_the_event() {
        let p = Params::of(&htcp::Params::default()).unwrap();
        let twin = State { since: 1, ..State::default() };
        for (s, alpha) in [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (11.0, 126.0), (101.0, 3501.0)] {
            let now = 1 + (s * 1e6) as u64;
            let found = twin.alpha(&p, &Signal { now, ..Signal::default() }) as f64 / ONE as f64;
            // 16 bits after the point, ten of which are lost in 10 x.
            assert!((found - alpha).abs() < 2e-4, "alpha after {s} s = {found}");
        }
    }

    /// Two steady cycles in which the queue raises the round-trip time to `full` us; what the second loss keeps of 1000.
    fn kept(full: u32, second_rate: u64) -> u32 {
        let p = Params::of(&htcp::Params::default()).unwrap();
        let mut twin = State::default();
        let at =
            |now, delivered, rtt| Signal { now, delivered, rtt, srtt: 100_000, min_rtt: 100_000, ..Signal::default() };
        twin.sample(&p, 0, &at(1_000_000, 0, 100_000));
        twin.sample(&p, 0, &at(2_000_000, 10_000, full));
        assert_eq!(twin.backoff(&p, 1000, &at(2_000_000, 10_000, 0)), 500);
        twin.sample(&p, 0, &at(3_000_000, 10_000 + second_rate, full));
        twin.backoff(&p, 1000, &at(3_000_000, 20_000, 0))
    }

    #[test]
    fn keeps_the_ratio_of_round_trip_times_between_half_and_four_fifths_if_throughput_is_steady() {
        assert_eq!((kept(160_000, 10_000), kept(300_000, 10_000), kept(110_000, 10_000)), (625, 500, 800));
        assert_eq!((kept(110_000, 12_010), kept(110_000, 7990), kept(110_000, 11_990)), (500, 500, 800));
    }
}
