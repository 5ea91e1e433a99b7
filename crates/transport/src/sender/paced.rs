//! ACKs in a row at a paced sender, while nothing is lost, SACKed or marked. The result is the same, to the bit, as with single
//! ACKs.
//!
//! The state that an ACK or a segment changes is kept in one local structure. Segments are handed over in rows
//! ([`Wire::send_row`]), and a law that counts ([`law::Step`]) is called only at the ends of its steps.

#![expect(clippy::inline_always, reason = "the loop of a run is one function, whose numbers stay at hand")]

use super::core::Core;
use crate::deliveries::Deliveries;
use crate::departures::Departures;
use crate::loss::LossRecovery;
use crate::loss::rules::Loss;
use crate::pacing::Pace;
use crate::rtt::{AckRtt, TimedSegment};
use crate::sequence::{MAX_OUTSTANDING, SequenceSpace};
use crate::state::Phase;
use crate::{Rtt, Wire};
use base::{Flags, Span, Time};
use law::{AckSample, CongestionControl, Step};

/// Largest number of segments in a row that are handed over together.
const ROW: usize = 32;

impl<C: CongestionControl> Core<C> {
    /// Number of ACKs in a row, each of the next `each` segments, that [`Self::take_paced`] may take.
    #[inline]
    pub fn paced(&self, loss: &LossRecovery, each: u32) -> u32 {
        let outstanding = self.state.seq.outstanding();
        let plain = self.state.phase == Phase::Open
            && self.state.ecn.is_quiet()
            && !self.state.seq.is_going_back()
            && loss.is_quiet()
            && self.optional.as_deref().is_some_and(|optional| {
                // Delivery-rate samples depend on whether the application has more to send.
                optional.allows_pace()
                    && (!optional.counts_deliveries() || self.state.seq.unsent() > u64::from(MAX_OUTSTANDING))
            })
            && self.state.seq.is_pristine();
        // At least one segment stays outstanding, so that no segment starts the retransmission timer anew.
        if !plain || outstanding < 2 {
            return 0;
        }
        self.until_timed(loss, each).min((outstanding - 1) / each)
    }

    /// [`Self::take_plain`] for a paced sender: segments whose time has come are sent between the ACKs. Takes at most
    /// [`Self::paced`] ACKs, none later than a timer other than the pacing timer.
    pub fn take_paced<L: Loss>(&mut self, loss: &mut L, acks: impl Iterator<Item = (Time, u32)>, wire: &mut impl Wire) {
        let Some(mut optional) = self.optional.take() else { return };
        let (every_rtt, abc_limit, paced) = (self.state.switches.every_rtt(), optional.abc_limit(), optional.spaces());
        let (mut last, mut latest) = (Time::ZERO, None);
        if let Some(parts) = optional.paced_parts() {
            let counts = parts.deliveries.is_none() && !every_rtt;
            let control = Counting::new(&mut self.state.control, counts, abc_limit);
            let mut run = Run {
                window: 0,
                seq: self.state.seq.clone(),
                pace: *parts.pacer.pace(),
                timed: self.timed,
                waits: self.state.timers.pacing(),
                row: Row {
                    times: [Time::ZERO; ROW],
                    len: 0,
                    first: self.state.seq.nxt(),
                    flags: self.state.ecn.data(),
                },
                sent: self.counters.sent,
                receive_window: self.state.receive_window,
                asks_pace_at_end: !L::ROOM_ENDS_WITH_DATA,
                every_rtt,
                paced,
                control,
                rtt: &mut self.state.rtt,
                stamped: self.state.switches.timestamps(),
                departures: self.departures.as_deref_mut().map(|kept| &mut **kept),
                deliveries: parts.deliveries,
                wire,
            };
            run.take_window();
            for (now, acked) in acks {
                // A segment that waits for its pacing time is sent before the ACK is taken, unless both times are
                // equal.
                while run.waits < now {
                    let at = std::mem::replace(&mut run.waits, Time::NEVER);
                    run.fill(at);
                }
                latest = run.acknowledge(now, acked).or(latest);
                run.fill(now);
                run.wire.on_window(now, run.control.cwnd, run.seq.una(), run.seq.nxt(), run.seq.outstanding());
                last = now;
            }
            run.hand_over();
            run.control.flush();
            let Run { seq, pace, timed, waits, sent, .. } = run;
            (self.state.seq, self.timed, self.counters.sent) = (seq, timed, sent);
            *parts.pacer.pace() = pace;
            self.state.timers.set_pacing(waits);
        }
        self.optional = Some(optional);
        if let Some((left, rtt)) = latest {
            if self.state.switches.timestamps() {
                self.state.rtt.set_rto();
            }
            loss.on_plain_acks(self.state.seq.una() - 1, left, rtt, self.state.rtt.srtt_and_min());
        }
        self.state.timers.set_rto(last + self.state.rtt.rto());
        self.arm_probe(loss, last, true);
    }
}

/// Congestion control during a run of ACKs, with its window.
struct Counting<'a, C> {
    control: &'a mut C,
    /// Whether ACKs may only be counted: the control takes neither deliveries nor every round-trip time.
    counts: bool,
    abc_limit: f64,
    cwnd: f64,
    /// cwnd in whole segments.
    whole: u32,
    ssthresh: f64,
    /// Window growth per ACK until the window reaches the next whole number, if the control can state it.
    step: Option<Step>,
    /// Segments acknowledged in that step and not yet reported to it.
    segments: u32,
}

impl<'a, C: CongestionControl> Counting<'a, C> {
    fn new(control: &'a mut C, counts: bool, abc_limit: f64) -> Self {
        let mut new = Self { control, counts, abc_limit, cwnd: 0.0, whole: 0, ssthresh: 0.0, step: None, segments: 0 };
        new.read();
        new
    }

    #[inline(always)]
    fn read(&mut self) {
        (self.cwnd, self.ssthresh) = (self.control.cwnd(), self.control.ssthresh());
        self.whole = self.cwnd as u32;
        if self.counts {
            let below = f64::from(self.whole) + 1.0;
            self.step = self.control.step().filter(|step| step.acks == u32::MAX);
            if let Some(step) = &mut self.step {
                step.below = step.below.min(below);
            }
        }
    }

    /// Reports all ACKs so far to the control.
    #[inline(always)]
    fn flush(&mut self) {
        if self.segments > 0
            && let Some(step) = self.step
        {
            self.control.advance(step, std::mem::take(&mut self.segments));
        }
    }

    /// Counts an ACK of `acked` segments that does not begin a round trip. Returns whether counting is enough.
    #[inline(always)]
    fn count(&mut self, acked: u32, limited: bool) -> bool {
        let Some(step) = self.step else { return false };
        if !limited {
            return true;
        }
        let (gained, opens) = (f64::from(acked), self.cwnd < self.ssthresh);
        let cwnd = self.cwnd + step.gain * gained;
        let counted = cwnd < step.below && (!opens || gained <= self.abc_limit);
        if counted {
            self.cwnd = cwnd;
            self.segments += acked;
        }
        counted
    }

    /// Takes an ACK for which counting is not enough.
    fn on_ack(&mut self, ack: &AckSample) {
        self.flush();
        self.control.on_ack(ack);
        self.read();
    }
}

/// Row of consecutive new segments to send.
struct Row {
    times: [Time; ROW],
    len: usize,
    first: u64,
    flags: Flags,
}

/// State that a run of ACKs changes.
#[expect(clippy::struct_excessive_bools, reason = "what it asks of the sender for each ACK, once for the run")]
struct Run<'a, C, W> {
    seq: SequenceSpace,
    /// Limit on the outstanding segments.
    window: u32,
    pace: Pace,
    timed: TimedSegment,
    /// Time at which pacing sends the next segment.
    waits: Time,
    row: Row,
    /// Segments sent.
    sent: u64,
    receive_window: u32,
    /// Whether the pacing time is also computed when nothing is left to send, because the room of the recovery does not
    /// end with the data.
    asks_pace_at_end: bool,
    /// Whether the control takes the round-trip time of every ACK, and whether segments are spaced.
    every_rtt: bool,
    paced: bool,
    control: Counting<'a, C>,
    rtt: &'a mut Rtt,
    /// Whether every ACK gives a round-trip sample.
    stamped: bool,
    departures: Option<&'a mut Departures>,
    deliveries: Option<&'a mut Deliveries>,
    wire: &'a mut W,
}

impl<C: CongestionControl, W: Wire> Run<'_, C, W> {
    #[inline(always)]
    fn take_window(&mut self) {
        self.window = self.control.whole.min(self.receive_window);
    }

    /// Takes an ACK for the next `acked` segments; returns when the last of them was sent, and its round-trip time.
    #[inline(always)]
    fn acknowledge(&mut self, now: Time, acked: u32) -> Option<(Time, Span)> {
        let before = self.seq.outstanding();
        let (cwnd, ssthresh, waits) = (self.control.cwnd, self.control.ssthresh, self.waits != Time::NEVER);
        let limited = before >= self.control.whole || self.pace.counts_as_full(cwnd, ssthresh, waits);
        self.seq.acknowledge_first(acked);
        let timed = self.timed.on_ack(now, self.seq.una());
        let round = self.seq.out();
        if let Some(rtt) = timed.filter(|_| !self.stamped) {
            self.rtt.sample(rtt, round);
        }
        let mut rtt = timed;
        let latest = self.departures.as_deref_mut().and_then(|list| list.pop_ends(acked)).map(|(first, last)| {
            let (left, taken) = (last.time(), now - last.time());
            if self.stamped {
                let oldest = now - first.time();
                self.rtt.smooth_ack(AckRtt { oldest, latest: taken }, round, before);
                self.pace.on_rtt(oldest);
            } else {
                self.rtt.observe(taken);
                self.pace.on_rtt(taken);
            }
            if self.every_rtt {
                rtt = Some(taken);
            }
            (left, taken)
        });
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.advance(self.seq.una(), now);
            let min_rtt = self.rtt.min();
            if let Some(mut delivery) = deliveries.sample(now, min_rtt, before, self.seq.outstanding(), false) {
                if let Some(rtt) = delivery.rtt {
                    self.rtt.observe(rtt);
                    delivery.min_rtt = self.rtt.min();
                }
                self.control.control.on_delivery(&delivery);
            }
            self.control.read();
            self.take_window();
        } else if timed.is_some() || !self.control.count(acked, limited) {
            self.control.on_ack(&AckSample {
                now,
                acked: f64::from(acked),
                ce_marked: 0.0,
                rtt,
                srtt: self.rtt.srtt(),
                min_rtt: self.rtt.min(),
                in_flight: f64::from(before),
                delivered: self.seq.acknowledged(),
                round_start: timed.is_some(),
                cwnd_limited: limited,
                abc_limit: self.control.abc_limit,
                paced: self.paced,
            });
            self.take_window();
        }
        latest
    }

    /// Sends what window and pace allow at `now`, and notes how full the window is.
    #[inline(always)]
    fn fill(&mut self, now: Time) {
        let end = self.seq.end_of_window(self.window);
        while self.seq.nxt() < end {
            if let Some(at) = self.pace.wait(now) {
                self.waits = at;
                break;
            }
            self.waits = Time::NEVER;
            self.send(now);
        }
        if self.asks_pace_at_end && self.seq.unsent() == 0 && self.seq.outstanding() < self.window {
            self.waits = self.pace.wait(now).unwrap_or(Time::NEVER);
        }
        self.pace.note_window_use(&self.seq, self.seq.outstanding(), self.control.whole, self.sent);
    }

    #[inline(always)]
    fn send(&mut self, now: Time) {
        if self.row.len == ROW {
            self.hand_over();
        }
        let seq = self.seq.send_new();
        self.timed.begin(now, seq);
        self.sent += 1;
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.sent(seq, now, self.seq.outstanding() - 1);
        }
        let named = if self.pace.names_rate() { self.control.control.pacing_rate() } else { None };
        let interval = match named {
            Some(rate) => Some(self.pace.at_rate(rate)),
            None => self.pace.interval(self.control.cwnd, self.control.ssthresh, self.seq.outstanding()),
        };
        self.pace.on_transmit(now, interval, || self.control.control.burst());
        self.row.times[self.row.len] = now;
        self.row.len += 1;
    }

    /// Hands over the segments sent. None of them is acknowledged in this run.
    fn hand_over(&mut self) {
        let Row { times, len, first, flags } = &mut self.row;
        let times = &times[..std::mem::take(len)];
        if times.is_empty() {
            return;
        }
        if let Some(departures) = self.departures.as_deref_mut() {
            departures.sent_new(times);
        }
        self.wire.send_row(times.iter().copied(), 1, *first, *flags);
        *first += times.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::each;
    use crate::loss::sack::SackRecovery;
    use crate::options::{Pacing, PacingFactors};
    use crate::{Ack, NO_END, Options, Recovery};
    use law::CongestionEvent;

    /// Grows by [`GAIN`] with each segment, and counts its calls.
    #[derive(Clone, Debug)]
    struct Counter {
        cwnd: f64,
        /// Whether `step` describes the effect of the next ACKs.
        says: bool,
        asked: u32,
    }

    const GAIN: f64 = 1.0 / 128.0;

    impl CongestionControl for Counter {
        fn on_ack(&mut self, ack: &AckSample) {
            self.asked += 1;
            if ack.cwnd_limited {
                self.cwnd += GAIN * ack.acked;
            }
        }
        fn on_congestion(&mut self, _: &CongestionEvent) {}
        fn collapse(&mut self) {}
        fn cwnd(&self) -> f64 {
            self.cwnd
        }
        fn ssthresh(&self) -> f64 {
            2.0
        }
        fn step(&self) -> Option<Step> {
            self.says.then_some(Step { gain: GAIN, below: self.cwnd.floor() + 1.0, acks: u32::MAX })
        }
        fn advance(&mut self, step: Step, acks: u32) {
            self.cwnd += step.gain * f64::from(acks);
        }
    }

    /// Segments that were sent, with their times, and the number of rows.
    #[derive(Default, PartialEq, Debug)]
    struct Left {
        segments: Vec<(Time, u64)>,
        rows: usize,
    }

    impl Wire for Left {
        fn send(&mut self, now: Time, seq: u64, _: Flags) {
            self.segments.push((now, seq));
        }
        fn send_row(
            &mut self,
            times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
            _: u32,
            first: u64,
            _: Flags,
        ) {
            self.rows += 1;
            self.segments.extend(times.zip(first..));
        }
    }

    /// A thousand ACKs, one every 100 us, of `each` segments to a sender with a window of 40 and Linux's pacing;
    /// returns the number of calls of its law, its window, and the segments sent.
    fn thousand(says: bool, in_a_run: bool, each: u32) -> (u32, f64, Left) {
        let pacing = Pacing::Linux(PacingFactors::default());
        let options = Options { pacing, initial_window: 40, ..Options::default() };
        let mut core = Core::new(Counter { cwnd: 40.0, says, asked: 0 }, &options, NO_END, false);
        let mut sack = LossRecovery::SackRecovery(Box::new(SackRecovery::new(Recovery::Sack, true)));
        let (mut wire, ms) = (Left::default(), Span::millis(1));
        each!(&mut sack, sack => core.start(sack, Time::ZERO + ms, &mut wire));
        let mut una = 0;
        for k in 0..1000 {
            let now = Time::ZERO + Span::micros(5000 + 100 * k);
            while core.state.timers.pacing() < now {
                each!(&mut sack, sack => core.on_timer(sack, core.state.timers.pacing(), &mut wire));
            }
            una += u64::from(each);
            if in_a_run && core.paced(&sack, each) > 0 {
                each!(&mut sack, sack => core.take_paced(sack, [(now, each)].into_iter(), &mut wire));
            } else {
                let ack = Ack::new(una, &[], false);
                each!(&mut sack, sack => core.on_ack(sack, now, &ack, &mut wire));
            }
        }
        (core.state.control.asked, core.state.control.cwnd, wire)
    }

    #[test]
    fn a_law_that_counts_is_called_at_the_ends_of_steps_and_of_round_trips() {
        for each in [1, 2] {
            let (every, cwnd, left) = thousand(false, false, each);
            let (asked, same, in_runs) = thousand(true, true, each);
            assert_eq!((every, same, &in_runs.segments), (1000, cwnd, &left.segments), "{each}");
            // Some ten segments gained, and a round trip every 20 or 40 ACKs.
            assert!(cwnd > 44.0 && asked > 20 && asked < 100, "{each}: {cwnd} {asked}");
            assert_eq!(thousand(false, true, each).0, 1000, "a law without steps is called for each ACK");
        }
    }
}
