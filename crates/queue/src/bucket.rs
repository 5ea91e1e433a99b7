//! Token bucket: passes a burst at once, and on average no more than a rate.
//!
//! Source: RFC 2697 and RFC 4115 for the terms; Linux's tbf and police do the same. It counts in whole numbers (bits times
//! picoseconds) without rounding errors: the data that passes between two instants never exceeds burst + rate * time.

use base::time::PS_PER_S;
use base::{Bytes, Rate, Span, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    /// Capacity, and level at time `at`, in (bit/s) times picoseconds.
    burst: u128,
    level: u128,
    at: Time,
}

fn work(size: Bytes) -> u128 {
    u128::from(size.0) * 8 * u128::from(PS_PER_S)
}

impl TokenBucket {
    /// A full bucket.
    #[must_use]
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        Self { rate, burst: work(burst), level: work(burst), at: Time::ZERO }
    }

    /// The rate at which it is filled.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    fn fill(&mut self, now: Time) {
        let more = u128::from(self.rate.0) * u128::from(now.since(self.at).0);
        (self.level, self.at) = (self.burst.min(self.level + more), now.max(self.at));
    }

    /// Takes `size` at `now` if the bucket holds that much, and returns whether it did. Calls must be in order of time.
    pub fn take(&mut self, now: Time, size: Bytes) -> bool {
        self.fill(now);
        let there = work(size) <= self.level;
        if there {
            self.level -= work(size);
        }
        there
    }

    /// Takes `size`, which is at most the burst, at the first time from `start` on at which the bucket holds it. Returns
    /// that time.
    pub fn wait(&mut self, start: Time, size: Bytes) -> Time {
        self.fill(start);
        let need = work(size).min(self.burst);
        let short = need.saturating_sub(self.level).div_ceil(u128::from(self.rate.0));
        let begin = start + Span(short as u64);
        self.fill(begin);
        self.level -= need;
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Stream;

    #[test]
    fn between_any_two_instants_at_most_burst_plus_rate_times_time_passes() {
        // 8 Mbit/s are one byte per microsecond.
        let (rate, burst) = (Rate(8_000_000), Bytes(10_000));
        for waits in [false, true] {
            let mut bucket = TokenBucket::new(rate, burst);
            let mut chance = Stream::new(1, 0, ("test", 0), "bucket");
            let (mut now, mut passed) = (Time::ZERO, Vec::new());
            for _ in 0..3000 {
                // Offers twice as much as may pass, in bursts and pauses.
                now = Time(now.0 + if chance.below(50) == 0 { 20_000_000_000 } else { chance.below(200_000_000) });
                let size = 40 + chance.below(1460);
                if waits {
                    now = bucket.wait(now, Bytes(size));
                    passed.push((now, size));
                } else if bucket.take(now, Bytes(size)) {
                    passed.push((now, size));
                }
            }
            let (mut most, mut sums) = (0.0f64, vec![0]);
            for (_, size) in &passed {
                sums.push(sums[sums.len() - 1] + size);
            }
            for from in 0..passed.len() {
                for to in from..passed.len() {
                    let span = (passed[to].0 - passed[from].0).0;
                    let (bytes, may) = (sums[to + 1] - sums[from], burst.0 as f64 + span as f64 / 1e6);
                    assert!(bytes as f64 <= may, "{bytes} bytes in {span} ps");
                    most = most.max(bytes as f64 / may);
                }
            }
            // The bound is reached up to less than a packet; a bucket with half the burst would stay far below.
            assert!(most > 0.97, "{most}");
        }
    }

    #[test]
    fn a_packet_waits_exactly_until_its_tokens_have_arrived() {
        let mut bucket = TokenBucket::new(Rate(8_000_000), Bytes(3000));
        let us = |n: u64| Time(n * 1_000_000);
        assert_eq!(bucket.wait(us(5), Bytes(1500)), us(5));
        assert_eq!(bucket.wait(us(5), Bytes(1500)), us(5));
        assert_eq!(bucket.wait(us(5), Bytes(1500)), us(1505));
        assert!(!bucket.take(us(1600), Bytes(96)));
        assert!(bucket.take(us(1600), Bytes(95)));
        // The bucket is full again, and not more than full.
        assert_eq!(bucket.wait(us(9000), Bytes(3000)), us(9000));
        assert_eq!(bucket.wait(us(9000), Bytes(1)), us(9001));
    }
}
