//! CoDel's estimator and control law for one queue: they decide whether a departing packet passes, or is dropped or marked.
//!
//! Source: RFC 8289, Sections 5.5 (the two routines) and 5.6 (`control_law`); marks: RFC 8290, Section 5.2.
//! Differs from the source: a mark takes the place of a drop and its packet goes on, as in Linux; RFC 8289 only drops.
//!
//! Times are in picoseconds. A packet below target costs two comparisons; divisions and roots are needed only for drops.

use crate::{Fates, Packet, Port};
use base::{Amount, Cause, Flags, ParamError, Span, Time};

/// The largest Ethernet frame, in bytes.
const ETHERNET: f64 = 1514.0;

/// Parameters shared by all queues of a discipline.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    target: u64,
    interval: u64,
    mtu: u64,
    ecn: bool,
    ce_threshold: u64,
    /// Flags that a packet needs to be marked above `ce_threshold`.
    ce_flags: Flags,
}

/// CoDel state of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    /// Time at which the sojourn time will have been above target for an interval; 0 while it is below target.
    first_above: u64,
    drop_next: u64,
    /// Number of drops that sets the drop rate: the drops since the dropping state was entered, plus the count at which it
    /// resumed.
    pub count: u32,
    last_count: u32,
    pub dropping: bool,
}

impl Setting {
    /// A `ce_threshold` of zero disables it.
    pub fn new(target: Span, interval: Span, mtu: u64, ecn: bool, ce_threshold: Span) -> Result<Self, ParamError> {
        if interval.0 == 0 || interval > Span::secs(86_400) {
            return Err(ParamError::new("interval", "must be above 0, and a day at most"));
        }
        let ce_threshold = if ce_threshold.0 == 0 { u64::MAX } else { ce_threshold.0 };
        Ok(Self { target: target.0, interval: interval.0, mtu, ecn, ce_threshold, ce_flags: Flags::ECT })
    }

    /// The same setting; with `alone`, the `ce_threshold` applies to ECT(1) only.
    #[must_use]
    pub fn for_ect1(self, alone: bool) -> Self {
        Self { ce_flags: if alone { Flags::ECT.with(Flags::L4S) } else { Flags::ECT }, ..self }
    }

    /// The control law: the time of the drop after the one at `t`, the `count`-th of the dropping state.
    fn after(&self, t: u64, count: u32) -> u64 {
        t.saturating_add((self.interval as f64 / f64::from(count).sqrt()).round() as u64)
    }
}

/// A queue as CoDel sees it.
pub(crate) trait Source {
    /// The fields of the oldest packet that CoDel needs.
    fn head(&self) -> Option<Head>;
    /// Marks the oldest packet and returns it; the queue must not be empty.
    fn mark(&mut self) -> Packet;
    /// Removes the oldest packet.
    fn take(&mut self) -> Option<Packet>;
}

/// See [`Source::head`].
#[derive(Clone, Copy)]
pub(crate) struct Head {
    arrived: Time,
    flags: Flags,
    /// Bytes that wait behind it.
    left: u64,
}

impl Head {
    fn is_ect(self) -> bool {
        self.flags.has(Flags::ECT)
    }

    /// The head `packet` of a queue of `bytes`, which include the packet.
    #[inline]
    pub fn of(packet: &Packet, bytes: u64) -> Self {
        Self { arrived: packet.arrived, flags: packet.flags, left: bytes - u64::from(packet.size) }
    }
}

impl Control {
    /// State of a queue that was never above target.
    pub const NEW: Self = Self { first_above: 0, drop_next: 0, count: 0, last_count: 0, dropping: false };

    /// Returns the next packet to send: RFC 8289's `dequeue`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    pub fn next(
        &mut self,
        setting: &Setting,
        now: Time,
        queue: &mut impl Source,
        fates: &mut impl Fates,
    ) -> Option<Packet> {
        let Some(head) = queue.head() else {
            self.emptied();
            return None;
        };
        let ok_to_drop = self.is_above(setting, now, head);
        if self.dropping || ok_to_drop || now.0 - head.arrived.0 > setting.ce_threshold {
            self.act(setting, now, (head, ok_to_drop), queue, fates)?;
        }
        // Taken in one place, so that the packet need not pass through memory.
        queue.take()
    }

    /// Notes that a packet left without waiting.
    #[inline]
    pub fn not_above(&mut self) {
        self.first_above = 0;
    }

    /// Called when nothing waits.
    fn emptied(&mut self) {
        (self.first_above, self.dropping) = (0, false);
    }

    /// `dodequeue`: whether sojourn times have been above target for an interval, `head` being the oldest packet.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every packet")]
    fn is_above(&mut self, setting: &Setting, now: Time, head: Head) -> bool {
        if now.0 - head.arrived.0 < setting.target || head.left <= setting.mtu {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now.0.saturating_add(setting.interval);
            return false;
        }
        now.0 >= self.first_above
    }

    /// The packet behind one that was dropped, and whether it may be dropped too.
    fn inspect(&mut self, setting: &Setting, now: Time, queue: &impl Source) -> Option<(Head, bool)> {
        let Some(head) = queue.head() else {
            self.emptied();
            return None;
        };
        Some((head, self.is_above(setting, now, head)))
    }

    /// Acts in the dropping state, on entering it, or above `ce_threshold`: drops packets as CoDel requires and marks the
    /// one that is sent. Returns `None` if the queue is empty afterwards.
    #[inline(never)]
    fn act(
        &mut self,
        setting: &Setting,
        now: Time,
        (mut head, mut ok_to_drop): (Head, bool),
        queue: &mut impl Source,
        fates: &mut impl Fates,
    ) -> Option<()> {
        let mut mark = None;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now.0 >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if setting.ecn && head.is_ect() {
                    mark = Some(Cause::Sojourn);
                    self.drop_next = setting.after(self.drop_next, self.count);
                    break;
                }
                fates.dropped(&queue.take()?, Cause::Sojourn, now);
                (head, ok_to_drop) = self.inspect(setting, now, queue)?;
                if ok_to_drop {
                    self.drop_next = setting.after(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.enter(setting, now);
            if setting.ecn && head.is_ect() {
                mark = Some(Cause::Sojourn);
            } else {
                fates.dropped(&queue.take()?, Cause::Sojourn, now);
                (head, _) = self.inspect(setting, now, queue)?;
            }
        }
        if head.flags.has(setting.ce_flags) && now.0 - head.arrived.0 > setting.ce_threshold {
            mark = mark.or(Some(Cause::Early));
        }
        if let Some(cause) = mark {
            fates.marked(&queue.mark(), cause, now);
        }
        Some(())
    }

    /// Enters the dropping state; if it was left only a short while ago, at the drop rate of that time.
    fn enter(&mut self, setting: &Setting, now: Time) {
        let delta = self.count - self.last_count;
        let recent = now.0 < self.drop_next.saturating_add(16 * setting.interval);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = setting.after(now.0, self.count);
        self.dropping = true;
    }
}

/// Bytes of an amount that means one frame (a quantum, an MTU). The automatic value is the larger of an Ethernet frame and
/// the link's mean packet size.
pub(crate) fn frame(amount: Amount, port: &Port) -> Amount {
    Amount::Packets(amount.or(|| (ETHERNET / port.packet).max(1.0)))
}

/// A span as a word of `tc`, which counts microseconds in 32 bits; `None` if the span does not fit.
pub(crate) fn us(span: Span) -> Option<String> {
    let micros = u32::try_from(span.0 / 1_000_000).ok().filter(|n| Span::micros(u64::from(*n)) == span);
    micros.map(|n| format!("{n}us"))
}

/// The target for a device: at least the service time of a packet, in whole microseconds; a smaller one would drop from a
/// queue of one packet. Source: RFC 8290, Section 5.2 (the target). A queue in a scenario keeps its given target, because
/// `mtu` protects it.
pub(crate) fn at_least_a_packet(target: Span, port: &Port) -> Span {
    let micros = (8e6 * port.packet / port.rate.0 as f64).ceil();
    target.max(Span::micros(micros as u64))
}

/// The words of `tc` that `codel` and `fq_codel` share.
pub(crate) fn words(target: Span, interval: Span, ecn: bool, ce_threshold: Span) -> Option<String> {
    let ecn = if ecn { "ecn" } else { "noecn" };
    let ce = if ce_threshold.0 == 0 { String::new() } else { format!(" ce_threshold {}", us(ce_threshold)?) };
    Some(format!("target {} interval {} {ecn}{ce}", us(target)?, us(interval)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    /// A queue whose packets have all waited for `sojourn` ms, with `left` bytes behind the head.
    struct Standing {
        now: Time,
        sojourn: u64,
        left: u64,
        flags: Flags,
    }

    impl Source for Standing {
        fn head(&self) -> Option<Head> {
            let arrived = Time(self.now.0 - self.sojourn * MS);
            Some(Head { arrived, flags: self.flags, left: self.left })
        }
        fn mark(&mut self) -> Packet {
            Packet::new(0, 0, 1000, Time::ZERO).with(Flags::CE)
        }
        fn take(&mut self) -> Option<Packet> {
            Some(Packet::new(0, 0, 1000, Time(self.now.0 - self.sojourn * MS)).with(self.flags))
        }
    }

    #[derive(Default)]
    struct Ledger {
        dropped: Vec<u64>,
        marked: Vec<(u64, Cause)>,
    }

    impl Fates for Ledger {
        fn dropped(&mut self, _: &Packet, cause: Cause, now: Time) {
            assert_eq!(cause, Cause::Sojourn);
            self.dropped.push(now.0 / MS);
        }
        fn marked(&mut self, packet: &Packet, cause: Cause, now: Time) {
            assert!(packet.flags.has(Flags::CE));
            self.marked.push((now.0 / MS, cause));
        }
    }

    /// A control, and a standing queue of 10 packets from which one packet is requested every millisecond.
    struct Trial {
        setting: Setting,
        control: Control,
        queue: Standing,
        fates: Ledger,
    }

    impl Trial {
        fn new(ecn: bool, ce_threshold: u64) -> Self {
            let ce_threshold = Span::millis(ce_threshold);
            let setting = Setting::new(Span::millis(5), Span::millis(100), 1514, ecn, ce_threshold).unwrap();
            let queue = Standing { now: Time::ZERO, sojourn: 0, left: 10_000, flags: Flags::NONE };
            Self { setting, control: Control::NEW, queue, fates: Ledger::default() }
        }

        /// Serves from `from` to before `to` ms with a sojourn time of `sojourn` ms. Returns the times of the drops.
        fn serve(&mut self, from: u64, to: u64, sojourn: u64) -> Vec<u64> {
            self.queue.sojourn = sojourn;
            for ms in from..to {
                self.queue.now = Time(ms * MS);
                let packet = self.control.next(&self.setting, self.queue.now, &mut self.queue, &mut self.fates);
                assert!(packet.is_some());
            }
            std::mem::take(&mut self.fates.dropped)
        }
    }

    #[test]
    fn drops_first_an_interval_after_going_above_target_then_by_the_inverse_root() {
        let mut trial = Trial::new(false, 0);
        // Above target since 1000, so dropping begins at 1100. Each next drop is due 100 ms / sqrt(count) after the last
        // due time: 1200, 1270.71, 1328.45, 1378.45, 1423.17, 1463.99, 1501.79. It happens at the next request.
        assert_eq!(trial.serve(900, 1000, 4), []);
        assert_eq!(trial.serve(1000, 1502, 5), [1100, 1200, 1271, 1329, 1379, 1424, 1464]);
        // The drop at 1501.79 is due, but one packet below target ends the dropping.
        assert_eq!(trial.serve(1502, 1503, 4), []);
        assert!(!trial.control.dropping);
        assert_eq!(trial.serve(1503, 1603, 100), []);
    }

    #[test]
    fn the_nth_drop_comes_at_the_time_of_the_closed_form() {
        let mut trial = Trial::new(false, 0);
        let times = trial.serve(1000, 21_000, 6);
        let mut due = 1100.0;
        for (i, time) in times.iter().enumerate() {
            // There is one request per millisecond; the control law rounds its own times to the picosecond.
            assert_eq!(*time, f64::ceil(due - 1e-6) as u64, "drop {i}");
            due += 100.0 / f64::from(i as u32 + 1).sqrt();
        }
        // The sum to n of 1 / sqrt(i) is 2 sqrt(n) - 1.46 + 0.005: 198.99 intervals are 10044 drops, besides the first.
        assert_eq!(times.len(), 10_045);
    }

    #[test]
    fn catches_up_when_several_drops_are_due() {
        let mut trial = Trial::new(false, 0);
        assert_eq!(trial.serve(1000, 1101, 50), [1100]);
        // Due at 1200, 1270.71 and 1328.45.
        assert_eq!(trial.serve(1330, 1331, 50), [1330; 3]);
        assert_eq!(trial.serve(1331, 1380, 50), [1379]);
    }

    #[test]
    fn resumes_at_the_rate_it_left_with() {
        let mut trial = Trial::new(false, 0);
        assert_eq!(trial.serve(1000, 1450, 50).len(), 6);
        assert_eq!(trial.serve(1450, 1500, 0), []);
        // Six drops, one of them on entering: count 6, which is 5 more than on entering. 100 / sqrt(5) = 44.72, 100 /
        // sqrt(6) = 40.82.
        assert_eq!(trial.serve(1500, 1690, 50), [1600, 1645, 1686]);
        assert_eq!((trial.control.count, trial.control.last_count), (7, 5));
        // Count is 2 more than on entering: dropping resumes at 2, so the next drop comes after 70.71 ms.
        assert_eq!(trial.serve(1690, 1700, 0), []);
        assert_eq!(trial.serve(1700, 1875, 50), [1800, 1871]);
        // Count is 1 more: dropping starts from 1 again.
        assert_eq!(trial.serve(1875, 1900, 0), []);
        assert_eq!(trial.serve(1900, 2101, 50), [2000, 2100]);
    }

    #[test]
    fn forgets_the_rate_after_sixteen_intervals() {
        for (pause, second) in [(1565, 45), (1566, 100)] {
            let mut trial = Trial::new(false, 0);
            assert_eq!(trial.serve(1000, 1450, 50).len(), 6);
            // The next drop was due at 1463.99, and the old rate is kept until 3063.99. In one case dropping starts before
            // that, in the other after.
            let from = 1398 + pause;
            assert_eq!(trial.serve(1450, from, 0), []);
            let entered = from + 100;
            assert_eq!(trial.serve(from, entered + second + 1, 50), [entered, entered + second]);
        }
    }

    #[test]
    fn drops_nothing_if_at_most_one_frame_is_left_in_the_queue() {
        let mut trial = Trial::new(false, 0);
        trial.queue.left = 1514;
        assert_eq!(trial.serve(1000, 2000, 50), []);
        trial.queue.left = 1515;
        assert_eq!(trial.serve(2000, 2101, 50), [2100]);
    }

    #[test]
    fn marks_where_it_would_have_dropped() {
        let mut trial = Trial::new(true, 0);
        trial.queue.flags = Flags::ECT;
        assert_eq!(trial.serve(1000, 1425, 50), []);
        let times: Vec<_> = std::mem::take(&mut trial.fates.marked);
        assert_eq!(times, [1100, 1200, 1271, 1329, 1379, 1424].map(|ms| (ms, Cause::Sojourn)));
        trial.queue.flags = Flags::NONE;
        assert_eq!(trial.serve(1425, 1465, 50), [1464]);
        assert_eq!(trial.fates.marked, []);
    }

    #[test]
    fn marks_every_packet_above_the_threshold_once() {
        let mut trial = Trial::new(true, 7);
        trial.serve(998, 1000, 8);
        trial.queue.flags = Flags::ECT;
        trial.serve(1000, 1001, 7);
        assert_eq!(trial.fates.marked, []);
        trial.serve(1001, 1003, 8);
        assert_eq!(trial.fates.marked, [1001, 1002].map(|ms| (ms, Cause::Early)));
        trial.serve(1098, 1099, 8);
        assert_eq!(trial.fates.marked[2..], [(1098, Cause::Sojourn)]);
    }

    #[test]
    fn a_threshold_for_ect_1_alone_marks_no_other_packets() {
        let mut trial = Trial::new(true, 1);
        trial.setting = trial.setting.for_ect1(true);
        for (flags, marks) in [(Flags::NONE, 0), (Flags::ECT, 0), (Flags::ECT.with(Flags::L4S), 2)] {
            trial.queue.flags = flags;
            trial.serve(1000, 1002, 2);
            assert_eq!(trial.fates.marked.len(), marks);
        }
        // CoDel's own marks apply to all ECT packets.
        trial.queue.flags = Flags::ECT;
        trial.serve(1002, 1110, 6);
        assert_eq!(trial.fates.marked[2..], [(1102, Cause::Sojourn)]);
    }
}
