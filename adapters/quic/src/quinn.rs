//! quinn: its connection in virtual time, with its own controllers or with those that are given.
//!
//! Source: the crate `quinn-proto`, of the version in `Cargo.toml`, by its public API.
//!
//! Differs from the source: the handshake is in the clear ([`crate::handshake`]), identifiers of connections count up,
//! and the size of datagrams is given, not searched for. Flow control never limits.

use crate::handshake::{Handshake, TAG, digest};
use crate::network::{Epoch, Flow};
use crate::script::Scripted;
use crate::stack::{OnWire, Setup};
use bytes::BytesMut;
use proto::congestion::ControllerFactory;
use proto::crypto::{self, CryptoError, HeaderKey, KeyPair, Keys, PacketKey};
use proto::transport_parameters::TransportParameters;
use proto::{ConnectionId, EndpointConfig, Side, TransportConfig, VarInt};
use quinn_proto as proto;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "pair.rs"]
mod pair;

/// Shims for what differs between the two stacks of [`pair`].
mod shim {
    use bytes::{Bytes, BytesMut};
    use proto::{Connection, DatagramEvent, EcnCodepoint, Endpoint, SendStream, Transmit};
    pub use quinn_proto as proto;
    use std::net::SocketAddr;
    use std::time::{Duration, Instant};

    pub fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        ecn: Option<EcnCodepoint>,
        datagram: BytesMut,
        answer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, peer, None, ecn, datagram, answer)
    }

    pub fn poll_transmit(
        connection: &mut Connection,
        now: Instant,
        most: usize,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        connection.poll_transmit(now, most, buffer)
    }

    pub fn write(sink: &mut SendStream<'_>, data: Bytes) -> bool {
        sink.write_chunks(&mut [data]).is_ok()
    }

    pub fn window(connection: &Connection) -> u64 {
        connection.congestion_state().window()
    }

    pub fn ssthresh(connection: &Connection) -> Option<u64> {
        connection.congestion_state().metrics().ssthresh
    }

    pub fn srtt(connection: &Connection) -> Duration {
        connection.rtt()
    }

    pub fn sent_and_lost(connection: &mut Connection) -> (u64, u64) {
        let path = connection.stats().path;
        (path.sent_packets, path.lost_packets)
    }
}

/// The controller of that name with its defaults; `None` if there is none.
#[must_use]
pub fn controller(law: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
    use proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
    match law {
        "cubic" => Some(Arc::new(CubicConfig::default())),
        "reno" => Some(Arc::new(NewRenoConfig::default())),
        "bbr" => Some(Arc::new(BbrConfig::default())),
        _ => None,
    }
}

/// A flow of this stack.
#[must_use]
pub fn flow(setup: &Setup, epoch: Epoch, factory: Arc<dyn ControllerFactory + Send + Sync>) -> Box<dyn Flow> {
    Box::new(pair(setup, epoch, factory))
}

/// A connection of this stack that a script drives.
#[must_use]
pub fn scripted(setup: &Setup, epoch: Epoch, factory: Arc<dyn ControllerFactory + Send + Sync>) -> Box<dyn Scripted> {
    Box::new(pair::Driven::new(pair(setup, epoch, factory)))
}

fn pair(setup: &Setup, epoch: Epoch, factory: Arc<dyn ControllerFactory + Send + Sync>) -> pair::Pair {
    let wire = Arc::new(setup.wire());
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(factory)
        .initial_mtu(setup.datagram)
        .min_mtu(setup.datagram)
        .mtu_discovery_config(None)
        .send_window(setup.send_window)
        .receive_window(VarInt::MAX)
        .stream_receive_window(VarInt::MAX)
        .max_idle_timeout(None);
    if let Some(every) = setup.ack_every {
        let mut frequency = proto::AckFrequencyConfig::default();
        frequency.ack_eliciting_threshold(VarInt::from_u32(every - 1));
        transport.ack_frequency_config(Some(frequency));
    }
    if let Some(streams) = setup.streams {
        transport.max_concurrent_uni_streams(VarInt::from_u32(streams)).pad_to_mtu(true);
    }
    let transport = Arc::new(transport);
    let endpoint = |end: u64| {
        let counter = Arc::new(AtomicU64::new(end << 32));
        let mut config = EndpointConfig::new(Arc::clone(&wire) as Arc<dyn crypto::HmacKey>);
        config
            .rng_seed(Some(setup.seed(end)))
            .grease_quic_bit(false)
            .cid_generator(move || Box::new(Counting(Arc::clone(&counter))));
        config.max_udp_payload_size(setup.datagram).expect("at least 1200 bytes");
        Arc::new(config)
    };
    let mut server = proto::ServerConfig::new(Arc::clone(&wire) as _, Arc::clone(&wire) as _);
    server.transport_config(Arc::clone(&transport));
    let mut client = proto::ClientConfig::new(Arc::clone(&wire) as _);
    client.transport_config(transport).token_store(Arc::new(proto::NoneTokenStore));
    client.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(b"elephan0")));
    let ends = (
        proto::Endpoint::new(endpoint(1), None, false, None),
        proto::Endpoint::new(endpoint(2), Some(Arc::new(server)), false, None),
    );
    pair::Pair::new(epoch, ends, client, setup.offload)
}

/// Identifiers of connections: eight bytes that count up.
struct Counting(Arc<AtomicU64>);

impl proto::ConnectionIdGenerator for Counting {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes())
    }
    fn cid_len(&self) -> usize {
        8
    }
    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

fn keys() -> Keys {
    let header = || -> Box<dyn HeaderKey> { Box::new(OnWire) };
    let packet = || -> Box<dyn PacketKey> { Box::new(OnWire) };
    Keys {
        header: KeyPair { local: header(), remote: header() },
        packet: KeyPair { local: packet(), remote: packet() },
    }
}

impl PacketKey for OnWire {
    fn encrypt(&self, _packet: u64, buffer: &mut [u8], _header: usize) {
        let body = buffer.len() - TAG.len();
        buffer[body..].copy_from_slice(&TAG);
    }
    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let body = payload.len().checked_sub(TAG.len()).filter(|body| payload[*body..] == TAG).ok_or(CryptoError)?;
        payload.truncate(body);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG.len()
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for OnWire {
    fn decrypt(&self, _offset: usize, _packet: &mut [u8]) {}
    fn encrypt(&self, _offset: usize, _packet: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG.len()
    }
}

impl crypto::HmacKey for OnWire {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        digest(data, signature);
    }
    fn signature_len(&self) -> usize {
        32
    }
    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut own = [0; 32];
        digest(data, &mut own);
        if own == *signature { Ok(()) } else { Err(CryptoError) }
    }
}

impl crypto::HandshakeTokenKey for OnWire {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn crypto::AeadKey> {
        Box::new(Self)
    }
}

impl crypto::AeadKey for OnWire {
    fn seal(&self, data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        data.extend_from_slice(&TAG);
        Ok(())
    }
    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let body = data.len().checked_sub(TAG.len()).ok_or(CryptoError)?;
        Ok(&mut data[..body])
    }
}

impl crypto::ClientConfig for OnWire {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, proto::ConnectError> {
        Ok(Box::new(Session { handshake: Handshake::client(written(parameters)), side: Side::Client }))
    }
}

impl crypto::ServerConfig for OnWire {
    fn initial_keys(&self, _version: u32, _id: &ConnectionId) -> Result<Keys, crypto::UnsupportedVersion> {
        Ok(keys())
    }
    fn retry_tag(&self, _version: u32, _id: &ConnectionId, _packet: &[u8]) -> [u8; 16] {
        TAG
    }
    fn start_session(self: Arc<Self>, _version: u32, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
        Box::new(Session { handshake: Handshake::server(written(parameters)), side: Side::Server })
    }
}

fn written(parameters: &TransportParameters) -> Vec<u8> {
    let mut bytes = Vec::new();
    parameters.write(&mut bytes);
    bytes
}

/// One side's handshake as the stack asks for it.
struct Session {
    handshake: Handshake,
    side: Side,
}

impl crypto::Session for Session {
    fn initial_keys(&self, _id: &ConnectionId, _side: Side) -> Keys {
        keys()
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        None
    }
    fn is_handshaking(&self) -> bool {
        self.handshake.is_going_on()
    }
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, proto::TransportError> {
        if self.handshake.read(bytes) {
            return Ok(false);
        }
        Err(proto::TransportErrorCode::PROTOCOL_VIOLATION.into())
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, proto::TransportError> {
        let Some(mut bytes) = self.handshake.peer() else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side, &mut bytes)?))
    }
    fn write_handshake(&mut self, buffer: &mut Vec<u8>) -> Option<Keys> {
        self.handshake.write(buffer).then(keys)
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(KeyPair { local: Box::new(OnWire), remote: Box::new(OnWire) })
    }
    fn is_valid_retry(&self, _id: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        false
    }
    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), crypto::ExportKeyingMaterialError> {
        digest(&[label, context].concat(), output);
        Ok(())
    }
}
