//! Record of a run: counters, samples of the queue, how late the relay delivered packets, and whether the run is valid.
//!
//! Source: none.

use base::{Cause, Span, Time};

/// Largest number of drops recorded with their time; later drops are only counted.
const MAX_DROPS: usize = 1 << 20;
/// Number of causes of drops.
pub const CAUSES: usize = Cause::Injected as usize + 1;
/// Number of classes of lateness: below 1, 2, 4, … microseconds; the last class is unbounded.
pub const CLASSES: usize = 24;

/// The state of the link at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Time of the sample.
    pub time: Time,
    /// Packets waiting.
    pub backlog: u32,
    /// Bytes that have begun service since the start.
    pub begun: u64,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drop {
    /// Time of the drop.
    pub time: Time,
    /// Flow of the packet.
    pub flow: u32,
    /// Cause of the drop.
    pub cause: Cause,
}

/// Counters of one time span, like those of the simulator's links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that arrived at the link.
    pub arrived: u64,
    /// Packets that began service.
    pub begun: u64,
    /// Bytes that began service.
    pub begun_bytes: u64,
    /// Packets dropped, by cause.
    pub drops: [u64; CAUSES],
    /// Packets marked.
    pub marked: u64,
    /// Sum of the waiting times of served packets, in picoseconds.
    pub waited: u128,
    /// Largest number of waiting packets.
    pub most_waiting: u32,
}

/// Punctuality of the relay in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Punctuality {
    /// Packets delivered, by lateness: class i is below 2^i microseconds.
    pub late: [u64; CLASSES],
    /// Largest lateness.
    pub latest: Span,
    /// Longest time between two iterations of the relay's loop.
    pub longest_pause: Span,
    /// Packets that a device did not accept.
    pub refused: u64,
    /// Drops soon after a pause longer than the limit: before [`Record::suspect_until`].
    pub suspect: u64,
    /// Number of all drops.
    pub drops: u64,
}

impl Default for Punctuality {
    fn default() -> Self {
        Self { late: [0; CLASSES], latest: Span::ZERO, longest_pause: Span::ZERO, refused: 0, suspect: 0, drops: 0 }
    }
}

impl Punctuality {
    /// Notes that a packet due at `due` was delivered at `now`.
    pub fn delivered(&mut self, due: Time, now: Time) {
        let late = now.since(due);
        let micros = late.0 / 1_000_000;
        let class = if micros == 0 { 0 } else { micros.ilog2() as usize + 1 };
        self.late[class.min(CLASSES - 1)] += 1;
        self.latest = self.latest.max(late);
    }

    /// Upper bound in microseconds of the lateness of this share of the packets, to the next power of two; 0 without
    /// packets.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let total: u64 = self.late.iter().sum();
        let wanted = (share * total as f64).ceil() as u64;
        let mut seen = 0;
        for (class, count) in self.late.iter().enumerate() {
            seen += count;
            if seen >= wanted && total > 0 {
                return 1 << class;
            }
        }
        0
    }

    /// Reason why a run with this record is invalid; `None` if it is valid. `rtt` is the shortest base round-trip time,
    /// and `limit` the lateness up to which a packet is punctual.
    ///
    /// A pause of the relay has two effects: it forwards packets late, so that senders respond in bursts, and it reads
    /// the packets that arrived during the pause as one burst. Both cause drops that a router would not have. So at
    /// most one packet in a hundred may be late, and at most one drop in twenty may follow a pause. A pause longer than
    /// a round trip always makes the run invalid, because timers of senders (such as TLP and RTO) may expire in it.
    #[must_use]
    pub fn invalid_reason(&self, rtt: Span, limit: Span) -> Option<String> {
        let millis = |span: Span| span.as_secs() * 1e3;
        let late = self.later_than(limit);
        if self.refused > 0 {
            return Some(format!("a device refused {} packets", self.refused));
        }
        if self.longest_pause > rtt {
            let (pause, rtt) = (millis(self.longest_pause), millis(rtt));
            return Some(format!("the relay paused for {pause:.1} ms, more than a round trip, {rtt:.1} ms"));
        }
        if late > 0.01 {
            return Some(format!(
                "{:.1} % of the packets were late by more than {:.1} ms",
                100.0 * late,
                millis(limit)
            ));
        }
        (self.suspect * 20 > self.drops).then(|| {
            let (suspect, drops, limit) = (self.suspect, self.drops, millis(limit));
            format!("{suspect} of {drops} drops came within a round trip of a pause of more than {limit:.1} ms")
        })
    }

    /// Share of the packets that were later than `limit`; packets in the class that contains the limit do not count.
    #[must_use]
    pub fn later_than(&self, limit: Span) -> f64 {
        let total: u64 = self.late.iter().sum();
        // Class i begins at 2^(i - 1) microseconds; a class that begins below the limit does not count.
        let first = (limit.0 / Span::micros(1).0).max(1).next_power_of_two().ilog2() as usize + 1;
        let late: u64 = self.late.iter().skip(first).sum();
        if total == 0 { 0.0 } else { late as f64 / total as f64 }
    }
}

/// The complete record of a run.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Counters since the end of the warm-up.
    pub counters: Counters,
    /// Counters of each flow since the end of the warm-up.
    pub flows: Vec<Counters>,
    /// Arrival time of each flow's first data.
    pub first_data: Vec<Option<Time>>,
    /// Samples at equal intervals since the start.
    pub samples: Vec<Sample>,
    /// The first drops since the start, up to a limit.
    pub drops: Vec<Drop>,
    /// Punctuality since the end of the warm-up.
    pub punctuality: Punctuality,
    /// Drops before this time are suspect: the end of the last pause that exceeded the limit, plus the longest
    /// round-trip time.
    pub suspect_until: Time,
}

impl Record {
    /// Records a drop; it is counted if it is in the measured period.
    pub fn on_drop(&mut self, drop: Drop, measured: bool) {
        if measured {
            self.punctuality.drops += 1;
            self.punctuality.suspect += u64::from(drop.time < self.suspect_until);
        }
        if self.drops.len() < MAX_DROPS {
            self.drops.push(drop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_has_classes_and_quantiles() {
        let mut p = Punctuality::default();
        for (late, count) in [(0, 90), (3, 9), (900, 1)] {
            for _ in 0..count {
                p.delivered(Time::ZERO, Time::ZERO + Span::micros(late));
            }
        }
        assert_eq!((p.quantile(0.5), p.quantile(0.99), p.quantile(1.0)), (1, 4, 1024));
        assert_eq!(p.latest, Span::micros(900));
        assert_eq!(Punctuality::default().quantile(0.5), 0);
    }

    #[test]
    fn a_run_is_invalid_if_pauses_made_too_many_packets_late_or_caused_drops() {
        let (rtt, limit) = (Span::millis(100), Span::millis(5));
        let late = |micros, count| {
            let mut p =
                Punctuality { longest_pause: Span::millis(9), drops: 200, suspect: 10, ..Punctuality::default() };
            (0..1000)
                .for_each(|i| p.delivered(Time::ZERO, Time::ZERO + Span::micros(if i < count { micros } else { 9 })));
            p
        };
        // The limits of classes are powers of two: 5 ms are in the class that ends at 8.2 ms.
        assert_eq!(late(8500, 10).invalid_reason(rtt, limit), None);
        assert_eq!(late(8000, 900).invalid_reason(rtt, limit), None);
        let reason = "1.1 % of the packets were late by more than 5.0 ms";
        assert_eq!(late(8500, 11).invalid_reason(rtt, limit).as_deref(), Some(reason));
        let burst = Punctuality { suspect: 11, ..late(9, 0) };
        let reason = "11 of 200 drops came within a round trip of a pause of more than 5.0 ms";
        assert_eq!(burst.invalid_reason(rtt, limit).as_deref(), Some(reason));
        let paused = Punctuality { longest_pause: Span::millis(101), ..late(9, 0) };
        let reason = "the relay paused for 101.0 ms, more than a round trip, 100.0 ms";
        assert_eq!(paused.invalid_reason(rtt, limit).as_deref(), Some(reason));
        let refused = Punctuality { refused: 3, ..late(9, 0) };
        assert_eq!(refused.invalid_reason(rtt, limit).as_deref(), Some("a device refused 3 packets"));
    }

    #[test]
    fn drops_after_a_pause_are_counted_separately() {
        let mut record = Record { suspect_until: Time::ZERO + Span::millis(5), ..Record::default() };
        let drop = |ms| Drop { time: Time::ZERO + Span::millis(ms), flow: 0, cause: Cause::Overflow };
        record.on_drop(drop(4), true);
        record.on_drop(drop(4), false);
        record.on_drop(drop(5), true);
        assert_eq!((record.punctuality.suspect, record.punctuality.drops, record.drops.len()), (1, 2, 3));
    }
}
