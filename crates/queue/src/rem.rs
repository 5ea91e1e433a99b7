//! Random exponential marking: the mismatch of rate and of backlog moves a price, and a drop probability grows
//! exponentially towards 1 with the price.
//!
//! Source: Athuraliya, Li, Low and Yin 2001 ("REM: Active Queue Management", IEEE Network 15(3)): its price equation in the
//! form without rates, price(t+1) = [price + gamma (alpha (b(t) - b*) + x - c)]+ with x - c = b(t+1) - b(t), in packets per
//! interval. Interval (2 ms) and target (20 packets) are the defaults of the authors' ns-2 program.
//! Differs from ns-2: x is measured there from arrivals, so that arrivals at a full buffer raise the price, too.

use crate::checks::{clock, gain};
use crate::signal::{by_chance, signal};
use crate::{Admission, Backlog, Limit, Packet, Port, Rule, Verdict};
use base::{Amount, Card, Cause, Need, ParamError, Registered, Span, Stream, Time};

base::params! {
    /// Athuraliya, Li, Low and Yin 2001.
    pub struct Params {
        /// Price per packet of mismatch.
        gamma: f64 = 0.001, "";
        /// Weight of the backlog's mismatch against the rate's.
        alpha: f64 = 0.1, "";
        /// Basis of the probability: 1 - phi^-price.
        phi: f64 = 1.001, "";
        /// Backlog at rest (b*); auto: 20 packets, in smaller buffers half of them.
        target: Amount = Amount::Auto, "packets";
        /// Time between updates of the price.
        interval: Span = Span::millis(2), "";
        /// Mark packets that can carry the mark instead of dropping them.
        ecn: bool = true, "", needs [EctFlows];
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Rem {
    params: Params,
    limit: Limit,
    target: f64,
    chance: Stream,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    price: f64,
    /// 1 - phi^-price.
    prob: f64,
    /// Backlog at the last update, in packets.
    backlog: f64,
    next_update: Time,
}

impl Registered for Rem {
    type Params = Params;
    const CARD: Card = Card {
        name: "rem",
        aliases: &["REM", "random-exponential-marking"],
        title: "Random exponential marking",
        source: "Athuraliya, Li, Low and Yin 2001",
        differs: "The rate's mismatch is the change of the backlog; ns-2 counts arrivals.",
    };
}

impl Rule for Rem {
    fn gives(p: &Params) -> Option<Need> {
        p.ecn.then_some(Need::Marks)
    }

    fn resolve(p: &mut Params, port: &Port) -> Result<(), ParamError> {
        if p.target == Amount::Auto {
            p.target = Amount::Packets(port.buffer().map_or(20.0, |buffer| (0.5 * buffer).min(20.0)));
        }
        Ok(())
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        for (field, x) in [("gamma", p.gamma), ("alpha", p.alpha)] {
            gain(field, x)?;
            if x <= 0.0 {
                return Err(ParamError::new(field, "must be above 0"));
            }
        }
        if p.phi <= 1.0 {
            return Err(ParamError::new("phi", "must be above 1"));
        }
        clock("interval", p.interval)?;
        let target = p.target.packets();
        if port.buffer().is_some_and(|buffer| target > buffer) {
            return Err(ParamError::new("target", "must not exceed the buffer"));
        }
        let state = State { next_update: Time::ZERO + p.interval, ..State::default() };
        Ok(Self { params: p.clone(), limit: port.limit, target, chance, state })
    }
}

impl Admission for Rem {
    fn admit(&mut self, packet: &Packet, backlog: Backlog, idle_since: Option<Time>) -> Verdict {
        if idle_since.is_none() && !self.limit.has_room(backlog, packet) {
            return Verdict::Drop(Cause::Overflow);
        }
        let prob = self.state.prob;
        match by_chance(prob, &mut self.chance) {
            None => Verdict::Accept,
            Some(cause) => signal(packet, cause, self.params.ecn),
        }
    }

    fn next_wakeup(&self) -> Time {
        self.state.next_update
    }

    fn on_wakeup(&mut self, now: Time, backlog: Backlog, _idle_since: Option<Time>) {
        let (p, state) = (&self.params, &mut self.state);
        let (before, after) = (state.backlog, f64::from(backlog.packets));
        // The published form: b at the beginning of the interval, and its change in the interval for x - c.
        let mismatch = p.alpha * (before - self.target) + (after - before);
        let price = (state.price + p.gamma * mismatch).max(0.0);
        if price != state.price {
            // Computed only if the price changed: the timer expires on an idle link too, and a power costs more than
            // everything else.
            (state.price, state.prob) = (price, 1.0 - libm::pow(p.phi, -price));
        }
        state.backlog = after;
        state.next_update = now + p.interval;
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("price", self.state.price);
        put("prob", self.state.prob);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Flags, Rate};

    fn rule(mut params: Params) -> Rem {
        let port = Port::new(Limit::Packets(100), Rate(10_000_000), 1000.0);
        Rem::resolve(&mut params, &port).unwrap();
        Rem::new(&params, &port, Stream::new(1, 0, ("link", 0), "queue")).unwrap()
    }

    fn waiting(packets: u32) -> Backlog {
        Backlog { packets, bytes: Bytes(u64::from(packets) * 1000) }
    }

    /// Runs the timer with `packets` waiting.
    fn update(rem: &mut Rem, packets: u32) {
        rem.on_wakeup(rem.next_wakeup(), waiting(packets), None);
    }

    #[test]
    fn the_price_follows_the_papers_equation() {
        let mut rem = rule(Params { gamma: 0.5, phi: 2.0, ..Params::default() });
        // Columns: b(t+1), and price + 0.5 (0.1 (b(t) - 20) + b(t+1) - b(t)), never negative, computed by hand.
        let trace = [
            (0, 0.0),   // 0 + 0.5 (-2 + 0) < 0
            (10, 4.0),  // 0 + 0.5 (-2 + 10)
            (30, 13.5), // 4 + 0.5 (-1 + 20)
            (30, 14.0), // 13.5 + 0.5 (1 + 0)
            (20, 9.5),  // 14 + 0.5 (1 - 10)
            (20, 9.5),  // at rest
            (0, 0.0),   // 9.5 + 0.5 (0 - 20) < 0
        ];
        for (i, (packets, price)) in trace.into_iter().enumerate() {
            assert_eq!(rem.next_wakeup(), Time::ZERO + Span::millis(2 * (i as u64 + 1)));
            update(&mut rem, packets);
            assert!((rem.state.price - price).abs() < 1e-12, "update {i}: {}", rem.state.price);
            assert!((rem.state.prob - (1.0 - libm::pow(0.5, price))).abs() < 1e-12, "update {i}");
        }
    }

    #[test]
    fn the_probability_is_exponential_in_the_price() {
        // With phi = 2, prices 1, 2, 3 give 1/2, 3/4, 7/8: gamma = 1, and steps of the backlog with a target of 0.
        let mut rem =
            rule(Params { gamma: 1.0, alpha: 1e-12, phi: 2.0, target: Amount::Packets(0.0), ..Params::default() });
        for (packets, prob) in [(1, 0.5), (2, 0.75), (3, 0.875)] {
            update(&mut rem, packets);
            assert!((rem.state.prob - prob).abs() < 1e-10, "{}", rem.state.prob);
        }
    }

    #[test]
    fn converges_to_the_target_backlog_under_a_constant_overload_that_responds() {
        // Sources offer twice the capacity at price 0, and phi^-price of that otherwise, so phi^-price = 1/2 at
        // equilibrium. The gains give a damping ratio 0.5 sqrt(gamma kappa / alpha) = 0.7, where kappa = ln(phi) c = 0.2
        // packets per unit of price.
        let (capacity, phi) = (20.0, 1.01);
        let mut rem = rule(Params { gamma: 1.0, phi, ..Params::default() });
        let mut backlog = 0.0_f64;
        for _ in 0..2000 {
            backlog = (backlog + 2.0 * capacity * (1.0 - rem.state.prob) - capacity).clamp(0.0, 100.0);
            update(&mut rem, backlog.round() as u32);
        }
        // The rule sees whole packets, so it cannot distinguish backlogs within half a packet of the target from the
        // target.
        assert!((backlog - 20.0).abs() <= 1.0, "{backlog}");
        let at_rest = libm::log(2.0) / libm::log(phi);
        // One packet of mismatch moves the price by gamma = 1.
        assert!((rem.state.price - at_rest).abs() < 1.0, "{} for {at_rest}", rem.state.price);
    }

    #[test]
    fn drops_packets_with_its_probability() {
        let mut rem = rule(Params::default());
        rem.state.prob = 0.05;
        let n = 100_000;
        let packet = Packet::new(0, 0, 1000, Time::ZERO);
        let drops = (0..n).filter(|_| rem.admit(&packet, waiting(10), None) == Verdict::Drop(Cause::Early)).count();
        // Binomial: four standard errors, which a correct rule exceeds with probability 6e-5.
        let four_sigma = 4.0 * (0.05_f64 * 0.95 / f64::from(n)).sqrt();
        assert!((drops as f64 / f64::from(n) - 0.05).abs() < four_sigma, "{drops}");
    }

    #[test]
    fn marks_ecn_capable_packets_and_drops_packets_beyond_the_limit() {
        let mut rem = rule(Params::default());
        let packet = Packet::new(0, 0, 1000, Time::ZERO).with(Flags::ECT);
        rem.state.prob = 1.0;
        assert_eq!(rem.admit(&packet, waiting(99), None), Verdict::Mark(Cause::Forced));
        assert_eq!(rem.admit(&packet, waiting(100), None), Verdict::Drop(Cause::Overflow));
        rem.params.ecn = false;
        assert_eq!(rem.admit(&packet, waiting(99), None), Verdict::Drop(Cause::Forced));
    }

    #[test]
    fn the_target_fits_the_buffer() {
        let port = |limit| Port::new(limit, Rate(10_000_000), 1000.0);
        for (limit, packets) in [
            (Limit::Packets(0), 0.0),
            (Limit::Packets(30), 15.0),
            (Limit::Bytes(Bytes(100_000)), 20.0),
            (Limit::Unlimited, 20.0),
        ] {
            let mut params = Params::default();
            Rem::resolve(&mut params, &port(limit)).unwrap();
            assert_eq!(params.target, Amount::Packets(packets));
            assert!(Rem::new(&params, &port(limit), Stream::new(1, 0, ("link", 0), "queue")).is_ok());
        }
        let params = Params { target: Amount::Packets(40.0), ..Params::default() };
        let error = Rem::new(&params, &port(Limit::Packets(30)), Stream::new(1, 0, ("link", 0), "queue")).unwrap_err();
        assert_eq!(error.field, "target");
    }
}
