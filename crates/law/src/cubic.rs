//! CUBIC: the window is a cubic function of the time since the last congestion event, flat at the window of that event; it
//! is at least the window of a Reno flow with the same average.
//!
//! Source: RFC 9438, Sections 4.2 to 4.10, with its symbols. The transport undoes cuts (Section 4.9).
//! Differs from the source: the cut is taken from cwnd, which does not grow unless it limited the sender (Section 4.6
//! allows this); growth counts acknowledged segments and not ACKs; the window never falls to a smaller `W_est`.
//! Differs from Linux and ns-3: they look ahead by the smallest round-trip time, not the smoothed one, and compute in whole
//! segments; Linux's Reno-friendly window keeps its slope beyond the old maximum. [`Variant::Linux`] does as Linux does.

pub mod linux;

use crate::{AckSample, CongestionEvent, Law, Signal, WindowLaw};
use base::param::ParamType;
use base::{Card, ParamError, Registered, Span, Time, Value};

/// Specification that the law follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// RFC 9438.
    #[default]
    Rfc,
    /// Linux's `tcp_cubic`, in integers: [`linux`].
    Linux,
}

impl ParamType for Variant {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Text(word) if word == "rfc9438" => Ok(Self::Rfc),
            Value::Text(word) if word == "linux" => Ok(Self::Linux),
            _ => Err("must be \"rfc9438\" or \"linux\"".into()),
        }
    }

    fn write(&self) -> Value {
        let word = match self {
            Self::Rfc => "rfc9438",
            Self::Linux => "linux",
        };
        Value::Text(word.into())
    }
}

base::params! {
    /// RFC 9438.
    pub struct Params {
        /// Steepness of the cubic function.
        c: f64 = 0.4, "segments/s^3";
        /// Share of the window kept on congestion, after a timeout too.
        beta: f64 = 0.7, "";
        /// Whether a flow that lost before its old maximum aims lower, so that others find room.
        fast_convergence: bool = true, "";
        /// Specification: "rfc9438", or "linux" as tcp_cubic computes it (its slow start is "hystart-linux").
        variant: Variant = Variant::Rfc, "";
        /// Ticks of the kernel's clock in a second, for the variant "linux": 250 or 1000, as it was built.
        hz: u32 = 250, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Cubic {
    c: f64,
    beta: f64,
    /// Segments per round trip with which an AIMD flow that keeps `beta` has Reno's average window.
    alpha: f64,
    fast_convergence: bool,
    /// Whether the next stage of congestion avoidance begins on the plateau, after a slow start without a loss or after a
    /// timeout.
    plateau: bool,
    w_max: f64,
    /// The window before the last cut; zero before the first cut.
    cwnd_prior: f64,
    /// Seconds from the start of the stage to the plateau.
    k: f64,
    /// The window of a Reno flow with the same average.
    w_est: f64,
    /// Start of the stage, shifted by the time in which the window did not limit the sender; `NEVER` before the stage.
    epoch: Time,
    /// Time of the previous ACK.
    last_ack: Time,
}

impl Registered for Cubic {
    type Params = Params;
    const CARD: Card = Card {
        name: "cubic",
        aliases: &["TcpCubic"],
        title: "CUBIC",
        source: "RFC 9438",
        differs: "Growth counts acknowledged segments, the cut is taken from cwnd. Linux and ns-3 look ahead by the \
                  smallest round-trip time; variant = \"linux\" is tcp_cubic in whole numbers, with hystart-linux. ns-3.37 has no Reno-friendly region: behind \
                  short queues it loses a third to a half of what RFC 9438 does.",
    };
}

impl Law for Cubic {
    const RESPONSE: Option<&'static str> = Some("RFC9438");

    fn new(p: &Params) -> Result<Self, ParamError> {
        if p.c <= 0.0 {
            return Err(ParamError::new("c", "must be above 0"));
        }
        if p.beta <= 0.0 || p.beta >= 1.0 {
            return Err(ParamError::new("beta", "must lie strictly between 0 and 1"));
        }
        if !(100..=1000).contains(&p.hz) {
            return Err(ParamError::new("hz", "must be 100 to 1000 ticks in a second"));
        }
        Ok(Self {
            c: p.c,
            beta: p.beta,
            alpha: 3.0 * (1.0 - p.beta) / (1.0 + p.beta),
            fast_convergence: p.fast_convergence,
            plateau: true,
            w_max: 0.0,
            cwnd_prior: 0.0,
            k: 0.0,
            w_est: 0.0,
            epoch: Time::NEVER,
            last_ack: Time::ZERO,
        })
    }
}

impl WindowLaw for Cubic {
    fn on_sample(&mut self, ack: &AckSample) {
        if !ack.cwnd_limited && self.epoch != Time::NEVER {
            // RFC 9438, Section 5.8: time in which the window does not limit the sender does not count.
            self.epoch += ack.now.since(self.last_ack);
        }
        self.last_ack = ack.now;
    }

    fn on_idle(&mut self, now: Time, _idle: Span) {
        // The idle time, which began at the last ACK, does not count, either.
        if self.epoch != Time::NEVER {
            self.epoch += now.since(self.last_ack);
        }
        self.last_ack = now;
    }

    fn avoid(&mut self, cwnd: f64, ack: &AckSample) -> f64 {
        if self.epoch == Time::NEVER {
            self.begin(cwnd, ack.now);
        }
        let share = ack.acked / cwnd;
        // Figure 4; beyond the old maximum it grows like Reno.
        let alpha = if self.w_est < self.cwnd_prior { self.alpha } else { 1.0 };
        self.w_est += alpha * share;
        let t = ack.now.since(self.epoch);
        if self.w_cubic(t.as_secs()) < self.w_est {
            return cwnd.max(self.w_est);
        }
        let target = self.w_cubic((t + ack.srtt).as_secs()).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) * share.min(1.0)
    }

    /// RFC 9438, Section 4.9.
    fn restores_on_undo(&self) -> bool {
        true
    }

    fn backoff(&mut self, cwnd: f64, event: &CongestionEvent) -> f64 {
        let descending = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if descending { cwnd * 0.5 * (1.0 + self.beta) } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = Time::NEVER;
        self.plateau = event.signal == Signal::Timeout;
        cwnd * self.beta
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("w_max", self.w_max);
        put("w_est", self.w_est);
        put("k", self.k);
    }
}

impl Cubic {
    /// Starts a stage of congestion avoidance with this window.
    fn begin(&mut self, cwnd: f64, now: Time) {
        if self.plateau || self.w_max < cwnd {
            self.w_max = cwnd;
        }
        self.k = libm::cbrt((self.w_max - cwnd) / self.c);
        self.w_est = cwnd;
        self.epoch = now;
    }

    /// The cubic function, `t` seconds after the beginning of the stage.
    #[inline]
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        self.c * x * x * x + self.w_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::millis(100);

    fn law() -> Cubic {
        Cubic::new(&Params::default()).unwrap()
    }

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn ack(s: f64) -> AckSample {
        AckSample::plain(at(s), RTT)
    }

    fn loss(s: f64) -> CongestionEvent {
        CongestionEvent::plain(at(s), Signal::Loss, RTT)
    }

    /// The law after a loss at 1000 segments at time zero, and the first ACK after it.
    fn after_loss() -> Cubic {
        let mut law = law();
        assert_eq!(law.backoff(1000.0, &loss(0.0)), 700.0);
        law.avoid(700.0, &ack(0.0));
        law
    }

    /// The window after `seconds` with a full window and one ACK per segment.
    fn run(law: &mut Cubic, mut cwnd: f64, from: f64, seconds: f64) -> f64 {
        let mut s = from;
        while s < from + seconds {
            let sample = ack(s);
            law.on_sample(&sample);
            cwnd = law.avoid(cwnd, &sample);
            s += 0.1 / cwnd;
        }
        cwnd
    }

    #[test]
    fn the_plateau_comes_after_the_cube_root_of_the_cut() {
        // K³ = (W_max - cwnd_epoch) / C = 300 / 0.4, up to the last bits of the cube root.
        let k = after_loss().k;
        assert!((k * k * k - 750.0).abs() < 1e-9, "{k}");
        // RFC 9438, Figures 6 and 12, at p = 1e-6 and 100 ms: W_max follows from K, and their average is 33325.
        let k = libm::pow(4.0 * 0.3 / (0.4 * 3.7) * 0.1 / 1e-7, 0.25);
        assert!((0.1 / 1e-7 / k - 33_325.0).abs() < 0.5, "{k}");
        let mut law = law();
        law.backoff(0.4 * k * k * k / 0.3, &loss(0.0));
        law.avoid(0.7 * law.w_max, &ack(0.0));
        assert!((law.k / k - 1.0).abs() < 1e-14, "{} instead of {k}", law.k);
    }

    #[test]
    fn follows_the_cubic_function() {
        let mut law = after_loss();
        let (mut cwnd, mut s) = (700.0, 0.0);
        for _ in 0..15 {
            cwnd = run(&mut law, cwnd, s, 1.0);
            s += 1.0;
            let x = s - libm::cbrt(750.0);
            // The window aims at W(t + RTT) along the slope to it, so it leads by C RTT² 3 (t - K), at most 0.11 segments
            // here. The delay of one ACK is smaller than that.
            assert!((cwnd - (0.4 * x * x * x + 1000.0)).abs() < 0.15, "{cwnd} after {s} s");
        }
    }

    #[test]
    fn a_pause_of_the_application_does_not_count() {
        // RFC 9438, Section 5.8: after half a minute without data, the function would be at 0.4 (32 - 9.1)³ = 4800.
        let (mut law, mut idle) = (after_loss(), after_loss());
        let (cwnd, paused) = (run(&mut law, 700.0, 0.0, 2.0), run(&mut idle, 700.0, 0.0, 2.0));
        idle.on_idle(at(32.0), Span::secs(30));
        let (cwnd, paused) = (run(&mut law, cwnd, 2.0, 1.0), run(&mut idle, paused, 32.0, 1.0));
        // The delay of the last ACK before the pause shifts the function by at most one ACK.
        assert!((cwnd - paused).abs() < 0.02, "{cwnd} and {paused}");
        let mut deaf = after_loss();
        let deaf = run(&mut deaf, 700.0, 0.0, 2.0).max(run(&mut deaf, 700.0, 32.0, 1.0));
        assert!(deaf > 1500.0, "without `on_idle`: {deaf}");
    }

    #[test]
    fn a_small_window_grows_by_alpha_and_beyond_the_old_maximum_as_reno() {
        let mut law = law();
        let mut cwnd = law.backoff(20.0, &loss(0.0));
        assert_eq!(cwnd, 14.0);
        // At 10 ms the cubic function has hardly moved. 6 segments at 9/17 per round trip take 11.3 round trips.
        let (mut rounds, mut reached) = (0, 0);
        while cwnd < 30.0 {
            let s = 0.01 * f64::from(rounds);
            for i in 0..cwnd as u64 {
                let sample = AckSample::plain(at(s + 0.01 * i as f64 / cwnd), Span::millis(10));
                cwnd = law.avoid(cwnd, &sample);
            }
            rounds += 1;
            if cwnd < 20.0 {
                reached = rounds;
            }
        }
        // The number of whole ACKs per round trip is up to 7 % below the window, so it takes 11.3 to 12.1 round trips.
        assert!((11..=12).contains(&reached), "{reached}");
        // Then ten segments at one per round trip; counting starts at most one step below the old maximum.
        assert!((10..=11).contains(&(rounds - reached)), "{rounds} - {reached}");
    }

    #[test]
    fn slow_start_without_a_loss_ends_on_the_plateau() {
        let mut law = law();
        law.avoid(500.0, &ack(3.0));
        assert_eq!((law.k, law.w_max), (0.0, 500.0));
        // Reno-friendly growth has no old maximum here: one segment per round trip.
        let before = law.w_est;
        law.avoid(500.0, &ack(3.0));
        assert!((law.w_est - before - 1.0 / 500.0).abs() < 1e-12);
    }

    #[test]
    fn a_timeout_keeps_beta_and_the_next_stage_begins_on_the_plateau() {
        let mut law = after_loss();
        let kept = law.backoff(1000.0, &CongestionEvent { signal: Signal::Timeout, ..loss(5.0) });
        assert_eq!(kept, 700.0);
        law.avoid(700.0, &ack(9.0));
        assert_eq!((law.k, law.w_max), (0.0, 700.0));
        assert_eq!(law.cwnd_prior, 1000.0, "alpha applies up to the window before the timeout");
    }

    #[test]
    fn a_loss_before_the_old_maximum_lowers_it_further() {
        let mut law = after_loss();
        law.backoff(900.0, &loss(1.0));
        // (1 + 0.7) / 2 of 900.
        assert_eq!(law.w_max, 765.0);
        let mut greedy = Cubic::new(&Params { fast_convergence: false, ..Params::default() }).unwrap();
        greedy.backoff(1000.0, &loss(0.0));
        greedy.backoff(900.0, &loss(1.0));
        assert_eq!(greedy.w_max, 900.0);
    }

    #[test]
    fn grows_by_at_most_half_the_window_per_round_trip() {
        let mut law = after_loss();
        // One minute later the function is at 53,000 segments.
        assert_eq!(law.avoid(700.0, &AckSample { acked: 70.0, ..ack(60.0) }), 700.0 + 0.5 * 70.0);
    }

    #[test]
    fn time_that_the_application_wasted_does_not_count() {
        let mut law = after_loss();
        law.on_sample(&ack(0.0));
        let idle = |s| AckSample { cwnd_limited: false, ..ack(s) };
        // Ten seconds with few segments, then an idle minute.
        law.on_sample(&idle(4.0));
        law.on_sample(&idle(10.0));
        law.on_sample(&idle(70.0));
        assert_eq!(law.epoch, at(70.0));
        law.on_sample(&ack(71.0));
        assert_eq!(law.epoch, at(70.0), "a full window counts again");
    }
}
