//! Destinations of TCP's segments in one window: the path of a flow, and its trace if the flow is recorded.

use super::super::access_path::AccessPath;
use super::super::bucket::Bucket;
use super::super::headers::Headers;
use crate::Trace;
use crate::observer::Observer;
use base::{Flags, Header, PacketNumber, Time};
use transport::{EventLog, Wire};

/// Destination of TCP's segments in one window that ends at `until` at the first link.
pub struct WindowWire<'a, O> {
    pub access: &'a mut AccessPath,
    pub bucket: &'a mut Bucket,
    pub headers: &'a mut Headers,
    pub until: Time,
    pub observer: &'a mut O,
}

impl<O: Observer> Wire for WindowWire<'_, O> {
    const OBSERVES: bool = O::ACTIVE;

    #[inline]
    fn on_window(&mut self, now: Time, cwnd: f64, una: u64, nxt: u64, in_flight: u32) {
        self.observer.on_window(now, cwnd, una, nxt, in_flight);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "for every packet of TCP")]
    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        self.access.send(now, PacketNumber::of(seq), flags, self.bucket, self.until);
    }

    #[inline]
    fn send_row(
        &mut self,
        times: impl ExactSizeIterator<Item = Time> + DoubleEndedIterator + Clone,
        each: u32,
        first: u64,
        flags: Flags,
    ) {
        self.access.send_row(times, each, PacketNumber::of(first), flags, self.bucket, self.until);
    }

    fn send_with(&mut self, now: Time, seq: u64, flags: Flags, header: Header) {
        if self.access.send(now, PacketNumber::of(seq), flags, self.bucket, self.until) {
            self.access.put_header(header, self.headers);
        }
    }
}

/// [`WindowWire`] of a flow that is recorded; such a flow processes no ACKs in rows.
pub struct TracedWire<'a, O> {
    pub wire: WindowWire<'a, O>,
    pub trace: &'a mut Trace,
}

impl<O: Observer> Wire for TracedWire<'_, O> {
    const OBSERVES: bool = false;

    fn send(&mut self, now: Time, seq: u64, flags: Flags) {
        self.wire.send(now, seq, flags);
    }

    fn send_with(&mut self, now: Time, seq: u64, flags: Flags, header: Header) {
        self.wire.send_with(now, seq, flags, header);
    }

    fn on_retransmission(&mut self, now: Time, seq: u64) {
        self.trace.retransmit(now, seq);
    }

    fn log(&mut self) -> Option<&mut EventLog> {
        Some(&mut self.trace.log)
    }
}
