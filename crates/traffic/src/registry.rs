//! Common part of the registered kinds of traffic: their construction, and the enums that dispatch to them.

#[allow(clippy::wildcard_imports, clippy::allow_attributes, reason = "the registry's macro names every module")]
use crate::*;
use base::{Bytes, ParamError, Rate, Registered, Span, Stream, Time};

/// A kind of traffic that TCP carries.
pub trait Transfer: Registered {
    /// Number of segments of `mss` bytes to send; `None` for data without end.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn segments(params: &Self::Params, mss: u32) -> Result<Option<u64>, ParamError>;
}

/// A kind of traffic that consists of datagrams.
pub trait Source: ArrivalProcess + Registered {
    /// Creates a source of packets of `packet` bytes on the wire; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, packet: Bytes, chance: Stream) -> Result<Self, ParamError>;

    /// Packet size on the wire if the scenario gives none; `None` for the general default.
    const USUAL_PACKET: Option<Bytes> = None;

    /// Whether each packet returns to its sender.
    const ANSWERED: bool = false;

    /// Mean offered rate, in wire bits per second, with packets of `packet` bytes.
    fn rate(params: &Self::Params, packet: Bytes) -> Rate;

    /// Highest offered rate, in wire bits per second, with packets of `packet` bytes.
    fn peak(params: &Self::Params, packet: Bytes) -> Rate {
        Self::rate(params, packet)
    }

    /// Time between packets, if it is constant.
    fn gap(_params: &Self::Params, _packet: Bytes) -> Option<Span> {
        None
    }

    /// Distribution of its packet sizes.
    fn size(_params: &Self::Params) -> PacketSize {
        PacketSize::Constant
    }
}

/// A kind of traffic that an application writes to one TCP connection.
pub trait Application: ApplicationProcess + Registered {
    /// Creates an application; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Mean number of segments of `mss` bytes that it writes per second, if that does not depend on the network.
    fn segments_per_second(_params: &Self::Params, _mss: u32) -> Option<f64> {
        None
    }
}

/// A kind of traffic that opens TCP transfers repeatedly.
pub trait Session: SessionProcess + Registered {
    /// Creates a session; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Number of transfers that may be open at once, at least 1.
    fn places(params: &Self::Params) -> u32;
}

each_kind! { sources:
    /// Any of the sources of datagrams.
    pub enum AnySource: arrival_process {}
}

each_kind! { applications:
    /// Any of the applications.
    pub enum AnyApplication: application_process {}
}

each_kind! { sessions:
    /// Any of the sessions.
    pub enum AnySession: session_process {}
}

impl TrafficSpec {
    /// Whether it uses TCP; otherwise it consists of unresponsive datagrams.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        self.sort() != Sort::Datagrams
    }

    /// Sort of this kind.
    #[must_use]
    pub fn sort(&self) -> Sort {
        each_kind!(self, |p, Kind|
            transfers: Sort::Transfer, applications: Sort::Application, sessions: Sort::Session, sources: Sort::Datagrams)
    }

    /// Number of connections that one flow may have open at once.
    #[must_use]
    pub fn places(&self) -> u32 {
        each_kind!(self, |p, Kind| transfers: 1, applications: 1, sessions: <Kind as Session>::places(p), sources: 1)
    }

    /// Mean rate, in wire bits per second, that a flow of datagrams of `packet` bytes offers; `None` for traffic over TCP.
    #[must_use]
    pub fn rate(&self, packet: Bytes) -> Option<Rate> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: Some(<Kind as Source>::rate(p, packet)))
    }

    /// Highest rate, in wire bits per second, that a flow of datagrams of `packet` bytes offers; `None` for traffic over TCP.
    #[must_use]
    pub fn peak(&self, packet: Bytes) -> Option<Rate> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: Some(<Kind as Source>::peak(p, packet)))
    }

    /// Time between datagrams of `packet` bytes, if it is constant; the delays of such datagrams are measured.
    #[must_use]
    pub fn gap(&self, packet: Bytes) -> Option<Span> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: <Kind as Source>::gap(p, packet))
    }

    /// Whether each datagram returns to its sender.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        each_kind!(self, |p, Kind| transfers: false, applications: false, sessions: false, sources: <Kind as Source>::ANSWERED)
    }

    /// Packet size on the wire if the scenario gives none; `None` for the general default.
    #[must_use]
    pub fn usual_packet(&self) -> Option<Bytes> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: <Kind as Source>::USUAL_PACKET)
    }

    /// Mean number of segments of `mss` bytes that an application writes per second; `None` for other sorts, and if that
    /// depends on the network.
    #[must_use]
    pub fn written_per_second(&self, mss: u32) -> Option<f64> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: <Kind as Application>::segments_per_second(p, mss),
            sessions: None, sources: None)
    }

    /// Distribution of its packet sizes.
    #[must_use]
    pub fn size(&self) -> PacketSize {
        let constant = PacketSize::Constant;
        each_kind!(self, |p, Kind|
            transfers: constant, applications: constant, sessions: constant, sources: <Kind as Source>::size(p))
    }

    /// The traffic that one flow offers at `site`; `chance` gives sessions and sources their own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn offer(&self, site: &Site, chance: impl FnOnce() -> Stream) -> Result<Offer, ParamError> {
        Ok(each_kind!(self, |p, Kind|
            transfers: Offer::Segments(<Kind as Transfer>::segments(p, site.mss)?),
            applications: Offer::Writes(<Kind as Application>::new(p, site, chance())?.into()),
            sessions: Offer::Session(<Kind as Session>::new(p, site, chance())?.into()),
            sources: Offer::Datagrams(<Kind as Source>::new(p, site.packet, chance())?.into()),
        ))
    }
}
