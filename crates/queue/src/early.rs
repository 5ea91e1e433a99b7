//! Random early detection, the part common to all kinds: the average, the drop probability, the spacing of drops.
//!
//! Source: Floyd and Jacobson 1993, Figure 2; its gentle form: Floyd, Gummadi and Shenker 2001. The average is taken over
//! the backlog that arrivals find, without the arrival itself and the packet in service.
//! Differs from the source: an arrival at an idle server first decays the average and then counts as a sample of 0; a drop
//! for lack of room restarts `count`. Both are as in ns-2.
//! Differs from ns-2: the number of packets that could have been sent in an idle time is not truncated to a whole
//! number, nor forgotten when a packet is dropped in that time; the first packet at or above `min_th` has count 0, as
//! in the source; a backlog of 0 or 1 is exempt only where `least_backlog` says so; in byte mode `count` counts
//! packets.
//! Differs from Linux: in byte mode p is scaled with the size of the packet.

mod adaptive;
mod params;

pub(crate) use adaptive::{Adaptation, Changes, Timer, adaptive_red_params};
use params::Curve;
pub use params::{AdaptOn, Count, Unit};
pub(crate) use params::{Open, SPELLINGS, Settings, red_params, weight_of_a_second};

use crate::signal::signal;
use crate::{Backlog, Limit, Packet, Port, Verdict};
use base::time::PS_PER_S;
use base::{Cause, ParamError, Stream, Time};

/// The rule of RED. [`crate::red`] consists only of it, and the other kinds adapt its `max_p`.
#[derive(Clone, Debug)]
pub(crate) struct Early {
    limit: Limit,
    curve: Curve,
    weight: f64,
    keep: f64,
    /// Logarithms of the average's decay factors: for an idle picosecond, and for a packet that finds an empty queue.
    idle: f64,
    empty: f64,
    count_by: Count,
    unit: Unit,
    /// Packets of the link's mean size per byte, and packets of size `avpkt` per byte.
    packets_per_byte: f64,
    sizes_per_byte: f64,
    ecn: bool,
    least_backlog: f64,
    chance: Stream,
    average: f64,
    /// Idle picoseconds, and packets that found the server idle, whose decay has not been applied to the average yet. Below
    /// `min_th` they change no decision, and an exponential for each would cost more than everything else.
    pending_decay: (u64, u32),
    /// Time up to which idle time is included in the average or in `pending_decay`.
    decayed_to: Time,
    /// Packets since the last drop or mark; -1 while the average is below `min_th`.
    count: f64,
}

impl Early {
    pub fn new(s: &Settings, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        s.check()?;
        Ok(Self {
            limit: port.limit,
            curve: Curve::new(s),
            weight: s.w_q,
            keep: 1.0 - s.w_q,
            idle: libm::log1p(-s.w_q) * port.capacity() / s.avpkt / PS_PER_S as f64,
            empty: libm::log1p(-s.w_q),
            count_by: s.count,
            unit: s.unit,
            packets_per_byte: 1.0 / port.packet,
            sizes_per_byte: 1.0 / (s.avpkt * port.packet),
            ecn: s.ecn,
            least_backlog: s.least_backlog,
            chance,
            average: 0.0,
            pending_decay: (0, 0),
            decayed_to: Time::ZERO,
            count: -1.0,
        })
    }

    #[inline]
    pub fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if let Some(since) = idle_since {
            self.pending_decay.0 += packet.arrived.since(since.max(self.decayed_to)).0;
            self.decayed_to = packet.arrived;
            // Nothing waits at an idle server, so the average can only fall.
            if self.average < self.curve.min_th && self.pending_decay.1 < u32::MAX {
                self.pending_decay.1 += 1;
                self.count = -1.0;
                return Verdict::Accept;
            }
        }
        if self.pending_decay != (0, 0) {
            self.average = self.average_after(self.pending_decay);
            self.pending_decay = (0, 0);
        }
        let waiting = match self.unit {
            Unit::Packets => f64::from(backlog.packets),
            Unit::Bytes => backlog.bytes.0 as f64 * self.packets_per_byte,
        };
        self.average = self.keep * self.average + self.weight * waiting;
        let spared = self.average < self.curve.min_th || waiting < self.least_backlog;
        let verdict = if spared { self.below_min_th() } else { self.decide(packet) };
        if idle_since.is_none() && !self.limit.has_room(backlog, packet) && !matches!(verdict, Verdict::Drop(_)) {
            // The next early drop is spaced from this one, although its cause is different.
            self.count = self.count.min(0.0);
            return Verdict::Drop(Cause::Overflow);
        }
        verdict
    }

    #[inline]
    fn below_min_th(&mut self) -> Verdict {
        self.count = -1.0;
        // Too small to matter; multiplications with numbers close to the smallest one are slow.
        if self.average < 1e-200 {
            self.average = 0.0;
        }
        Verdict::Accept
    }

    fn decide(&mut self, packet: &Packet) -> Verdict {
        if self.average >= self.curve.end {
            self.count = 0.0;
            return Verdict::Drop(Cause::Forced);
        }
        self.count += 1.0;
        let p_b = match self.unit {
            Unit::Packets => self.curve.at(self.average),
            Unit::Bytes => (self.curve.at(self.average) * f64::from(packet.size) * self.sizes_per_byte).min(1.0),
        };
        let p_a = spaced(self.count_by, self.count, p_b);
        if p_a <= 0.0 || (p_a < 1.0 && self.chance.unit() >= p_a) {
            return Verdict::Accept;
        }
        self.count = 0.0;
        // RFC 3168, Section 7: a router may mark instead of dropping, but drops when the average is above the range.
        signal(packet, Cause::Early, self.ecn)
    }

    /// The average at `now`, decayed by the time that the server has been idle.
    pub fn average_at(&self, now: Time, idle_since: Option<Time>) -> f64 {
        // A packet dropped at an idle server does not end the idle period; the time before that packet is applied already.
        let idle = idle_since.map_or(0, |since| now.since(since.max(self.decayed_to)).0);
        self.average_after((self.pending_decay.0 + idle, self.pending_decay.1))
    }

    /// Average after `idle` picoseconds without a packet and `packets` packets that found an empty queue.
    #[inline]
    fn average_after(&self, (idle, packets): (u64, u32)) -> f64 {
        if self.average == 0.0 {
            return 0.0;
        }
        // No product with zero here: with a weight of 1 the logarithms are infinite.
        let time = if idle > 0 { idle as f64 * self.idle } else { 0.0 };
        let samples = if packets > 0 { f64::from(packets) * self.empty } else { 0.0 };
        if time + samples == 0.0 { self.average } else { self.average * libm::exp(time + samples) }
    }

    /// The average after the last packet. While the server idles it is above the true average; this matters only below
    /// `min_th`.
    #[inline]
    pub fn average(&self) -> f64 {
        self.average
    }

    pub fn max_p(&self) -> f64 {
        self.curve.max_p
    }

    /// Sets the probability at `max_th`; values above 1 become 1.
    pub fn set_max_p(&mut self, max_p: f64) {
        self.curve.set_max_p(max_p.min(1.0));
    }

    pub fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        let average = self.average_after(self.pending_decay);
        put("avg", average);
        put("max_p", self.curve.max_p);
        put("prob", self.curve.at(average));
        put("count", self.count);
    }
}

/// The probability that spaces the drops: `p_a` of the sources.
#[inline]
fn spaced(by: Count, count: f64, p_b: f64) -> f64 {
    let expected = count * p_b;
    match by {
        Count::Wait if expected < 1.0 => 0.0,
        Count::Wait if expected < 2.0 => p_b / (2.0 - expected),
        Count::Classic if expected < 1.0 => p_b / (1.0 - expected),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Flags, Rate, Span};

    /// A mean packet takes 1 ms on this link.
    fn port() -> Port {
        Port::new(Limit::Packets(30), Rate(8_000_000), 1000.0)
    }

    fn settings() -> Settings {
        Settings {
            min_th: 2.0,
            max_th: 6.0,
            w_q: 0.5,
            max_p: 0.5,
            gentle: true,
            count: Count::Wait,
            unit: Unit::Packets,
            ecn: false,
            least_backlog: 0.0,
            avpkt: 1.0,
        }
    }

    fn rule(settings: &Settings, seed: u64) -> Early {
        Early::new(settings, &port(), Stream::new(seed, 0, ("link", 0), "queue")).unwrap()
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }
    }

    /// Offers a packet of `size` bytes to a busy server.
    fn offer(rule: &mut Early, packets: u32, size: u32) -> Verdict {
        rule.admit(&Packet::new(0, 0, size, Time::ZERO), waiting(packets), None)
    }

    const EARLY: Verdict = Verdict::Drop(Cause::Early);
    const FORCED: Verdict = Verdict::Drop(Cause::Forced);

    #[test]
    fn waits_and_drops_as_computed_by_hand() {
        // The random stream of seed 7 begins 0.8492, 0.5468, 0.5034; each number is at or above the p_a it is compared
        // with.
        let mut rule = rule(&settings(), 7);
        // Columns: backlog found; average afterwards (the mean of the previous one and the backlog); count; verdict.
        for (step, (found, average, count, verdict)) in [
            (2, 1.0, -1.0, Verdict::Accept),
            // At min_th: p_b = 0, and the first packet has count 0.
            (3, 2.0, 0.0, Verdict::Accept),
            // p_b = 0.5 (4 - 2) / (6 - 2) = 0.25; count p_b = 0.25, 0.5, 0.75: too early.
            (6, 4.0, 1.0, Verdict::Accept),
            (4, 4.0, 2.0, Verdict::Accept),
            (4, 4.0, 3.0, Verdict::Accept),
            // p_a = 0.25 / (2 - 1), 0.25 / (2 - 1.25), 0.25 / (2 - 1.5): 0.25, 0.33, 0.5; then 0.25 / (2 - 1.75) = 1.
            (4, 4.0, 4.0, Verdict::Accept),
            (4, 4.0, 5.0, Verdict::Accept),
            (4, 4.0, 6.0, Verdict::Accept),
            (4, 4.0, 0.0, EARLY),
            // Twice max_th.
            (20, 12.0, 0.0, FORCED),
            // p_b = 0.5 + 0.5 (9 - 6) / 6 = 0.75: count p_b = 0.75, then p_a = 0.75 / (2 - 1.5) > 1.
            (6, 9.0, 1.0, Verdict::Accept),
            (9, 9.0, 0.0, EARLY),
            // p_b = 0.5 at max_th, 0.125 at 3.
            (3, 6.0, 1.0, Verdict::Accept),
            (0, 3.0, 2.0, Verdict::Accept),
            (0, 1.5, -1.0, Verdict::Accept),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(offer(&mut rule, found, 1000), verdict, "step {step}");
            assert_eq!((rule.average, rule.count), (average, count), "step {step}");
        }
        // Exactly three numbers were drawn: the fourth number of the stream is next.
        assert!((rule.chance.unit() - 0.2032).abs() < 5e-5);
    }

    #[test]
    fn does_not_drop_arrivals_that_find_too_few_packets_waiting() {
        let full = |least_backlog: f64| {
            let mut rule = rule(&Settings { least_backlog, ..settings() }, 7);
            rule.average = 100.0;
            [0, 1, 2].map(|found| offer(&mut rule, found, 1000))
        };
        // The average stays far above twice max_th for three packets, so only the backlog can exempt them.
        assert_eq!(full(0.0), [FORCED, FORCED, FORCED]);
        assert_eq!(full(2.0), [Verdict::Accept, Verdict::Accept, FORCED]);
    }

    #[test]
    fn counts_as_in_1993_and_stops_at_max_th_when_not_gentle() {
        let mut rule = rule(&Settings { count: Count::Classic, gentle: false, w_q: 1.0, ..settings() }, 7);
        // p_a = 0.25, 0.25 / 0.75 = 0.3333, 0.25 / 0.5 = 0.5, 0.25 / 0.25 = 1; compared with 0.8492, 0.5468, 0.5034.
        let verdicts = [4, 4, 4, 4].map(|found| offer(&mut rule, found, 1000));
        assert_eq!(verdicts, [Verdict::Accept, Verdict::Accept, Verdict::Accept, EARLY]);
        // After a drop, the next packet has count 1: p_a = 0.3333, compared with 0.2032.
        assert_eq!(offer(&mut rule, 4, 1000), EARLY);
        assert_eq!(offer(&mut rule, 6, 1000), FORCED);
        assert_eq!(spaced(Count::Classic, 5.0, 0.25), 1.0);
        assert_eq!(spaced(Count::Wait, 9.0, 0.25), 1.0);
        assert_eq!((spaced(Count::Wait, 3.0, 0.0), spaced(Count::Classic, 3.0, 0.0)), (0.0, 0.0));
    }

    #[test]
    fn bytes_are_averaged_and_large_packets_dropped_more_often() {
        let mut rule = rule(&Settings { count: Count::Classic, unit: Unit::Bytes, w_q: 1.0, ..settings() }, 7);
        // 4000 bytes count as 4 mean packets, whatever the number of packets: p_b = 0.25, scaled by size / 1000.
        let mut offer =
            |size| rule.admit(&Packet::new(0, 0, size, Time::ZERO), Backlog { packets: 20, bytes: Bytes(4000) }, None);
        // p_a = 0.01, compared with 0.8492; 0.375 / (1 - 0.375) = 0.6, compared with 0.5468.
        assert_eq!((offer(40), offer(1500)), (Verdict::Accept, EARLY));
        // 0.25 * 20 exceeds 1, so the packet is dropped without a draw. The next p_a, 0.25 / 0.75, is compared with 0.5034.
        assert_eq!((offer(20_000), offer(1000), offer(1000)), (EARLY, Verdict::Accept, EARLY));
    }

    #[test]
    fn the_average_forgets_as_if_packets_had_passed_while_idle() {
        let mut rule = rule(&settings(), 7);
        offer(&mut rule, 10, 1000);
        assert_eq!(rule.average, 5.0);
        // 3 ms are 3 mean packets; then the arrival itself finds an empty queue. The tolerance covers rounding in exp and
        // the logarithm.
        let at = |ms| Time::ZERO + Span::millis(ms);
        let read = rule.average_at(at(13), Some(at(10)));
        assert!((read - 5.0 / 8.0).abs() < 1e-14, "{read}");
        assert_eq!(rule.admit(&Packet::new(0, 0, 1000, at(13)), waiting(0), Some(at(10))), Verdict::Accept);
        assert!((rule.average - 5.0 / 16.0).abs() < 1e-14, "{}", rule.average);
        assert_eq!(rule.count, -1.0);
        // Half a packet's time counts, unlike in ns-2. Without idle time, the arrival is only a sample.
        rule.average = 1.0;
        assert!((rule.average_at(at(20) + Span::micros(500), Some(at(20))) - libm::sqrt(0.5)).abs() < 1e-15);
        assert_eq!(rule.average_at(at(20), Some(at(20))), 1.0);
        // Twice the packet size gives half the decay.
        let slow = Early::new(&Settings { avpkt: 2.0, ..settings() }, &port(), Stream::new(7, 0, ("link", 0), "queue"));
        let slow = Early { average: 1.0, ..slow.unwrap() };
        assert!((slow.average_at(at(2), Some(Time::ZERO)) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn idle_time_counts_once_when_packets_are_dropped_at_the_idle_server() {
        let mut rule = rule(&settings(), 7);
        offer(&mut rule, 60, 1000);
        assert_eq!(rule.average, 30.0);
        // Idle since 0. At 1 ms the average of 30 has decayed to 15, then to 7.5 with the sample: above the end of the
        // range (here 5).
        let mut early = Early { curve: Curve { end: 5.0, ..rule.curve.clone() }, ..rule };
        let at = |ms| Time::ZERO + Span::millis(ms);
        assert_eq!(early.admit(&Packet::new(0, 0, 1000, at(1)), waiting(0), Some(Time::ZERO)), FORCED);
        assert!((early.average - 7.5).abs() < 1e-14, "{}", early.average);
        // One more millisecond, not two: 3.75. The tolerance covers rounding in exp and the logarithm.
        let read = early.average_at(at(2), Some(Time::ZERO));
        assert!((read - 3.75).abs() < 1e-14, "{read}");
        early.admit(&Packet::new(0, 0, 1000, at(2)), waiting(0), Some(Time::ZERO));
        assert!((early.average - 1.875).abs() < 1e-14, "{}", early.average);
    }

    #[test]
    fn a_full_buffer_drops_packets_that_red_would_accept_and_restarts_the_count() {
        let mut rule = rule(&Settings { w_q: 1.0 / 16.0, ..settings() }, 7);
        let overflow = Verdict::Drop(Cause::Overflow);
        // 1.875 is below min_th.
        assert_eq!((offer(&mut rule, 30, 1000), rule.count), (overflow, -1.0));
        // Averages: 3.6328, where the count is 0 in any case; 5.2808 with count 1; then 5.0757 with count 1 and with room.
        assert_eq!((offer(&mut rule, 30, 1000), rule.count), (overflow, 0.0));
        assert_eq!((offer(&mut rule, 30, 1000), rule.count), (overflow, 0.0));
        assert_eq!((offer(&mut rule, 2, 1000), rule.count), (Verdict::Accept, 1.0));
        // A packet that goes straight into service needs no room.
        let mut none = Early { limit: Limit::Packets(0), ..rule.clone() };
        assert_eq!(none.admit(&Packet::new(0, 0, 1, Time::ZERO), waiting(0), Some(Time::ZERO)), Verdict::Accept);
    }

    #[test]
    fn marks_instead_of_early_drops_and_drops_above_the_range() {
        let mut rule = rule(&Settings { ecn: true, w_q: 1.0, ..settings() }, 7);
        let mut offer =
            |found, flags| rule.admit(&Packet::new(0, 0, 1000, Time::ZERO).with(flags), waiting(found), None);
        // 11 packets: p_b = 0.5 + 0.5 * 5 / 6 = 0.9167; with counts 0 and 1 packets pass, count 2 gives 0.9167 / 0.1667 >
        // 1.
        let verdicts = [Flags::ECT; 3].map(|flags| offer(11, flags));
        assert_eq!(verdicts, [Verdict::Accept, Verdict::Accept, Verdict::Mark(Cause::Early)]);
        assert_eq!((offer(11, Flags::NONE), offer(11, Flags::NONE)), (Verdict::Accept, EARLY));
        assert_eq!(offer(12, Flags::ECT), FORCED);
    }
}
