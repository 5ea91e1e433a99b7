//! Fast paths of a TCP flow: consecutive records that are in order are processed at once while nothing is lost. The results
//! are the same, bit for bit, as with one record at a time. The sender decides which rows it can process (`Sender::row`).

use super::TcpFlow;
use crate::observer::Observer;
use crate::plan::{FlowControl, TcpPlan};
use crate::window::bucket::{Bucket, Window};
use crate::window::headers::Headers;
use crate::window::ring::{Rec, Ring, tag, until_wrap};
use base::{Flags, PacketNumber, Span, Time};
use transport::{AckRow, Receiver};

/// Source of a row of ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A folded receiver that acknowledges every segment.
    Folded,
    /// A folded receiver that acknowledges several segments together.
    Delayed,
    /// A folded receiver that holds segments above a gap; the next segments only extend the highest run.
    Repair,
    /// Return links.
    Returned,
}

/// Beginning of a row of records.
struct Head {
    /// Number of its first record.
    number: PacketNumber,
    /// Segments that each ACK acknowledges.
    each: u32,
    /// Segments before the first that wait for the same ACK.
    pending: u32,
    /// Largest number of records that the receiver handles in the same way.
    most: u64,
}

impl<O: Observer, C: FlowControl> TcpFlow<O, C> {
    /// Processes as many ACKs as possible on the fast paths. Returns whether a place's transfer has ended.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, in the loop over all that happens at a sender")]
    pub(super) fn run_short(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        window: Window<'_>,
    ) -> bool {
        if !self.is_folded() {
            self.run_rows(Source::Returned, ring, bucket, headers, window)
        } else if self.plan.receiver.holds_any() {
            self.run_rows(Source::Repair, ring, bucket, headers, window)
        } else if self.plan.receiver.delayed_ack() > 1 {
            self.run_rows(Source::Delayed, ring, bucket, headers, window)
        } else {
            self.run_rows(Source::Folded, ring, bucket, headers, window)
        }
    }

    /// First record of a row from `source`; `None` if the next must be processed alone.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `run_rows`")]
    fn head(&self, source: Source) -> Option<Head> {
        let (receiver, una) = (&self.plan.receiver, self.plan.sender.seq().una());
        let (number, each, pending, most) = match source {
            Source::Folded => (PacketNumber::of(una), 1, 0, u64::MAX),
            Source::Delayed => {
                let (most, pending) = (receiver.delays_plainly(), receiver.pending());
                if most == 0 || una + u64::from(pending) != receiver.next() {
                    return None;
                }
                (PacketNumber::of(receiver.next()), receiver.delayed_ack(), pending, most)
            }
            Source::Repair => (PacketNumber::of(receiver.extends_plainly()?.1), 1, 0, u64::MAX),
            Source::Returned => {
                let (number, each) = self.acks.as_deref()?.oldest(una)?;
                (number, each, 0, u64::MAX)
            }
        };
        Some(Head { number, each, pending, most })
    }

    /// Row of ACKs from `source` that the sender can process: each ACK acknowledges `each` segments, the first arrives
    /// at `first`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as `run_rows`")]
    fn row(&self, source: Source, each: u32, first: Time) -> Option<AckRow> {
        let TcpPlan { sender, receiver, .. } = &*self.plan;
        match source {
            Source::Repair => sender.row_in_repair(receiver.next(), receiver.extends_plainly()?, first),
            Source::Folded if !receiver.is_plain() => None,
            _ => sender.row(each),
        }
    }

    /// Processes rows of ACKs from `source`. Returns whether a place's transfer has ended.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled once for each source")]
    fn run_rows(
        &mut self,
        source: Source,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until, .. }: Window<'_>,
    ) -> bool {
        let limit = horizon.min(self.next_mark).min(self.stop);
        let flags = if source == Source::Returned { Flags::ACK } else { self.data_flags };
        let after = self.return_delay;
        while let Some(Head { number, each, pending, most }) = self.head(source) {
            let (front, expected) = (ring.all(), tag(self.access.id, number, flags));
            let Some(first) = front.first() else { break };
            if first.time >= limit || first.tag != expected {
                break;
            }
            let Some(row) = self.row(source, each, first.time) else { break };
            let per_ack = if source == Source::Delayed { each } else { 1 };
            // Tags are consecutive up to the largest 32-bit number; after the wrap they are not.
            let most = most.min(u64::from(row.most) * u64::from(per_ack) - u64::from(pending)).min(until_wrap(number));
            let front = &front[..front.len().min(most as usize)];
            let recs = self.in_order(before(front, limit.min(row.deadline.saturating_add(Span(1)))), expected);
            let recs = match source {
                Source::Folded | Source::Repair => recs,
                Source::Delayed => in_time(recs, &self.plan.receiver, after),
                Source::Returned => self.alike(recs, each),
            };
            let Some(&Rec { time: last, .. }) = recs.last() else { break };
            let mut n = recs.len() as u32;
            let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
            if source == Source::Delayed {
                let acks = recs[recs.len().min((each - 1 - pending) as usize)..].iter().step_by(each as usize);
                if acks.len() > 0 {
                    plan.sender.take_row(&row, acks.map(|rec| rec.time), &mut wire);
                }
                plan.receiver.take_delayed(n, last - after, ack_deadline(recs, &plan.receiver, after));
            } else {
                n = plan.sender.take_row(&row, recs.iter().map(|rec| rec.time), &mut wire);
            }
            ring.consume(n as usize);
            if source == Source::Returned {
                if let Some(acks) = self.acks.as_deref_mut() {
                    acks.forget(n);
                }
            } else {
                self.delivered += u64::from(n);
            }
            match source {
                Source::Repair => {
                    self.plan.receiver.extend(n);
                    if n == 0 {
                        break;
                    }
                    continue;
                }
                Source::Folded => self.plan.receiver.take_plain(n),
                Source::Delayed | Source::Returned => {}
            }
            if source != Source::Returned {
                self.meter.delivered(last - after, &self.plan);
            }
            if self.note_end(last) {
                return true;
            }
        }
        false
    }

    /// Delivers segments in order to a receiver whose ACKs take return links, before `limit`. Returns whether there were
    /// any.
    pub(super) fn receive_in_order(&mut self, ring: &mut Ring, bucket: &mut Bucket, limit: Time) -> bool {
        let (front, receiver) = (ring.all(), &self.plan.receiver);
        if self.has_writes || self.access.carries_headers() {
            return false;
        }
        let next = PacketNumber::of(receiver.next());
        let most = until_wrap(next).min(receiver.delays_plainly()) as usize;
        let front = &front[..front.len().min(most)];
        let expected = tag(self.access.id, next, self.data_flags);
        let other = front.iter().zip(expected..).position(|(rec, tag)| rec.time >= limit || rec.tag != tag);
        let recs = in_time(&front[..other.unwrap_or(front.len())], receiver, Span::ZERO);
        let Some(&Rec { time: last, .. }) = recs.last() else { return false };
        let (each, pending, n) = (receiver.delayed_ack(), receiver.pending(), recs.len() as u32);
        let deadline = ack_deadline(recs, receiver, Span::ZERO);
        let Some(acks) = self.acks.as_deref_mut() else { return false };
        let mut cum = receiver.next() - u64::from(pending);
        for rec in recs[recs.len().min((each - 1 - pending) as usize)..].iter().step_by(each as usize) {
            cum += u64::from(each);
            bucket.push(Rec { time: rec.time, tag: tag(self.access.id, acks.next(), Flags::ACK) });
            acks.push_plain(cum);
        }
        ring.consume(n as usize);
        self.plan.receiver.take_delayed(n, last, deadline);
        self.delivered += u64::from(n);
        self.meter.delivered(last, &self.plan);
        true
    }

    /// The leading `recs`, of ACKs from return links, that acknowledge `each` segments and nothing else.
    fn alike<'a>(&self, recs: &'a [Rec], each: u32) -> &'a [Rec] {
        let una = self.plan.sender.seq().una();
        &recs[..self.acks.as_deref().map_or(0, |acks| acks.alike(recs.len(), una, u64::from(each)))]
    }

    /// The leading `acks` that are for the segments `expected`, `expected` + 1 and so on.
    #[inline]
    fn in_order<'a>(&self, acks: &'a [Rec], expected: u64) -> &'a [Rec] {
        if !self.plan.sender.seq().is_pristine() || self.may_differ {
            let other = acks.iter().zip(expected..).position(|(rec, tag)| rec.tag != tag);
            return &acks[..other.unwrap_or(acks.len())];
        }
        // Each segment was sent once and in order, so tags only grow: if the last of n tags is n-1 above the first, none is
        // missing.
        match acks.last() {
            Some(last) if last.tag == expected + acks.len() as u64 - 1 => acks,
            _ => &acks[..tags_in_row(acks, expected)],
        }
    }
}

/// Time at which the delayed-ACK timer expires after the segments `recs` arrived; `NEVER` if no segment waits for an
/// ACK. `after`: times in `recs` are later than the arrivals at the `receiver` by this.
#[inline]
fn ack_deadline(recs: &[Rec], receiver: &Receiver, after: Span) -> Time {
    let left = (receiver.pending() as usize + recs.len()) % receiver.delayed_ack() as usize;
    match recs.len().checked_sub(left) {
        _ if left == 0 => Time::NEVER,
        Some(first) => recs[first].time - after + receiver.timeout(),
        None => receiver.deadline(),
    }
}

/// The leading `recs`, which are in order of time, that come before `limit`.
#[inline]
fn before(recs: &[Rec], limit: Time) -> &[Rec] {
    match recs.last() {
        Some(last) if last.time >= limit => &recs[..recs.partition_point(|rec| rec.time < limit)],
        _ => recs,
    }
}

/// Number of leading records with consecutive tags from `expected` on, found by bisection, since tags only grow.
fn tags_in_row(recs: &[Rec], expected: u64) -> usize {
    let (mut good, mut bad) = (0, recs.len());
    while good < bad {
        let middle = usize::midpoint(good, bad);
        if recs[middle].tag == expected + middle as u64 { good = middle + 1 } else { bad = middle }
    }
    good
}

/// The leading `recs` that arrive before the delayed-ACK timer would expire. `recs` are in order; their times are later
/// than the arrivals at the `receiver` by `after`. Empty after a pause that makes the receiver acknowledge quickly.
fn in_time<'a>(recs: &'a [Rec], receiver: &Receiver, after: Span) -> &'a [Rec] {
    let (Some(first), Some(last)) = (recs.first(), recs.last()) else { return recs };
    if receiver.is_late(first.time - after) {
        return &[];
    }
    let (each, pending, timeout) = (receiver.delayed_ack() as usize, receiver.pending() as usize, receiver.timeout());
    let head = if pending > 0 { recs.len().min(each - pending) } else { 0 };
    let deadline = receiver.deadline().saturating_add(after);
    if let Some(late) = recs[..head].iter().position(|rec| rec.time > deadline) {
        return &recs[..late];
    }
    if last.time - first.time <= timeout {
        return recs;
    }
    let mut from = head;
    while from < recs.len() {
        let group = &recs[from..recs.len().min(from + each)];
        if let Some(late) = group.iter().position(|rec| rec.time > group[0].time + timeout) {
            return &recs[..from + late];
        }
        from += each;
    }
    recs
}

#[cfg(test)]
thread_local! {
    /// Number of records processed one at a time.
    pub(super) static SINGLE: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, simulate};

    /// Profile without bursts; with bursts, senders process every ACK separately.
    const LINUX: &str = "{ profile = \"linux\", burst = \"none\", receive_window = \"none\" }";

    /// TCP settings with pacing.
    const PACED: &str = "{ profile = \"linux\", burst = \"none\", receive_window = \"none\", pacing = \"linux\" }";

    /// Number of records that were processed one at a time, per packet delivered, for five flows on a link of 100
    /// Mbit/s with an RTT of 50 ms.
    fn one_by_one(law: &str, queue: &str, tcp: &str, path: &str) -> f64 {
        let text = format!(
            "duration = \"8 s\"\nwarmup = \"2 s\"\n[record]\nevery = \"none\"\n\
             [[links]]\nname = \"a\"\nrate = \"100 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"200 packets\"\n{queue}\n\
             [[links]]\nname = \"b\"\nrate = \"110 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"200 packets\"\n\
             [[flows]]\ncount = 5\n{path}\nrtt = {{ from = \"45 ms\", to = \"55 ms\" }}\npacket = \"1500 B\"\n\
             control = \"{law}\"\ntcp = {tcp}\nstart = {{ from = \"0 s\", to = \"1 s\" }}\n"
        );
        let scenario = scenario::read(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        super::SINGLE.set(0);
        let outcome = simulate(&scenario, 0, Options::default()).expect("small");
        super::SINGLE.get() as f64 / outcome.balance.delivered as f64
    }

    #[test]
    fn most_records_are_taken_in_runs_with_delayed_acks_too() {
        let (one, two, back) = ("path = [\"a\"]", "path = [\"a\", \"b\"]", "path = [\"a\"]\nreturn = [\"b\"]");
        for (law, queue, tcp, path) in [
            ("cubic", "", "{ delayed_ack = 1 }", one),
            ("cubic", "", LINUX, one),
            ("reno", "", LINUX, one),
            ("highspeed", "", LINUX, one),
            ("cubic", "", LINUX, two),
            ("cubic", "queue = { discipline = \"red\" }", LINUX, one),
            ("cubic", "queue = { discipline = \"codel\" }", LINUX, one),
            ("cubic", "", "{ profile = \"linux\", burst = \"none\", receive_window = \"none\", delayed_ack = 3 }", one),
            ("cubic", "", "{ profile = \"linux\", burst = \"none\", receive_window = \"none\", ecn = \"on\" }", one),
            ("dctcp", "queue = { discipline = \"drop-tail\", ecn_threshold = 100 }", LINUX, one),
            ("cubic", "", PACED, one),
            ("reno", "", PACED, one),
            ("cubic", "", LINUX, back),
            ("reno", "", LINUX, back),
            ("cubic", "", PACED, back),
        ] {
            let share = one_by_one(law, queue, tcp, path);
            // Records at the start and end of recoveries are processed one at a time: a share of 0.02 to 0.08, with and
            // without delayed ACKs. On return links ACKs have records too, and all ACKs of a recovery count: a share of
            // up to 0.24. Without fast paths the share would be 1, and 1.5 on return links. With DCTCP, each ACK
            // reduces the window for a round trip after a mark.
            let bound = if path == back {
                0.3
            } else if law == "dctcp" {
                0.45
            } else {
                0.09
            };
            assert!(share < bound, "{law} {queue} {tcp} {path}: {share}");
        }
    }

    #[test]
    fn most_records_of_repairs_are_taken_in_runs() {
        let (loss, path) = ("loss = { random = 0.01 }", "path = [\"a\"]");
        for (law, tcp) in [("cubic", LINUX), ("bbr3", LINUX), ("reno", "{ delayed_ack = 1 }"), ("cubic", PACED)] {
            let share = one_by_one(law, loss, tcp, path);
            // Measured: 0.03 to 0.07; one record at a time gives 0.3 (CUBIC) to 0.76 (BBR).
            assert!(share < 0.1, "{law} {tcp}: {share}");
        }
    }

    #[test]
    fn tags_in_a_row_end_where_one_is_missing() {
        let recs = |seqs: &[u32]| -> Vec<Rec> {
            seqs.iter().map(|&seq| Rec { time: Time::ZERO, tag: tag(5, PacketNumber(seq), Flags::NONE) }).collect()
        };
        let expected = tag(5, PacketNumber(10), Flags::NONE);
        for missing in 10..20 {
            let seqs: Vec<u32> = (10..20).filter(|&seq| seq != missing).collect();
            // The result is the number of records before the gap.
            assert_eq!(tags_in_row(&recs(&seqs), expected), (missing - 10) as usize, "{missing}");
        }
        assert_eq!(tags_in_row(&recs(&[]), expected), 0);
        // A packet of another flow, or with other flags, has another tag.
        let mut other = recs(&[10, 11, 12]);
        other[2].tag = tag(5, PacketNumber(12), Flags::CE);
        assert_eq!(tags_in_row(&other, expected), 2);
    }
}
