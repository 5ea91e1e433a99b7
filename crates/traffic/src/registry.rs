//! Common part of the registered kinds of traffic: their construction, and the enums that dispatch to them.

#[allow(clippy::wildcard_imports, clippy::allow_attributes, reason = "the registry's macro names every module")]
use crate::*;
use base::{Bytes, ParamError, Rate, Registered, Span, Stream, Time};

/// A kind of traffic that TCP carries.
pub trait Transfer: Registered {
    /// Segments of `mss` bytes that there are to send; `None` for no end.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn segments(params: &Self::Params, mss: u32) -> Result<Option<u64>, ParamError>;
}

/// A kind of traffic that is datagrams.
pub trait Source: ArrivalProcess + Registered {
    /// A source of packets of `packet` bytes on the wire; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, packet: Bytes, chance: Stream) -> Result<Self, ParamError>;

    /// Size of a packet on the wire where the scenario says none, if not that of every flow.
    const USUAL_PACKET: Option<Bytes> = None;

    /// Whether each packet comes back to its sender.
    const ANSWERED: bool = false;

    /// Wire bits per second that it offers in the mean, in packets of `packet` bytes.
    fn rate(params: &Self::Params, packet: Bytes) -> Rate;

    /// The same while it offers most.
    fn peak(params: &Self::Params, packet: Bytes) -> Rate {
        Self::rate(params, packet)
    }

    /// Time from one packet to the next, if that is always the same.
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
    /// An application; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Segments of `mss` bytes that it writes in a second in the mean, if that does not depend on the network.
    fn segments_per_second(_params: &Self::Params, _mss: u32) -> Option<f64> {
        None
    }
}

/// A kind of traffic that opens transfers over TCP again and again.
pub trait Session: SessionProcess + Registered {
    /// A session; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, site: &Site, chance: Stream) -> Result<Self, ParamError>;

    /// Transfers that may be open at a time, at least 1.
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
    /// Whether TCP carries it; otherwise it is datagrams that nothing holds back.
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

    /// Connections that one flow of it may have open at a time.
    #[must_use]
    pub fn places(&self) -> u32 {
        each_kind!(self, |p, Kind| transfers: 1, applications: 1, sessions: <Kind as Session>::places(p), sources: 1)
    }

    /// Wire bits per second that a flow of datagrams of `packet` bytes offers in the mean; `None` for what TCP carries.
    #[must_use]
    pub fn rate(&self, packet: Bytes) -> Option<Rate> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: Some(<Kind as Source>::rate(p, packet)))
    }

    /// The same while it offers most.
    #[must_use]
    pub fn peak(&self, packet: Bytes) -> Option<Rate> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: Some(<Kind as Source>::peak(p, packet)))
    }

    /// Time from one datagram of `packet` bytes to the next, if that is always the same: their delays are measured.
    #[must_use]
    pub fn gap(&self, packet: Bytes) -> Option<Span> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: <Kind as Source>::gap(p, packet))
    }

    /// Whether each datagram comes back to its sender.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        each_kind!(self, |p, Kind| transfers: false, applications: false, sessions: false, sources: <Kind as Source>::ANSWERED)
    }

    /// Size of a packet on the wire where the scenario says none, if not that of every flow.
    #[must_use]
    pub fn usual_packet(&self) -> Option<Bytes> {
        each_kind!(self, |p, Kind|
            transfers: None, applications: None, sessions: None, sources: <Kind as Source>::USUAL_PACKET)
    }

    /// Segments of `mss` bytes that an application writes in a second in the mean; `None` for other sorts, and where that
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

    /// Traffic that one flow offers at `site`; `chance` gives sessions and sources their own random stream.
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
