//! Fast paths of a TCP flow: consecutive records that are in order are processed at once while nothing is lost. The results
//! are the same, bit for bit, as with one record at a time. The sender decides which rows it can process (`Sender::row`).

use super::TcpFlow;
use crate::observer::Observer;
use crate::plan::FlowControl;
use crate::window::bucket::{Bucket, Window};
use crate::window::headers::Headers;
use crate::window::ring::{Rec, Ring, tag, until_wrap};
use base::{Flags, PacketNumber, Span, Time};
use transport::Receiver;

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
            return self.run_acks(ring, bucket, headers, window);
        }
        if self.plan.receiver.holds_any() {
            self.run_repairs(ring, bucket, headers, window);
            return false;
        }
        if self.plan.receiver.delayed_ack() > 1 {
            self.run_delayed(ring, bucket, headers, window)
        } else {
            self.run_steady(ring, bucket, headers, window)
        }
    }

    /// Processes a row of ACKs that each release one segment. Returns whether a place's transfer has ended.
    fn run_steady(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until, .. }: Window<'_>,
    ) -> bool {
        let limit = horizon.min(self.next_mark).min(self.stop);
        loop {
            let front = ring.all();
            let una = PacketNumber::of(self.plan.sender.seq().una());
            let expected = tag(self.access.id, una, self.data_flags);
            let ready = front.first().is_some_and(|rec| rec.time < limit && rec.tag == expected);
            if !ready || !self.plan.receiver.is_plain() {
                return false;
            }
            let Some(row) = self.plan.sender.row(1) else { return false };
            // Tags are consecutive up to the last 32-bit number.
            let most = until_wrap(una).min(u64::from(row.most)) as usize;
            let acks = before(&front[..front.len().min(most)], limit.min(row.deadline.saturating_add(Span(1))));
            let acks = self.in_order(acks, expected);
            let Some(&Rec { time: last, .. }) = acks.last() else { return false };
            let n = acks.len() as u32;
            let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
            plan.sender.take_row(&row, acks.iter().map(|rec| rec.time), &mut wire);
            ring.consume(n as usize);
            self.plan.receiver.take_plain(n);
            self.delivered += u64::from(n);
            self.meter.delivered(last - self.return_delay, &self.plan);
            if self.note_end(last) {
                return true;
            }
        }
    }

    /// [`Self::run_steady`] for a receiver that acknowledges several segments together.
    fn run_delayed(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until, .. }: Window<'_>,
    ) -> bool {
        if self.plan.receiver.delays_plainly() == 0 {
            return false;
        }
        let limit = horizon.min(self.next_mark).min(self.stop);
        let (each, after) = (self.plan.receiver.delayed_ack(), self.return_delay);
        loop {
            let (front, receiver, sender) = (ring.all(), &self.plan.receiver, &self.plan.sender);
            let (next, pending) = (PacketNumber::of(receiver.next()), receiver.pending());
            let expected = tag(self.access.id, next, self.data_flags);
            let ready = front.first().is_some_and(|rec| rec.time < limit && rec.tag == expected);
            if !ready || receiver.delays_plainly() == 0 || sender.seq().una() + u64::from(pending) != receiver.next() {
                return false;
            }
            let Some(row) = sender.row(each) else { return false };
            let alike = until_wrap(next).min(receiver.delays_plainly());
            let most = alike.min(u64::from(row.most) * u64::from(each) - u64::from(pending)) as usize;
            let recs = before(&front[..front.len().min(most)], limit.min(row.deadline.saturating_add(Span(1))));
            let recs = in_time(self.in_order(recs, expected), receiver, after);
            let Some(&Rec { time: last, .. }) = recs.last() else { return false };
            let n = recs.len() as u32;
            let left = (pending + n) % each;
            let deadline = match left {
                0 => Time::NEVER,
                _ if left > n => receiver.deadline(),
                _ => recs[(n - left) as usize].time - after + receiver.timeout(),
            };
            let acks = recs[recs.len().min((each - 1 - pending) as usize)..].iter().step_by(each as usize);
            if acks.len() > 0 {
                let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
                plan.sender.take_row(&row, acks.map(|rec| rec.time), &mut wire);
            }
            ring.consume(n as usize);
            self.plan.receiver.take_delayed(n, last - after, deadline);
            self.delivered += u64::from(n);
            self.meter.delivered(last - after, &self.plan);
            if self.note_end(last) {
                return true;
            }
        }
    }

    /// [`Self::run_steady`] for ACKs that came through return links, each of which acknowledges the same number of
    /// segments.
    fn run_acks(
        &mut self,
        ring: &mut Ring,
        bucket: &mut Bucket,
        headers: &mut Headers,
        Window { horizon, until, .. }: Window<'_>,
    ) -> bool {
        let limit = horizon.min(self.next_mark).min(self.stop);
        loop {
            let (front, sender) = (ring.all(), &self.plan.sender);
            let Some(acks) = self.acks.as_deref() else { return false };
            let Some((number, each)) = acks.oldest(sender.seq().una()) else { return false };
            let expected = tag(self.access.id, number, Flags::ACK);
            if !front.first().is_some_and(|rec| rec.time < limit && rec.tag == expected) {
                return false;
            }
            let Some(row) = sender.row(each) else { return false };
            let limit = limit.min(row.deadline.saturating_add(Span(1)));
            let front = &front[..front.len().min(row.most as usize).min(until_wrap(number) as usize)];
            let other = front.iter().zip(expected..).position(|(rec, tag)| rec.time >= limit || rec.tag != tag);
            let n = acks.alike(other.unwrap_or(front.len()), sender.seq().una(), u64::from(each));
            let Some(&Rec { time: last, .. }) = front[..n].last() else { return false };
            let (plan, mut wire) = self.plan_and_wire(bucket, headers, until);
            plan.sender.take_row(&row, front[..n].iter().map(|rec| rec.time), &mut wire);
            ring.consume(n);
            if let Some(acks) = self.acks.as_deref_mut() {
                acks.forget(n as u32);
            }
            if self.note_end(last) {
                return true;
            }
        }
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
        let left = (pending + n) % each;
        let deadline = match left {
            0 => Time::NEVER,
            _ if left > n => receiver.deadline(),
            _ => recs[(n - left) as usize].time + receiver.timeout(),
        };
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

/// The leading `recs` that arrive before a delayed ACK would leave by its timer. `recs` are in order and reach their
/// sender's side `after` the `receiver`. Empty after a pause that makes the receiver acknowledge quickly.
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

    /// Profile without bursts, with which senders process every ACK by itself.
    const LINUX: &str = "{ profile = \"linux\", burst = \"none\", receive_window = \"none\" }";

    /// TCP settings with pacing.
    const PACED: &str = "{ profile = \"linux\", burst = \"none\", receive_window = \"none\", pacing = \"linux\" }";

    /// Records that flows processed one at a time, per packet delivered: five flows on a link of 100 Mbit/s, 50 ms.
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
    fn most_records_are_taken_in_runs_behind_delayed_acks_too() {
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
            // The rest comes from how recoveries begin and end: 0.02 to 0.08 here with and without delayed ACKs. Where ACKs
            // have records too, all of a recovery counts, up to 0.24. Without fast paths it would be 1, and 1.5 with
            // records for ACKs. After each mark the window of DCTCP falls with each ACK for a round trip.
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
            // The result is what lies before the gap. If only the last of the ten is missing, the nine before it are
            // complete.
            assert_eq!(tags_in_row(&recs(&seqs), expected), (missing - 10) as usize, "{missing}");
        }
        assert_eq!(tags_in_row(&recs(&[]), expected), 0);
        // A packet of another flow, or with other flags, has another tag.
        let mut other = recs(&[10, 11, 12]);
        other[2].tag = tag(5, PacketNumber(12), Flags::CE);
        assert_eq!(tags_in_row(&other, expected), 2);
    }
}
