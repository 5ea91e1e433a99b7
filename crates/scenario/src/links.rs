//! The `[[links]]` tables.

use crate::link_delay::{Jitter, LinkDelay};
use crate::link_rate::LinkRate;
use crate::loss::Loss;
use crate::names::{self, Names};
use crate::node::Node;
use crate::pools::{ALPHA, PoolName};
use crate::reorder::Reorder;
use crate::table::{self, Defs, KeyType};
use crate::{ScenarioError, limits};
use base::{Bytes, Key, Rate, Span, Stream};
use queue::{Limit, Port, QueueSpec};
use serde_json::Value as Json;

base::keys! {
    /// Directed link (queue, server, wire), or an array of links that differ only in their random draws.
    pub struct Link<Buffer = Limit> {
        /// Its name in paths.
        name: String, eg "bottleneck", in limits::NAME;
        /// Number of links: above 1, an array that paths call `name[*]` (flow i of a group takes link i mod count) or
        /// `name[3]`.
        count: u32 = 1, in limits::LINKS, since "0.1";
        /// Bits on the wire: "2.5 Gbit/s"; `{ uniform = [from, to] }` to be drawn; `{ steps = [["0 s", "50 Mbit/s"], ["3 s", "5 Mbit/s"]] }`,
        /// `{ trace = "file.up" }`, `{ sine = { mean, amplitude, period } }` or `{ markov = { rates, times } }` to change.
        rate: LinkRate, eg "1 Gbit/s", in limits::RATE;
        /// Propagation, one way: "50 ms"; `{ uniform = [from, to] }` to be drawn; `{ steps = [["0 s", "20 ms"], ["15 s", "45 ms"]] }` or
        /// `{ trace = "file.csv" }` to change. No packet overtakes the one before it, unless `reorder` lets it.
        delay: LinkDelay = LinkDelay::same(Span::ZERO), eg "50 ms", in limits::DELAY;
        /// Buffer, without the packet in service: "1250 packets", "125 kB", "5 ms", "0.1 bdp", "10 % bdp",
        /// "bdp/sqrt(n)", "unlimited". Must be given, here, as `limit` beside the discipline or by its profile, but on
        /// a link with a `pool`, where it is a cap of its own. Default there: "unlimited".
        buffer: Buffer, eg "1250 packets";
        /// The discipline: a name, or a table such as { discipline = "red", gentle = true }; { discipline = "pie", profile = "linux" }
        /// has Linux's parameters where it gives none.
        queue: QueueSpec = QueueSpec::DropTail(queue::drop_tail::Params::default());
        /// Loss that is not the queue's: { random = 1e-4 }, { every = 10000 }, { gilbert = { enter, leave } }, { bursts = { mean, length } },
        /// each also only `during` stated intervals, or "none".
        loss: Option<Loss> = None, or "none";
        /// A bucket in front of the queue: what arrives when it has not enough tokens is dropped. { rate, burst }, or "none".
        policer: Option<Bucket> = None, or "none", since "0.1";
        /// A bucket behind the queue: each packet waits for its tokens, then leaves at the rate of the link. { rate, burst }, or "none".
        shaper: Option<Bucket> = None, or "none", since "0.1";
        /// Interval at which served packets are handed over together, as Wi-Fi and cellular links do: "5 ms", or "none".
        batch: Option<Span> = None, eg "5 ms", in Span(1)..=Span::secs(60), or "none", since "0.1";
        /// Additional delay of each packet: "2 ms", drawn uniformly from 0 to that for each; `{ uniform = [from, to] }`;
        /// `{ exponential = "1 ms" }`; or "none". No packet overtakes the one before it, unless `reorder` lets it.
        jitter: Option<Jitter> = None, eg "2 ms", in limits::DELAY, or "none", since "0.1";
        /// Packets that overtake others: `{ late = 0.01, by = "10 ms" }`, a share that takes longer; `{ early = 0.25, by = "10 ms" }`,
        /// netem's reorder; `{ paths = ["0 s", "5 ms"] }`, parallel ways; "jitter", none but by `jitter` and falling delays; or
        /// "none". With it no packet waits for the one before it.
        reorder: Option<Reorder> = None, or "none", since "0.1";
        /// Name of the pool whose memory its buffer takes, or "none".
        pool: Option<PoolName> = None, eg "chip", or "none", since "0.1";
        /// Its own alpha in a pool of dynamic thresholds. Default: the pool's.
        alpha: Option<f64> = None, eg "2.0", in ALPHA, since "0.1", needs [DynamicPool];
    }
}

base::keys! {
    /// A token bucket.
    pub struct Bucket {
        /// Rate at which tokens arrive.
        rate: Rate, eg "20 Mbit/s", in limits::RATE;
        /// Size of the bucket, which is full at first: no less than a packet.
        burst: Bytes, eg "100 kB", in Bytes(1)..=Bytes(1_000_000_000_000);
    }
}

table::table_types! {
    Bucket = "Bucket", "a table such as { rate = \"20 Mbit/s\", burst = \"100 kB\" }";
}

impl<Buffer: KeyType + PartialEq> KeyType for Link<Buffer> {
    const EXAMPLE: &'static str = "[[links]]";
    const LIST: [&'static str; 2] = ["a list of tables, each headed [[links]]", "must not be empty"];
    fn read(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        table::read(node, "a table headed [[links]]")
    }
    fn write(&self, names: &Names) -> Json {
        table::write(self, names)
    }
    fn restore(node: &Node, _key: &Key) -> Result<Self, ScenarioError> {
        table::restore(node)
    }
    fn schema(_key: &Key, defs: &mut Defs) -> Json {
        defs.table::<Self>("Link")
    }
    fn listed(list: &[Self], names: &Names) -> Result<(), ScenarioError> {
        // This must precede the paths, which refer to the names.
        names::learn(&names.links, "links", list.iter().map(|link| (&link.name, link.count)))
    }
}

impl<Buffer> crate::Scenario<Buffer> {
    /// The rate of `links[link]`, or its mean if it is drawn or changes; at most the rate of the link's shaper.
    #[must_use]
    pub fn mean_rate(&self, link: usize) -> Rate {
        let Link { rate, shaper, .. } = &self.links[link];
        let mean = rate.mean(self.duration);
        shaper.as_ref().map_or(mean, |shaper| mean.min(shaper.rate))
    }
}

impl<Buffer> Link<Buffer> {
    /// Whether packets have different propagation delays.
    #[must_use]
    pub fn delay_varies(&self) -> bool {
        let steps = matches!(self.delay, LinkDelay::Steps(..)) && self.delay.min() < self.delay.max();
        let jitter = self.jitter.is_some_and(|jitter| jitter.max() > Span::ZERO);
        steps || jitter || self.reorder.as_ref().is_some_and(|reorder| reorder.max() > Span::ZERO)
    }

    /// Mean propagation delay over a run of this `duration`; zero if it is drawn for each link. Delays drawn for each
    /// packet count with the mean of packets far apart.
    #[must_use]
    pub fn mean_over_time(&self, duration: Span) -> Span {
        let steps = if let LinkDelay::Steps(..) = self.delay { self.delay.mean(duration) } else { Span::ZERO };
        let reorder = self.reorder.as_ref().map_or(Span::ZERO, Reorder::mean);
        let drawn = self.jitter.map_or(Span::ZERO, |jitter| jitter.mean()).0.saturating_add(reorder.0);
        Span(steps.0.saturating_add(drawn))
    }

    /// Largest deviations of a packet's delay below and above [`Self::mean_over_time`].
    #[must_use]
    pub fn swing(&self, duration: Span) -> (Span, Span) {
        let jitter = self.jitter.map_or([Span::ZERO; 2], |jitter| [jitter.min(), jitter.max()]);
        let reorder = self.reorder.as_ref().map_or([Span::ZERO; 2], |reorder| [reorder.min(), reorder.max()]);
        let steps = match self.delay {
            LinkDelay::Steps(..) => [self.delay.min(), self.delay.max()],
            LinkDelay::Fixed(_) => [Span::ZERO; 2],
        };
        let mean = self.mean_over_time(duration).0;
        let [least, most] = [0, 1].map(|i| steps[i].0.saturating_add(jitter[i].0).saturating_add(reorder[i].0));
        (Span(mean.saturating_sub(least)), Span(most.saturating_sub(mean)))
    }
}

/// Reads the value of `queue` in a file, with amounts converted to packets on `port`.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn read_queue(text: &str, port: &Port) -> Result<QueueSpec, ScenarioError> {
    let mut spec: QueueSpec = table::read_alone("queue", text)?;
    spec.resolve(port).map_err(ScenarioError::parameter("queue"))?;
    spec.build(port, Stream::new(0, 0, ("check", 0), "queue")).map_err(ScenarioError::parameter("queue"))?;
    Ok(spec)
}
