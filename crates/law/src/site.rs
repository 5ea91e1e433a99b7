//! The flow that a law is made for.

use crate::{AnyStart, StartSpec, WindowLaw, Windowed};
use base::{Bytes, Span, Stream, Time};

/// A TCP flow, as far as a law may know it that is made without the scenario, such as one in a library.
#[derive(Clone, Copy, Debug)]
pub struct LawSite<'a> {
    /// The name of its group.
    pub group: &'a str,
    /// Its place in its group.
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
    /// Segments that it may send at first.
    pub initial_window: f64,
    /// Slow-start threshold at first, in segments; infinite for none.
    pub ssthresh: f64,
    /// The seed of the scenario, of which [`Self::stream`] makes streams.
    pub seed: u64,
}

impl LawSite<'_> {
    /// `law` under the slow start of RFC 5681 and its floors and timeouts, with the scenario's initial window and threshold.
    #[must_use]
    pub fn windowed<L: WindowLaw>(&self, law: L) -> Windowed<L, AnyStart> {
        let start = StartSpec::Classic(crate::start::classic::Params::default()).build().expect("its own defaults");
        Windowed::new(law, start, self.initial_window, self.ssthresh)
    }

    /// A random stream of this flow for `purpose`, the same in every run of this replication and unlike that of any other flow.
    #[must_use]
    pub fn stream(&self, purpose: &str) -> Stream {
        let name = format!("own/flow/{}", self.group);
        Stream::new(self.seed, self.replication, (&name, u64::from(self.index)), purpose)
    }
}
