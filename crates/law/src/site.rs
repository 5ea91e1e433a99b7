//! The flow for which a law is created.

use crate::{AnyStart, StartSpec, WindowLaw, Windowed};
use base::{Bytes, Span, Stream, Time};

/// The data of a TCP flow for a law that is created without the scenario, such as one in a library.
#[derive(Clone, Copy, Debug)]
pub struct LawSite<'a> {
    /// The name of its group.
    pub group: &'a str,
    /// Its index in its group.
    pub index: u32,
    /// The replication, from 0.
    pub replication: u32,
    /// Its round-trip time without queues, as drawn.
    pub base_rtt: Span,
    /// Start time, as drawn.
    pub start: Time,
    /// Size of a full data packet on the wire.
    pub packet: Bytes,
    /// Payload of a full segment.
    pub mss: Bytes,
    /// Initial congestion window, in segments.
    pub initial_window: f64,
    /// Initial slow-start threshold, in segments; infinite for none.
    pub ssthresh: f64,
    /// The seed of the scenario, from which [`Self::stream`] derives streams.
    pub seed: u64,
}

impl LawSite<'_> {
    /// `law` with the slow start, floors and timeouts of RFC 5681, and with the scenario's initial window and threshold.
    #[must_use]
    pub fn windowed<L: WindowLaw>(&self, law: L) -> Windowed<L, AnyStart> {
        let start = StartSpec::Classic(crate::start::classic::Params::default()).build().expect("its own defaults");
        Windowed::new(law, start, self.initial_window, self.ssthresh)
    }

    /// A random stream of this flow for `purpose`: the same in every run of this replication, and independent of other
    /// flows' streams.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        let name = format!("own/flow/{}", self.group);
        Stream::new(self.seed, self.replication, (&name, u64::from(self.index)), purpose)
    }
}
