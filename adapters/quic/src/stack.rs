//! Configuration that every stack gets.
//!
//! Source: none.

use base::Stream;

/// Configuration of one connection.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Bytes of a full datagram, without IP and UDP headers.
    pub datagram: u16,
    /// Datagrams that leave at once at most, as with segmentation offload.
    pub offload: usize,
    /// Packets after which the receiver acknowledges, by the ACK-frequency extension; `None` for what the stack does
    /// by itself.
    pub ack_every: Option<u32>,
    /// Bytes that the client's stack buffers at most.
    pub send_window: u64,
    /// Streams that a script opens, each of which fills a datagram; `None` for one stream without end.
    pub streams: Option<u32>,
    /// Seed, replication and number of the flow: what the stack draws follows from them.
    pub stream: (u64, u32, u64),
}

impl Setup {
    /// The seed of one end's generator.
    #[must_use]
    pub fn seed(&self, end: u64) -> [u8; 32] {
        let (seed, replication, flow) = self.stream;
        let mut stream = Stream::new(seed, replication, ("flow", flow), &format!("quic/{end}"));
        let mut bytes = [0; 32];
        bytes.chunks_mut(8).for_each(|part| part.copy_from_slice(&stream.next_u64().to_be_bytes()));
        bytes
    }

    /// Replacement for cryptography.
    #[must_use]
    pub fn wire(&self) -> OnWire {
        OnWire
    }
}

/// Packets as they are: no encryption, a constant in the place of the tag.
#[derive(Clone, Copy, Debug)]
pub struct OnWire;
