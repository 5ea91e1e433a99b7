//! A handshake in the clear, of one round trip as TLS 1.3's: what the stacks' traits for cryptography are implemented
//! with. Sixteen bytes stand where an AEAD puts its tag, so that packets have the size of real ones; nothing is drawn,
//! so that two runs send the same bytes.
//!
//! Source: RFC 9001, Section 4 (which flight carries what, in which packets).

/// Bytes that an AEAD adds to each packet.
pub const TAG: [u8; 16] = *b"elephan-no-aead.";

/// A flight: one byte of kind, two of length, the peer's transport parameters or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flight {
    ClientHello = 1,
    ServerHello = 2,
    Extensions = 8,
    Finished = 20,
}

/// Next step of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Send this flight; the second value says whether keys of the next packets come with it.
    Send(Option<Flight>, bool),
    /// Wait for this flight.
    Wait(Flight),
    Done,
}

/// One side of a handshake.
#[derive(Debug)]
pub struct Handshake {
    script: std::vec::IntoIter<Stage>,
    stage: Stage,
    inbox: Vec<u8>,
    own: Vec<u8>,
    peer: Option<Vec<u8>>,
}

impl Handshake {
    /// A client's, which has these transport parameters.
    #[must_use]
    pub fn client(own: Vec<u8>) -> Self {
        Self::new(
            own,
            vec![
                Stage::Send(Some(Flight::ClientHello), false),
                Stage::Wait(Flight::ServerHello),
                Stage::Send(None, true),
                Stage::Wait(Flight::Extensions),
                Stage::Send(Some(Flight::Finished), true),
                Stage::Done,
            ],
        )
    }

    /// A server's.
    #[must_use]
    pub fn server(own: Vec<u8>) -> Self {
        Self::new(
            own,
            vec![
                Stage::Wait(Flight::ClientHello),
                Stage::Send(Some(Flight::ServerHello), true),
                Stage::Send(Some(Flight::Extensions), true),
                Stage::Wait(Flight::Finished),
                Stage::Done,
            ],
        )
    }

    fn new(own: Vec<u8>, script: Vec<Stage>) -> Self {
        let mut script = script.into_iter();
        let stage = script.next().expect("a script has stages");
        Self { script, stage, inbox: Vec::new(), own, peer: None }
    }

    /// Reads bytes of the peer's flights; `false` if they are not flights that may come now.
    pub fn read(&mut self, bytes: &[u8]) -> bool {
        self.inbox.extend_from_slice(bytes);
        while let Some(length) = self.inbox.get(1..3).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])))
            && self.inbox.len() >= 3 + length
        {
            let flight: Vec<u8> = self.inbox.drain(..3 + length).collect();
            let Stage::Wait(expected) = self.stage else { return false };
            if flight[0] != expected as u8 {
                return false;
            }
            if matches!(expected, Flight::ClientHello | Flight::Extensions) {
                self.peer = Some(flight[3..].to_vec());
            }
            self.stage = self.script.next().unwrap_or(Stage::Done);
        }
        true
    }

    /// Appends the flight that is due, if one is; whether keys of the next packets are there.
    pub fn write(&mut self, buffer: &mut Vec<u8>) -> bool {
        let Stage::Send(flight, keys) = self.stage else { return false };
        if let Some(flight) = flight {
            let with = matches!(flight, Flight::ClientHello | Flight::Extensions);
            let body = if with { self.own.as_slice() } else { &[] };
            buffer.push(flight as u8);
            buffer.extend_from_slice(&(body.len() as u16).to_be_bytes());
            buffer.extend_from_slice(body);
        }
        self.stage = self.script.next().unwrap_or(Stage::Done);
        keys
    }

    /// Whether it is not over.
    #[must_use]
    pub fn is_going_on(&self) -> bool {
        self.stage != Stage::Done
    }

    /// The peer's transport parameters, once they came.
    #[must_use]
    pub fn peer(&self) -> Option<&[u8]> {
        self.peer.as_deref()
    }
}

/// Computes a digest (FNV-1a, byte by byte into `out`) for tokens, which need no protection against attacks here.
pub fn digest(data: &[u8], out: &mut [u8]) {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in data {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    for (i, place) in out.iter_mut().enumerate() {
        state = (state ^ i as u64).wrapping_mul(0x0100_0000_01b3);
        *place = (state >> 32) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_have_the_others_parameters_after_one_round_trip() {
        let (mut client, mut server) = (Handshake::client(vec![1; 9]), Handshake::server(vec![2; 7]));
        let mut flights = Vec::new();
        assert!(!client.write(&mut flights));
        assert!(server.read(&flights));
        assert_eq!(server.peer(), Some(&[1; 9][..]));
        let (mut initial, mut handshake) = (Vec::new(), Vec::new());
        assert!(server.write(&mut initial) && server.write(&mut handshake));
        // Flights may come in pieces.
        assert!(client.read(&initial[..2]) && client.read(&initial[2..]));
        let mut none = Vec::new();
        assert!(client.write(&mut none) && none.is_empty());
        assert!(client.read(&handshake));
        assert_eq!(client.peer(), Some(&[2; 7][..]));
        let mut finished = Vec::new();
        assert!(client.write(&mut finished) && !client.is_going_on() && server.is_going_on());
        assert!(server.read(&finished) && !server.is_going_on());
    }

    #[test]
    fn a_flight_out_of_turn_is_refused() {
        let mut server = Handshake::server(Vec::new());
        assert!(!server.read(&[Flight::Finished as u8, 0, 0]));
    }
}
