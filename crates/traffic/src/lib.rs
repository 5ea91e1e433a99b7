//! The data that applications offer, and the times at which they offer it. TCP internals are not part of this crate.
//!
//! There are four sorts: one amount of data over TCP, which decides when it is sent ([`Transfer`]); an application that
//! writes to one TCP connection at intervals ([`Application`]); transfers that open repeatedly, each with a TCP
//! connection of its own ([`Session`]); datagrams that are sent at given times without acknowledgements or congestion
//! control ([`Source`]), so they do not respond to the network.

use base::{ParamError, Rate};

#[macro_use]
mod process;
mod flow_list;
mod packet_size;
mod sizes;
mod times;

pub use base::Entry;
pub use flow_list::{FlowList, ListedFlow};
pub use packet_size::{PacketSize, PacketSizes};
pub use process::{ApplicationProcess, ArrivalProcess, SessionProcess, Site, Write};
pub use registry::{AnyApplication, AnySession, AnySource, Application, Session, Source, Transfer};
pub use sizes::{SizeLaw, Sizes};
pub use times::{TimeLaw, Times};

// All kinds, one line each: transfers, applications and sessions, which use TCP, and then sources of datagrams.
base::registry! {
    ($)
    /// A kind of traffic and its parameters, as a scenario file says them.
    pub enum TrafficSpec, TRAFFIC, each_kind;
    transfers {
        Bulk = bulk,
        Finite = finite,
    }
    applications {
        PausingBulk = pausing_bulk,
        Video = video,
        RequestResponse = request_response,
    }
    sessions {
        Engset = engset,
        Elastic = elastic,
        Web = web,
        Page = page,
        Replay = replay,
    }
    sources {
        Poisson = poisson,
        Cbr = cbr,
        Ping = ping,
        OnOff = on_off,
    }
}

// This module must come after the registry, because it uses the macro that the registry defines.
mod registry;

/// The sorts of traffic. Buffers are sized for the sort that comes first in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// One amount of data over TCP.
    Transfer,
    /// An application that writes to one TCP connection at intervals.
    Application,
    /// Transfers that open repeatedly.
    Session,
    /// Datagrams.
    Datagrams,
}

impl Sort {
    /// The sort's name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Transfer => "transfer",
            Self::Application => "application",
            Self::Session => "session",
            Self::Datagrams => "datagrams",
        }
    }
}

/// The traffic that one flow offers.
#[derive(Clone, Debug)]
pub enum Offer {
    /// Number of segments for a TCP sender; `None` for data without end.
    Segments(Option<u64>),
    /// An application that writes to one connection.
    Writes(AnyApplication),
    /// Transfers that open repeatedly, each with a connection of its own.
    Session(AnySession),
    /// Datagrams.
    Datagrams(AnySource),
}

/// Rejects rates for which gaps between packets would not fit the engine's integers.
fn check_rate(rate: Rate) -> Result<(), ParamError> {
    if (1_000..=1_000_000_000_000_000).contains(&rate.0) {
        return Ok(());
    }
    Err(ParamError::new("rate", "must lie between 1 kbit/s and 1000 Tbit/s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Bytes, Span, Stream, Time};

    fn offer(spec: &TrafficSpec, packet: u64) -> Result<Offer, ParamError> {
        let site = Site {
            packet: Bytes(packet),
            mss: packet as u32 - 40,
            capacity: Rate(100_000_000),
            index: 0,
            flows: 1,
            start: Time::ZERO,
        };
        spec.offer(&site, || Stream::new(1, 0, ("test", 0), "traffic"))
    }

    fn datagrams() -> impl Iterator<Item = TrafficSpec> {
        TRAFFIC.iter().filter_map(|entry| TrafficSpec::named(entry.card.name)).filter(|spec| !spec.is_tcp())
    }

    #[test]
    fn every_kind_is_found_by_its_name_and_aliases_and_works_with_its_defaults() {
        for entry in TRAFFIC {
            for name in [entry.card.name].iter().chain(entry.card.aliases) {
                let spec = TrafficSpec::named(name).unwrap();
                assert_eq!(spec.card().name, entry.card.name);
                let datagrams = matches!(offer(&spec, 1000).unwrap(), Offer::Datagrams(_));
                assert_eq!((datagrams, spec.rate(Bytes(1000)).is_some()), (!spec.is_tcp(), !spec.is_tcp()));
            }
        }
        assert!(TrafficSpec::named("telnet").is_none());
    }

    #[test]
    fn sources_send_at_the_rate_that_is_set() {
        for mut spec in datagrams() {
            let Some(set) = spec.set("rate", &base::Value::Text("8 Mbit/s".into())) else { continue };
            set.unwrap();
            let Ok(Offer::Datagrams(mut source)) = offer(&spec, 1000) else { panic!("{}", spec.card().name) };
            let expected = 8000.0 / spec.rate(Bytes(1000)).unwrap().0 as f64;
            // After the first gap, a hundred batches of 10,000 packets. Bursts have about 500 packets, so the batches
            // are nearly independent.
            source.next_gap();
            let batch = |_| (0..10_000).map(|_| source.next_gap().0).sum::<u64>() as f64 / 1e16 / expected;
            let batches: Vec<f64> = (0..100).map(batch).collect();
            let mean = batches.iter().sum::<f64>() / 100.0;
            let error = (batches.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 9900.0).sqrt();
            // Within four standard errors, plus the rounding to picoseconds.
            assert!((mean - 1.0).abs() <= 4.0 * error + 1e-9, "{}: {mean} +- {error}", spec.card().name);
            // A million packets contain about 2000 silences, which take half of the time, so the error is sqrt(2 /
            // 2000) / 2. The factor allows for four times the 7 % uncertainty of an error estimated from a hundred
            // batches.
            assert!(error < 1.28 * 0.0158, "{}: {error}", spec.card().name);
        }
    }

    #[test]
    fn rates_whose_gaps_do_not_fit_the_clock_are_rejected() {
        for mut spec in datagrams() {
            let Some(set) = spec.set("rate", &base::Value::Text("999 bit/s".into())) else { continue };
            set.unwrap();
            let error = offer(&spec, 65_535).unwrap_err();
            assert_eq!(error.to_string(), "rate: must lie between 1 kbit/s and 1000 Tbit/s");
            let _ = spec.set("rate", &base::Value::Text("1 kbit/s".into()));
            let Ok(Offer::Datagrams(mut source)) = offer(&spec, 65_535) else { panic!("{}", spec.card().name) };
            // The mean gap is 524 s. The longest exponential draw is 53 ln 2 times the mean, a fiftieth of the 11 days
            // that the engine allows.
            assert!((0..1000).all(|_| source.next_gap() < Span::secs(20_000)));
        }
    }
}

/// Tests the examples of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
