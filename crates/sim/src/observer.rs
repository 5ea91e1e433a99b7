//! Observers of single packets and ACKs in the window engine. The engine is compiled separately for each kind of
//! observer, so that a run without an observer has no extra cost.

use crate::hash::{PacketFate, Rolling};
use crate::ledger::Ledger;
use crate::probe::{LinkWatch, PacketTracer};
use base::{PacketNumber, Time};
use law::CongestionControl;
use queue::Packet;
use transport::Sender;

/// Observes one link, or one sender and its receiver.
pub trait Observer: std::fmt::Debug + Sized + Send {
    /// Whether the observer looks at single packets and ACKs. If not, the engine does not compute what it would show.
    const ACTIVE: bool;

    /// The observer of a link, or of a sender and its receiver. The first segment of each flow has the number `first`;
    /// `tracer`, if given, records packets.
    fn new(first: u64, tracer: Option<Box<PacketTracer>>) -> Self;

    /// `packet` arrives at the link and finds `backlog` packets waiting.
    #[inline]
    fn on_arrival(&mut self, _packet: &Packet, _backlog: u32) {}

    /// Service of `packet` begins at `now` and ends at `end`.
    #[inline]
    fn on_service(&mut self, _packet: &Packet, _now: Time, _end: Time) {}

    /// `packet` is dropped at `now`.
    #[inline]
    fn on_drop(&mut self, _packet: &Packet, _now: Time) {}

    /// Called when the link has handled an arriving `packet` and changed no other packet.
    #[inline]
    fn on_fate(&mut self, _packet: &Packet, _fate: PacketFate) {}

    /// Called after the link acted at `now`, either on the arrival of a packet or on its own.
    #[inline]
    fn on_fates(&mut self, _ledger: &Ledger, _now: Time, _arrival: Option<&Packet>) {}

    /// The state of a sender after one of several ACKs that are processed together.
    #[inline]
    fn on_window(&mut self, _now: Time, _cwnd: f64, _una: u64, _nxt: u64, _in_flight: u32) {}

    /// The state of a sender after an ACK at `now`.
    #[inline]
    fn on_ack<C: CongestionControl>(&mut self, _now: Time, _sender: &Sender<C>) {}

    /// A datagram reaches its receiver.
    #[inline]
    fn on_delivery(&mut self, _now: Time, _number: PacketNumber) {}

    /// Whether the link must drop and mark nothing, whatever its rule decides.
    #[inline]
    fn spares(&self) -> bool {
        false
    }

    /// Attaches a watch to the link; only observers of single packets can have one.
    fn set_watch(&mut self, _watch: LinkWatch) {}

    /// The watch of the link, if there is one.
    fn watch(&mut self) -> Option<&mut LinkWatch> {
        None
    }

    /// The hash of everything observed, and the tracer.
    fn finish(self) -> (Rolling, Option<Box<PacketTracer>>);
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    const ACTIVE: bool = false;

    fn new(_first: u64, _tracer: Option<Box<PacketTracer>>) -> Self {
        Self
    }

    fn finish(self) -> (Rolling, Option<Box<PacketTracer>>) {
        (Rolling::default(), None)
    }
}

/// Hashes every event, and records packets if the scenario asks for it.
#[derive(Clone, Debug)]
pub struct PacketObserver {
    hash: Rolling,
    tracer: Option<Box<PacketTracer>>,
    /// For the study of a link's idle time.
    watch: Option<Box<LinkWatch>>,
}

impl Observer for PacketObserver {
    const ACTIVE: bool = true;

    fn new(first: u64, tracer: Option<Box<PacketTracer>>) -> Self {
        Self { hash: Rolling::new(first), tracer, watch: None }
    }

    fn on_arrival(&mut self, packet: &Packet, backlog: u32) {
        if let Some(tracer) = &mut self.tracer {
            tracer.on_arrival(packet, backlog);
        }
    }

    fn on_service(&mut self, packet: &Packet, now: Time, end: Time) {
        if let Some(tracer) = &mut self.tracer {
            tracer.on_service(packet, now);
        }
        if let Some(watch) = &mut self.watch {
            watch.on_service(packet, now, end);
        }
    }

    fn on_drop(&mut self, packet: &Packet, now: Time) {
        if let Some(tracer) = &mut self.tracer {
            tracer.on_drop(packet, now);
        }
        if let Some(watch) = &mut self.watch {
            watch.on_signal(packet, now, false);
        }
    }

    fn on_fate(&mut self, packet: &Packet, fate: PacketFate) {
        if let Some(watch) = &mut self.watch {
            match fate {
                PacketFate::Accepted => watch.on_accept(packet),
                PacketFate::Marked => watch.on_signal(packet, packet.arrived, true),
                _ => {}
            }
            // A fork whose link drops and marks nothing has no hash.
            if watch.spares {
                return;
            }
        }
        self.hash.packet(packet.arrived, packet.flow, PacketNumber(packet.token), fate);
    }

    fn on_fates(&mut self, ledger: &Ledger, now: Time, arrival: Option<&Packet>) {
        ledger.hash(&mut self.hash, now, arrival);
        if let Some(watch) = &mut self.watch {
            for (packet, _) in &ledger.marked {
                watch.on_signal(packet, now, true);
            }
        }
    }

    fn on_window(&mut self, now: Time, cwnd: f64, una: u64, nxt: u64, in_flight: u32) {
        self.hash.ack(now, cwnd, una, nxt, in_flight);
    }

    fn on_ack<C: CongestionControl>(&mut self, now: Time, sender: &Sender<C>) {
        self.hash.sender(now, sender);
    }

    fn on_delivery(&mut self, now: Time, number: PacketNumber) {
        self.hash.delivery(now, number);
    }

    fn spares(&self) -> bool {
        self.watch.as_deref().is_some_and(|watch| watch.spares)
    }

    fn set_watch(&mut self, watch: LinkWatch) {
        self.watch = Some(Box::new(watch));
    }

    fn watch(&mut self) -> Option<&mut LinkWatch> {
        self.watch.as_deref_mut()
    }

    fn finish(self) -> (Rolling, Option<Box<PacketTracer>>) {
        (self.hash, self.tracer)
    }
}
