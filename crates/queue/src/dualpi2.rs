//! DualPI2: a queue for scalable senders (L4S) beside a classic queue, with one delay controller for both.
//!
//! Source: RFC 9332, Appendix A with the overload handling of A.2. The RFC leaves the scheduler open; here it is weighted
//! or a time-shifted FIFO. A probability of 1 takes effect at once, where `recur` as printed would let one packet pass.
//! Differs from the source: the gains are Linux's (Tupdate 16 ms, alpha 0.16, beta 3.2; A.1 gives 15 ms, 0.15 and 3), and
//! so is the step at 1 ms; `ramp = "400 us"` and `step_threshold = "800 us"` give A.1's ramp.
//! Differs from Linux: `recur` replaces random numbers unless `decide = "random"`, which then draws once per packet; the
//! step looks at the packets left behind a departing packet, not at those ahead of an arriving one.

use crate::checks::{clock, gain};
use crate::codel::control::us;
use crate::{Backlog, Fates, Limit, Packet, Port, QueueDiscipline, Rule};
use base::{Amount, Bytes, Card, Cause, Flags, Need, ParamError, Registered, Span, Stream, Time};
use lane::Lane;
use pi2::Pi2;

mod lane;
mod pi2;

pub use lane::Decide;

base::words! {
    /// Scheduler of the two queues.
    pub enum Scheduler {
        /// Weighted by bytes, with a share for the classic queue.
        Weighted = "weighted",
        /// The queue whose head has waited longer, with a head start for the L4S queue.
        TimeShifted = "time-shifted",
    }
}

base::params! {
    /// RFC 9332, Appendix A.1, and Linux.
    pub struct Params {
        /// Delay of the classic queue that the controller aims at.
        target: Span = Span::millis(15), "";
        /// Interval of the updates of the probability.
        tupdate: Span = Span::millis(16), "";
        /// Integral gain.
        alpha: f64 = 0.16, "Hz";
        /// Proportional gain.
        beta: f64 = 3.2, "Hz";
        /// Probability of a mark in the L4S queue over that of which the classic one drops by the square.
        coupling: f64 = 2.0, "";
        /// Delay in the L4S queue above which packets are marked.
        step_threshold: Span = Span::millis(1), "", needs [L4sFlows];
        /// Further delay over which that probability rises to 1; 0 for a step.
        ramp: Span = Span::ZERO, "", needs [L4sFlows];
        /// Packets left in the L4S queue up to which the step does not mark.
        step_backlog: Amount = Amount::Packets(1.0), "packets", needs [L4sFlows];
        /// Scheduler of the two queues: weighted or time-shifted.
        scheduler: Scheduler = Scheduler::Weighted, "", needs [L4sFlows];
        /// Share of the link that the weighted scheduler keeps for the classic queue.
        classic_share: f64 = 0.1, "", needs [Is("scheduler", "weighted"), L4sFlows];
        /// Additional wait of classic packets under the time-shifted scheduler.
        time_shift: Span = Span::millis(30), "", needs [Is("scheduler", "time-shifted"), L4sFlows];
        /// Method that turns a probability into a decision: recur or random.
        decide: Decide = Decide::Recur, "";
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct DualPi2 {
    p: Params,
    limit: Limit,
    l4s: Lane,
    classic: Lane,
    /// Bytes of credit that the classic queue has saved under the weighted scheduler.
    credit: f64,
    control: Pi2,
    update_at: Time,
    chance: Stream,
}

/// The cause of a drop or mark: certain, or by chance.
fn cause(p: f64) -> Cause {
    if p >= 1.0 { Cause::Forced } else { Cause::Early }
}

fn mark(packet: &mut Packet, now: Time, fates: &mut impl Fates) {
    packet.flags = packet.flags.with(Flags::CE);
    fates.marked(packet, Cause::Early, now);
}

impl DualPi2 {
    /// `laqm` of the RFC: the L4S queue's own probability.
    fn step(&self, sojourn: Span) -> f64 {
        let over = sojourn.0.saturating_sub(self.p.step_threshold.0);
        if over == 0 || f64::from(self.l4s.backlog.packets) <= self.p.step_backlog.packets() {
            0.0
        } else if over >= self.p.ramp.0 {
            1.0
        } else {
            over as f64 / self.p.ramp.0 as f64
        }
    }

    /// Whether the L4S queue is served next; at least one packet must wait.
    fn serves_l4s(&self) -> bool {
        match (self.l4s.waiting.front(), self.classic.waiting.front()) {
            (None, _) => false,
            (_, None) => true,
            (Some(l4s), Some(classic)) => match self.p.scheduler {
                Scheduler::Weighted => self.credit < (1.0 - self.p.classic_share) * f64::from(classic.size),
                Scheduler::TimeShifted => l4s.arrived.0 <= classic.arrived.0.saturating_add(self.p.time_shift.0),
            },
        }
    }

    /// Charges a served packet. The classic queue gains credit only while one of its packets waits.
    fn charge(&mut self, size: u32, l4s: bool) {
        let share = self.p.classic_share;
        if self.classic.waiting.is_empty() || (!l4s && self.l4s.waiting.is_empty()) {
            self.credit = 0.0;
        } else {
            self.credit += f64::from(size) * if l4s { share } else { share - 1.0 };
        }
    }

    /// Decides about a packet from the L4S queue: returns it, perhaps marked, or `None` if it is dropped.
    fn passes_l4s(&mut self, now: Time, mut packet: Packet, fates: &mut impl Fates) -> Option<Packet> {
        let own = self.step(now - packet.arrived);
        let (p_l, p_c) = (self.control.l4s, self.control.classic);
        if p_l >= 1.0 && self.l4s.happens(p_c, self.p.decide, &mut self.chance) {
            fates.dropped(&packet, cause(p_c), now);
            return None;
        }
        let p = if p_l >= 1.0 { 1.0 } else { own.max(p_l) };
        if self.l4s.happens(p, self.p.decide, &mut self.chance) {
            mark(&mut packet, now, fates);
        }
        Some(packet)
    }

    /// Decides about a packet from the classic queue: returns it, perhaps marked, or `None` if it is dropped.
    fn passes_classic(&mut self, now: Time, mut packet: Packet, fates: &mut impl Fates) -> Option<Packet> {
        let p_c = self.control.classic;
        if self.classic.happens(p_c, self.p.decide, &mut self.chance) {
            if !packet.flags.has(Flags::ECT) || p_c >= self.control.classic_max() {
                fates.dropped(&packet, cause(p_c), now);
                return None;
            }
            mark(&mut packet, now, fates);
        }
        Some(packet)
    }
}

impl Registered for DualPi2 {
    type Params = Params;
    const CARD: Card = Card {
        name: "dualpi2",
        aliases: &["DualPI2", "dual-pi2"],
        title: "Dual-queue coupled PI squared",
        source: "RFC 9332",
        differs: "Linux's gains and step; packets are L4S by ECT(1) or a mark that they carry already.",
    };
    const NEEDS: &'static [Need] = &[Need::L4sFlows];
    const WITHOUT: &'static str = "its classic queue alone";
}

impl Rule for DualPi2 {
    fn gives(_p: &Params) -> Option<Need> {
        Some(Need::Marks)
    }

    fn new(p: &Params, port: &Port, chance: Stream) -> Result<Self, ParamError> {
        clock("tupdate", p.tupdate)?;
        for (name, x) in [("alpha", p.alpha), ("beta", p.beta), ("coupling", p.coupling)] {
            gain(name, x)?;
        }
        if p.coupling <= 0.0 {
            return Err(ParamError::new("coupling", "must be above 0"));
        }
        if p.classic_share <= 0.0 || p.classic_share >= 1.0 {
            return Err(ParamError::new("classic_share", "must lie strictly between 0 and 1"));
        }
        Ok(Self {
            p: p.clone(),
            limit: port.limit,
            l4s: Lane::default(),
            classic: Lane::default(),
            credit: 0.0,
            control: Pi2 {
                target: p.target.as_secs(),
                alpha: p.alpha,
                beta: p.beta,
                coupling: p.coupling,
                base: 0.0,
                l4s: 0.0,
                classic: 0.0,
                previous: 0.0,
            },
            update_at: Time(p.tupdate.0),
            chance,
        })
    }

    fn tc(p: &Params, port: &Port) -> Option<String> {
        let Limit::Packets(limit) = port.limit else { return None };
        let (share, backlog) = (100.0 * p.classic_share, p.step_backlog.packets());
        let whole = [p.coupling, share, backlog].iter().all(|x| x.fract() == 0.0);
        if !whole || p.ramp != Span::ZERO || p.scheduler != Scheduler::Weighted || p.decide != Decide::Random {
            return None;
        }
        let (step, target, tupdate) = (us(p.step_threshold)?, us(p.target)?, us(p.tupdate)?);
        Some(format!(
            "dualpi2 limit {limit} coupling_factor {} step_thresh {step} min_qlen_step {backlog} drop_on_overload \
             drop_dequeue l4s_ect classic_protection {share}% target {target} tupdate {tupdate} alpha {} beta {}",
            p.coupling, p.alpha, p.beta
        ))
    }
}

impl QueueDiscipline for DualPi2 {
    fn enqueue(&mut self, packet: Packet, idle_since: Option<Time>, fates: &mut impl Fates) {
        if idle_since.is_none() && !self.limit.has_room(self.backlog(), &packet) {
            return fates.dropped(&packet, Cause::Overflow, packet.arrived);
        }
        let l4s = packet.flags.has(Flags::ECT.with(Flags::L4S)) || packet.flags.has(Flags::CE);
        if l4s { self.l4s.push(packet) } else { self.classic.push(packet) }
    }

    fn dequeue(&mut self, now: Time, fates: &mut impl Fates) -> Option<Packet> {
        loop {
            let l4s = self.serves_l4s();
            let packet = if l4s {
                let packet = self.l4s.pop()?;
                self.passes_l4s(now, packet, fates)
            } else {
                let packet = self.classic.pop()?;
                self.passes_classic(now, packet, fates)
            };
            if let Some(packet) = packet {
                self.charge(packet.size, l4s);
                return Some(packet);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        let (l4s, classic) = (self.l4s.backlog, self.classic.backlog);
        Backlog { packets: l4s.packets + classic.packets, bytes: Bytes(l4s.bytes.0 + classic.bytes.0) }
    }

    fn next_wakeup(&self) -> Time {
        self.update_at
    }

    fn on_wakeup(&mut self, now: Time, _idle_since: Option<Time>, _fates: &mut impl Fates) {
        self.control.update(self.l4s.delay(now).max(self.classic.delay(now)));
        self.update_at = now + self.p.tupdate;
    }

    fn gauges(&self, put: &mut dyn FnMut(&'static str, f64)) {
        put("prob", self.control.base);
        put("p_l4s", self.control.l4s.min(1.0));
        put("p_classic", self.control.classic);
        put("backlog_l4s", f64::from(self.l4s.backlog.packets));
    }
}
