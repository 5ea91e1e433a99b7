// Both ends of a connection of a stack that has quinn's shape. Compiled for each such stack by itself, which gives
// what differs between them as `shim`.

use super::shim::{self, proto};
use crate::network::{Epoch, Flow, span};
use base::{Span, Time};
use bytes::{Bytes, BytesMut};
use emu::emulator::Direction;
use proto::{Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, StreamEvent, StreamId};
use std::net::SocketAddr;
use std::time::Instant;

#[path = "driven.rs"]
mod driven;
pub use driven::Driven;

/// Data that the application writes at once; one buffer for all.
static CHUNK: [u8; 1 << 16] = [0; 1 << 16];

/// One end.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    /// Responses of the endpoint itself.
    responses: Vec<Vec<u8>>,
}

impl End {
    fn new(endpoint: Endpoint, peer: SocketAddr) -> Self {
        Self { endpoint, connection: None, peer, responses: Vec::new() }
    }

    fn receive(&mut self, now: Instant, ecn: u8, datagram: &[u8]) {
        let ecn = proto::EcnCodepoint::from_bits(ecn);
        let mut answer = Vec::new();
        match shim::handle(&mut self.endpoint, now, self.peer, ecn, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if let Ok(accepted) = self.endpoint.accept(incoming, now, &mut answer, None) {
                    self.connection = Some(accepted);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.responses.push(answer[..transmit.size].to_vec());
            }
            None => {}
        }
    }

    /// Exchanges the events of connection and endpoint.
    fn settle(&mut self) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
    }

    fn next(&mut self) -> Option<Instant> {
        self.connection.as_mut().and_then(|(_, connection)| connection.poll_timeout())
    }

    fn expire(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
        }
    }

    /// Hands over every datagram that may leave; up to `most` are asked for at once, as segmentation offload does.
    fn send(&mut self, now: Instant, most: usize, out: &mut dyn FnMut(u8, &[u8])) {
        for response in self.responses.drain(..) {
            out(0, &response);
        }
        let mut buffer = Vec::new();
        loop {
            self.settle();
            let Some((_, connection)) = &mut self.connection else { return };
            buffer.clear();
            let Some(transmit) = shim::poll_transmit(connection, now, most, &mut buffer) else { break };
            let ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
            let segment = transmit.segment_size.unwrap_or(transmit.size);
            buffer[..transmit.size].chunks(segment).for_each(|datagram| out(ecn, datagram));
        }
        self.settle();
    }
}

/// A client that writes to one stream without end, and a server that reads it.
pub struct Pair {
    epoch: Epoch,
    client: End,
    server: End,
    config: proto::ClientConfig,
    offload: usize,
    stream: Option<StreamId>,
    delivered: u64,
}

impl Pair {
    /// A pair that has done nothing. `offload` datagrams leave at once at most.
    pub fn new(
        epoch: Epoch,
        (client, server): (Endpoint, Endpoint),
        config: proto::ClientConfig,
        offload: usize,
    ) -> Self {
        let address = |last| SocketAddr::from(([10, 0, 0, last], 4433));
        Self {
            epoch,
            client: End::new(client, address(2)),
            server: End::new(server, address(1)),
            config,
            offload,
            stream: None,
            delivered: 0,
        }
    }

    /// Hands over every datagram that either end may send, without data of the application.
    fn exchange(&mut self, now: Time, out: &mut dyn FnMut(Direction, &[u8])) {
        let now = self.epoch.instant(now);
        self.client.send(now, self.offload, &mut |_, datagram| out(Direction::Forward, datagram));
        self.server.send(now, self.offload, &mut |_, datagram| out(Direction::Backward, datagram));
    }

    /// The client writes until the stream takes no more.
    fn write(&mut self) {
        let Some((_, connection)) = &mut self.client.connection else { return };
        let mut may_write = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => {
                    self.stream = connection.streams().open(Dir::Uni);
                    may_write = true;
                }
                Event::Stream(StreamEvent::Available { .. }) if self.stream.is_none() => {
                    self.stream = connection.streams().open(Dir::Uni);
                    may_write = true;
                }
                Event::Stream(StreamEvent::Writable { .. }) => may_write = true,
                _ => {}
            }
        }
        let Some(stream) = self.stream.filter(|_| may_write) else { return };
        let mut sink = connection.send_stream(stream);
        while shim::write(&mut sink, Bytes::from_static(&CHUNK)) {}
    }

    /// The server reads all there is.
    fn read(&mut self) {
        let Some((_, connection)) = &mut self.server.connection else { return };
        while let Some(event) = connection.poll() {
            let readable = match event {
                Event::Stream(StreamEvent::Opened { dir }) => connection.streams().accept(dir),
                Event::Stream(StreamEvent::Readable { id }) => Some(id),
                _ => None,
            };
            let Some(id) = readable else { continue };
            let mut source = connection.recv_stream(id);
            let Ok(mut chunks) = source.read(true) else { continue };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.delivered += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
    }
}

impl Flow for Pair {
    fn next(&mut self) -> Time {
        let next = [self.client.next(), self.server.next()].into_iter().flatten().min();
        next.map_or(Time::NEVER, |at| self.epoch.time(at))
    }

    fn open(&mut self, now: Time) {
        let (now, peer) = (self.epoch.instant(now), self.client.peer);
        let opened = self.client.endpoint.connect(now, self.config.clone(), peer, "server");
        self.client.connection = Some(opened.expect("address and version are right"));
    }

    fn receive(&mut self, now: Time, direction: Direction, ecn: u8, datagram: &[u8]) {
        let end = if direction == Direction::Forward { &mut self.server } else { &mut self.client };
        end.receive(self.epoch.instant(now), ecn, datagram);
        end.settle();
    }

    fn expire(&mut self, now: Time) {
        let now = self.epoch.instant(now);
        self.client.expire(now);
        self.server.expire(now);
    }

    fn send(&mut self, now: Time, out: &mut dyn FnMut(Direction, u8, &[u8])) {
        let now = self.epoch.instant(now);
        self.write();
        self.read();
        self.client.send(now, self.offload, &mut |ecn, datagram| out(Direction::Forward, ecn, datagram));
        self.server.send(now, self.offload, &mut |ecn, datagram| out(Direction::Backward, ecn, datagram));
    }

    fn window(&self) -> Option<u64> {
        self.client.connection.as_ref().map(|(_, connection)| shim::window(connection))
    }

    fn srtt(&self) -> Option<Span> {
        self.client.connection.as_ref().map(|(_, connection)| span(shim::srtt(connection)))
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn sent_and_lost(&mut self) -> (u64, u64) {
        self.client.connection.as_mut().map_or((0, 0), |(_, connection)| shim::sent_and_lost(connection))
    }
}
