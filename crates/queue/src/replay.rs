//! Replay of a list of arrivals through one link, with the fate of each packet: for golden tests, for figures, and to
//! compare a discipline with another implementation of its source.

use crate::{Fates, Link, Packet, QueueDiscipline};
use base::{Cause, Flags, Rate, RunMonitor, Time};

/// Number of steps of the link between two checks of the monitor.
const STEPS_BETWEEN_LOOKS: u64 = 16_384;

/// Fate of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    /// Time at which the packet went into service or was dropped; `Time::NEVER` if it still waits at the end.
    pub time: Time,
    /// Cause of the drop; `None` if the packet was served.
    pub cause: Option<Cause>,
    /// Whether this link marked the packet.
    pub marked: bool,
    /// The feedback in the packet's header when it left.
    pub feedback: f32,
}

/// The fates of packets, by token.
struct Ledger(Vec<Fate>);

impl Ledger {
    /// Notes that a packet went into service.
    fn began(&mut self, packet: Option<Packet>, now: Time) {
        if let Some(packet) = packet {
            let fate = &mut self.0[packet.token as usize];
            (fate.time, fate.feedback) = (now, packet.header.feedback);
            debug_assert!(fate.cause.is_none() && (!fate.marked || packet.flags.has(Flags::CE)));
        }
    }
}

impl Fates for Ledger {
    fn dropped(&mut self, packet: &Packet, cause: Cause, now: Time) {
        let fate = &mut self.0[packet.token as usize];
        (fate.time, fate.cause) = (now, Some(cause));
    }
    fn marked(&mut self, packet: &Packet, _cause: Cause, _now: Time) {
        self.0[packet.token as usize].marked = true;
    }
}

/// Sends `packets` (in order of arrival, with tokens counted from 0) through `queue` in front of a link of `rate`, until
/// all have left. After each arrival, calls `seen` with its index, the backlog and the discipline.
pub fn replay<Q: QueueDiscipline>(
    queue: Q,
    rate: Rate,
    packets: &[Packet],
    seen: impl FnMut(usize, &mut Link<Q>),
) -> Vec<Fate> {
    replay_monitored(queue, rate, packets, &RunMonitor::default(), seen)
}

/// [`replay`] with a monitor that can stop it; later packets count as waiting.
pub fn replay_monitored<Q: QueueDiscipline>(
    queue: Q,
    rate: Rate,
    packets: &[Packet],
    monitor: &RunMonitor,
    mut seen: impl FnMut(usize, &mut Link<Q>),
) -> Vec<Fate> {
    let waiting = Fate { time: Time::NEVER, cause: None, marked: false, feedback: 0.0 };
    let mut ledger = Ledger(vec![waiting; packets.len()]);
    let mut link = Link::new(rate, queue);
    let mut steps = 0_u64;
    for (i, packet) in packets.iter().enumerate() {
        debug_assert_eq!(packet.token as usize, i);
        while let Some(step) = link.advance(packet.arrived, &mut ledger) {
            ledger.began(step.began, step.at);
            steps += 1;
            if steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && monitor.is_stopped() {
                return ledger.0;
            }
        }
        let began = link.offer(*packet, &mut ledger);
        ledger.began(began, packet.arrived);
        seen(i, &mut link);
    }
    // The timers of an idle link are not processed.
    while link.serving().is_some()
        && let Some(step) = link.advance(Time::NEVER, &mut ledger)
    {
        ledger.began(step.began, step.at);
    }
    ledger.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, Port, QueueSpec};
    use base::Stream;

    #[test]
    fn three_packets_at_once_into_a_buffer_of_one() {
        let port = Port::new(Limit::Packets(1), Rate(8_000_000_000), 1000.0);
        let spec = QueueSpec::named("drop-tail").unwrap();
        let queue = spec.build(&port, Stream::new(1, 0, ("link", 0), "queue")).unwrap();
        let packets: Vec<_> = (0..3).map(|i| Packet::new(i, i, 1000, Time(5))).collect();
        let mut backlogs = Vec::new();
        let fates = replay(queue, port.rate, &packets, |_, link| backlogs.push(link.backlog().packets));
        let fate = |time, cause| Fate { time: Time(time), cause, marked: false, feedback: 0.0 };
        // A kilobyte takes a microsecond.
        assert_eq!(fates, [fate(5, None), fate(1_000_005, None), fate(5, Some(Cause::Overflow))]);
        assert_eq!(backlogs, [0, 1, 1]);
    }
}
