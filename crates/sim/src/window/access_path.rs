//! Path from a sender to its first link: the sender's own link, and the packets that arrive after the current window.

use super::access_link::{AccessDrops, AccessLink, HeaderPath};
use super::bucket::Bucket;
use super::headers::{HeaderLanes, Headers};
use super::ring::{Rec, Ring, tag, until_wrap};
use crate::marks::Marks;
use crate::plan::Party;
use base::{Flags, Header, PacketNumber, Time};

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct AccessPath {
    /// Number of the sender.
    pub id: u32,
    pub link: AccessLink,
    /// Packets that were sent but arrive at or after the end of the window. Allocated only while there are such
    /// packets, because few flows have any at the same time.
    spill: Option<Box<Ring>>,
}

impl AccessPath {
    pub fn new(party: &mut Party, id: u32, lanes: Option<HeaderLanes>, marks: &Marks) -> Self {
        let packet = party.packet as f32;
        Self {
            id,
            link: AccessLink::new(
                party.access,
                party.access_buffer,
                party.first_link_delay,
                party.jitter.take(),
                lanes.map(|lanes| HeaderPath { lanes, packet }),
                marks,
            ),
            spill: None,
        }
    }

    /// Sends packet `number`, handed over at `now`, in the window that ends at `until`. Returns whether it entered the
    /// network.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every packet of TCP, where most own links drop and delay none")]
    pub fn send(&mut self, now: Time, number: PacketNumber, flags: Flags, bucket: &mut Bucket, until: Time) -> bool {
        if let Some(time) = self.link.pass_plainly(now) {
            self.emit(Rec { time, tag: tag(self.id, number, flags) }, bucket, until);
            return true;
        }
        self.admit(now, number, flags, bucket, until)
    }

    /// [`Self::send`] for links where packets may be late or dropped.
    #[inline(never)]
    fn admit(&mut self, now: Time, number: PacketNumber, flags: Flags, bucket: &mut Bucket, until: Time) -> bool {
        let arrives = self.link.admit(now);
        if let Some(time) = arrives {
            self.emit(Rec { time, tag: tag(self.id, number, flags) }, bucket, until);
        }
        arrives.is_some()
    }

    /// [`Self::send`] for packets numbered from `number` on, `each` of them at each of `times`, without headers.
    pub fn send_row(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        each: u32,
        number: PacketNumber,
        flags: Flags,
        bucket: &mut Bucket,
        until: Time,
    ) {
        let (Some(first), Some(last)) = (times.clone().next(), times.clone().next_back()) else { return };
        let n = times.len() * each as usize;
        let arrives =
            self.link.room(first, n) == n && self.all_arrive(last, n as u32, until) && until_wrap(number) >= n as u64;
        if arrives && each == 1 {
            self.link.pass_all(times, tag(self.id, number, flags), bucket);
            return;
        }
        let times = times.flat_map(|time| std::iter::repeat_n(time, each as usize));
        if arrives {
            for (time, tag) in times.zip(tag(self.id, number, flags)..) {
                bucket.push(Rec { time: self.link.pass(time), tag });
            }
            return;
        }
        for (now, k) in times.zip(0..) {
            self.send(now, number.plus(k), flags, bucket, until);
        }
    }

    /// Whether `n` packets sent until `last` all arrive in the window that ends at `until`, and none sent earlier is still
    /// held.
    #[inline]
    fn all_arrive(&self, last: Time, n: u32, until: Time) -> bool {
        self.spill.is_none() && self.link.latest(last, n) < until
    }

    /// Stores the header of the packet just sent.
    pub fn put_header(&self, header: Header, headers: &mut Headers) {
        if let Some(path) = self.link.headers() {
            headers.put(path.lanes.first, header.times(path.packet));
        }
    }

    /// Whether the flow's packets carry headers.
    #[inline]
    pub fn carries_headers(&self) -> bool {
        self.link.headers().is_some()
    }

    /// Takes the header of the packet that reaches the receiver, if the flow's packets carry headers.
    #[inline]
    pub fn take_header(&self, headers: &mut Headers) -> Option<Header> {
        let path = self.link.headers()?;
        Some(headers.take(path.lanes.last).times(1.0 / path.packet))
    }

    /// Adds an arrival at the first link, in the window that ends at `until` or later.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every packet of TCP")]
    fn emit(&mut self, rec: Rec, bucket: &mut Bucket, until: Time) {
        if rec.time < until {
            bucket.push(rec);
        } else if let Some(spill) = &mut self.spill {
            spill.push(rec);
        } else {
            self.begin_spill(rec);
        }
    }

    #[cold]
    fn begin_spill(&mut self, rec: Rec) {
        self.spill.get_or_insert_default().push(rec);
    }

    /// Releases packets sent earlier whose arrival is before `until`.
    #[inline]
    pub fn release(&mut self, bucket: &mut Bucket, until: Time) {
        if self.spill.is_some() {
            self.release_spill(bucket, until);
        }
    }

    #[inline(never)]
    fn release_spill(&mut self, bucket: &mut Bucket, until: Time) {
        let Some(spill) = self.spill.as_deref_mut() else { return };
        let n = spill.all().partition_point(|rec| rec.time < until);
        bucket.extend(spill.all()[..n].iter().copied());
        spill.consume(n);
        spill.tidy();
        if spill.is_empty() {
            self.spill = None;
        }
    }

    /// Arrival time of the first packet that is still held here.
    #[inline]
    pub fn due(&self) -> Time {
        self.spill.as_deref().and_then(Ring::peek).map_or(Time::NEVER, |rec| rec.time)
    }

    /// Number of drops at the sender's own full queue.
    pub fn drops(&self) -> AccessDrops {
        self.link.drops()
    }

    /// Packets that are still held here at the end, or that would enter the sender's own link only after it.
    pub fn in_flight(&self) -> u64 {
        self.spill.as_deref().map_or(0, Ring::len) as u64 + self.link.late()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Span;

    /// Sender 3 behind a link on which a packet takes 10 ps and one packet may wait; 5 ps to the first link. Measured from
    /// 20 to 100 ps.
    fn path() -> AccessPath {
        let mut party = Party {
            flow: 0,
            start: Time::ZERO,
            stop: Time::NEVER,
            path: vec![0],
            return_path: Vec::new(),
            first_link_delay: Span(5),
            return_delay: Span::ZERO,
            access: Span(10),
            access_buffer: Some(1),
            jitter: None,
            packet: 1000,
            ack: 40,
            reorders: false,
            traced: false,
        };
        let marks = Marks { warmup: Time(20), end: Time(100), every: None };
        AccessPath::new(&mut party, 3, Some(HeaderLanes { first: 0, last: 1 }), &marks)
    }

    #[test]
    fn arrivals_after_the_window_are_released_in_the_window_of_their_arrival() {
        let (mut path, mut bucket) = (path(), Bucket::default());
        bucket.begin(Time(0), Time(20));
        assert!(path.send(Time(0), PacketNumber(7), Flags::NONE, &mut bucket, Time(20)));
        assert!(path.send(Time(0), PacketNumber(8), Flags::NONE, &mut bucket, Time(20)));
        assert_eq!((path.due(), path.in_flight()), (Time(25), 1));
        assert_eq!(bucket.sort(true), [Rec { time: Time(15), tag: tag(3, PacketNumber(7), Flags::NONE) }]);
        bucket.begin(Time(20), Time(40));
        path.release(&mut bucket, Time(25));
        assert!(bucket.is_empty());
        path.release(&mut bucket, Time(26));
        assert_eq!(bucket.sort(true), [Rec { time: Time(25), tag: tag(3, PacketNumber(8), Flags::NONE) }]);
        assert_eq!((path.due(), path.in_flight()), (Time::NEVER, 0));
    }

    #[test]
    fn packets_sent_as_a_row_arrive_like_packets_sent_one_by_one() {
        // The cases: no obstacle; the end of the window in between; a full queue; packet numbers that wrap.
        for (until, apart, first) in [(1000, 12, 7), (60, 12, 7), (1000, 3, 7), (1000, 12, u32::MAX - 1)] {
            let times: Vec<Time> = (0..6).map(|k| Time(apart * k)).collect();
            let sent = |in_a_row: bool| {
                let (mut path, mut bucket) = (path(), Bucket::default());
                bucket.begin(Time(0), Time(until));
                if in_a_row {
                    path.send_row(times.iter().copied(), 1, PacketNumber(first), Flags::ECT, &mut bucket, Time(until));
                } else {
                    for (&now, k) in times.iter().zip(0..) {
                        path.send(now, PacketNumber(first).plus(k), Flags::ECT, &mut bucket, Time(until));
                    }
                }
                (
                    bucket.sort(true).to_vec(),
                    path.spill.as_deref().map(|spill| spill.all().to_vec()),
                    path.drops(),
                    path.due(),
                )
            };
            assert_eq!(sent(true), sent(false), "{until} {apart} {first}");
        }
    }

    #[test]
    fn drops_after_the_end_of_the_run_count_as_in_flight() {
        let (mut path, mut bucket) = (path(), Bucket::default());
        bucket.begin(Time(0), Time(1000));
        let mut sent = |at: u64| {
            (0..3).filter(|&i| path.send(Time(at), PacketNumber(i), Flags::NONE, &mut bucket, Time(1000))).count()
        };
        // Of three simultaneous packets one is served, one waits and one finds no room.
        assert_eq!([0, 50, 100].map(&mut sent), [2, 2, 2]);
        assert_eq!(path.drops(), AccessDrops { since_start: 2, since_warmup: 1 });
        assert_eq!(path.in_flight(), 1);
    }

    #[test]
    fn headers_are_in_bytes_in_the_network_and_in_segments_at_its_ends() {
        let (path, mut headers) = (path(), Headers::new(2));
        let header = Header { feedback: 2.0, ..Header::NONE };
        path.put_header(header, &mut headers);
        let inside = headers.take(0);
        assert_eq!(inside, header.times(1000.0));
        headers.put(1, inside);
        assert_eq!(path.take_header(&mut headers).map(|header| header.feedback), Some(2.0));
    }
}
