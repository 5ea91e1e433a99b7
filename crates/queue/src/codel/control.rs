//! CoDel's estimator and control law for one queue: may the packet that leaves go on, or must it be dropped or marked?
//!
//! Source: RFC 8289, Sections 5.5 (the two routines) and 5.6 (`control_law`); marks: RFC 8290, Section 5.2.
//! Differs from the source: a mark takes the place of a drop and its packet goes on, as in Linux; RFC 8289 only drops.
//!
//! Times are picoseconds. A packet that stays below target costs two comparisons; divisions and roots come with drops.

use crate::{Fates, Packet, Port};
use base::{Amount, Cause, Flags, ParamError, Span, Time};

/// The largest Ethernet frame, in bytes.
const ETHERNET: f64 = 1514.0;

/// What all queues of a discipline have in common.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    target: u64,
    interval: u64,
    mtu: u64,
    ecn: bool,
    ce_threshold: u64,
}

/// What CoDel remembers of a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    /// When the sojourn time will have been above target for an interval; 0 while it is below.
    first_above: u64,
    drop_next: u64,
    /// Drops since the dropping state was entered.
    pub count: u32,
    last_count: u32,
    pub dropping: bool,
}

impl Setting {
    /// `ce_threshold` zero is none.
    pub fn new(target: Span, interval: Span, mtu: u64, ecn: bool, ce_threshold: Span) -> Result<Self, ParamError> {
        if interval.0 == 0 || interval > Span::secs(86_400) {
            return Err(ParamError::new("interval", "must be above 0, and a day at most"));
        }
        let ce_threshold = if ce_threshold.0 == 0 { u64::MAX } else { ce_threshold.0 };
        Ok(Self { target: target.0, interval: interval.0, mtu, ecn, ce_threshold })
    }

    /// The control law: the drop after that at `t`, `count` drops into the dropping state.
    fn after(&self, t: u64, count: u32) -> u64 {
        t.saturating_add((self.interval as f64 / f64::from(count).sqrt()).round() as u64)
    }
}

/// A queue as CoDel sees it.
pub(crate) trait Source {
    /// What it needs to know of the oldest packet.
    fn head(&self) -> Option<Head>;
    /// Removes the oldest packet.
    fn take(&mut self) -> Option<Packet>;
}

/// See [`Source::head`].
#[derive(Clone, Copy)]
pub(crate) struct Head {
    arrived: Time,
    ect: bool,
    /// Bytes that wait behind it.
    left: u64,
}

impl Head {
    /// Of `packet`, in a queue of `bytes`, itself included.
    #[inline]
    pub fn of(packet: &Packet, bytes: u64) -> Self {
        Self { arrived: packet.arrived, ect: packet.flags.has(Flags::ECT), left: bytes - u64::from(packet.size) }
    }
}

impl Control {
    /// The next packet to go on: RFC 8289's `dequeue`.
    #[inline]
    pub fn next(
        &mut self,
        setting: &Setting,
        now: Time,
        queue: &mut impl Source,
        fates: &mut impl Fates,
    ) -> Option<Packet> {
        let (head, ok_to_drop) = self.look(setting, now, queue)?;
        if self.dropping || ok_to_drop || now.0 - head.arrived.0 > setting.ce_threshold {
            return self.act(setting, now, (head, ok_to_drop), queue, fates);
        }
        queue.take()
    }

    /// `dodequeue`: the oldest packet, and whether sojourn times have been above target for an interval.
    #[inline]
    fn look(&mut self, setting: &Setting, now: Time, queue: &impl Source) -> Option<(Head, bool)> {
        let Some(head) = queue.head() else {
            (self.first_above, self.dropping) = (0, false);
            return None;
        };
        if now.0 - head.arrived.0 < setting.target || head.left <= setting.mtu {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now.0.saturating_add(setting.interval);
        } else if now.0 >= self.first_above {
            return Some((head, true));
        }
        Some((head, false))
    }

    /// In the dropping state, about to enter it, or beyond the threshold of marks.
    fn act(
        &mut self,
        setting: &Setting,
        now: Time,
        (mut head, mut ok_to_drop): (Head, bool),
        queue: &mut impl Source,
        fates: &mut impl Fates,
    ) -> Option<Packet> {
        let mut mark = None;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now.0 >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if setting.ecn && head.ect {
                    mark = Some(Cause::Sojourn);
                    self.drop_next = setting.after(self.drop_next, self.count);
                    break;
                }
                fates.dropped(&queue.take()?, Cause::Sojourn, now);
                (head, ok_to_drop) = self.look(setting, now, queue)?;
                if ok_to_drop {
                    self.drop_next = setting.after(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.enter(setting, now);
            if setting.ecn && head.ect {
                mark = Some(Cause::Sojourn);
            } else {
                fates.dropped(&queue.take()?, Cause::Sojourn, now);
                (head, _) = self.look(setting, now, queue)?;
            }
        }
        if head.ect && now.0 - head.arrived.0 > setting.ce_threshold {
            mark = mark.or(Some(Cause::Early));
        }
        let mut packet = queue.take()?;
        if let Some(cause) = mark {
            packet.flags = packet.flags.with(Flags::CE);
            fates.marked(&packet, cause, now);
        }
        Some(packet)
    }

    /// Enters the dropping state, at the rate it was left with if that was a short while ago.
    fn enter(&mut self, setting: &Setting, now: Time) {
        let delta = self.count - self.last_count;
        let recent = now.0 < self.drop_next.saturating_add(16 * setting.interval);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = setting.after(now.0, self.count);
        self.dropping = true;
    }
}

/// Bytes of an amount that stands for one frame (a quantum, an MTU); left open, it is that of Ethernet or what the link
/// carries on average, whichever is larger.
pub(crate) fn frame(amount: Amount, port: &Port) -> Amount {
    Amount::Packets(amount.or(|| (ETHERNET / port.packet).max(1.0)))
}

/// A span in words of `tc`, to the microsecond.
pub(crate) fn us(span: Span) -> String {
    format!("{}us", span.0.div_ceil(1_000_000))
}

/// The words of `tc` that `codel` and `fq_codel` share.
pub(crate) fn words(target: Span, interval: Span, ecn: bool, ce_threshold: Span) -> String {
    let ecn = if ecn { "ecn" } else { "noecn" };
    let ce = if ce_threshold.0 == 0 { String::new() } else { format!(" ce_threshold {}", us(ce_threshold)) };
    format!("target {} interval {} {ecn}{ce}", us(target), us(interval))
}
