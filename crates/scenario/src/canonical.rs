//! The canonical form: JSON with every default filled, base integers with their unit in the key, keys sorted. The same
//! scenario gives the same bytes, whatever its file looked like; those bytes are what is hashed, stored and shown.
//!
//! Places follow the file (`flows[0].control.law`), so that one set of messages serves both.

mod forms;

use crate::error::one_line;
use crate::parameters::Parameters;
use crate::{
    Group, Hop, Link, Loss, PacketSpan, Record, Scenario, ScenarioError, Stop, check, control, flows, hops, links,
};
use base::{Bytes, Rate, Span, Value};
use forms::{AccessForm, RangeForm, RttForm, StartForm, StopForm};
use law::{LawSpec, StartSpec};
use queue::{Limit, QueueSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use traffic::TrafficSpec;
use transport::{Ecn, Options, Recovery};

impl Scenario {
    /// The canonical form.
    #[must_use]
    pub fn canonical(&self) -> String {
        let form = ScenarioForm::from(self);
        let mut json = serde_json::to_value(form).unwrap_or_default();
        // Sorted already unless somebody in the build asks serde_json to keep the order of insertion.
        json.sort_all_objects();
        json.to_string()
    }

    /// What identifies the result: BLAKE3 of the engine's version, the seed and the canonical form, in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        let named = format!("elephan/{}/{}/{}", env!("CARGO_PKG_VERSION"), self.seed, self.canonical());
        blake3::hash(named.as_bytes()).to_hex().to_string()
    }
}

/// Reads a canonical form back.
///
/// # Errors
/// If `json` is not a canonical form, or holds a scenario that no file could have given.
pub fn from_canonical(json: &str) -> Result<Scenario, ScenarioError> {
    let form: ScenarioForm = serde_json::from_str(json).map_err(|error| {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let text = error.to_string();
        let reason = one_line(text.split(" at line ").next().unwrap_or_default());
        ScenarioError::Syntax { line, column, reason }
    })?;
    let scenario = form.into_scenario()?;
    check::check(&scenario)?;
    Ok(scenario)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioForm {
    title: String,
    duration_ps: Span,
    warmup_ps: Span,
    replications: u32,
    seed: u64,
    links: Vec<LinkForm>,
    flows: Vec<GroupForm>,
    record: RecordForm,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkForm {
    name: String,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    count: u32,
    rate_bps: RangeForm<Rate>,
    delay_ps: RangeForm<Span>,
    buffer: LimitForm,
    queue: QueueForm,
    loss: Option<LossForm>,
}

/// Links are no arrays unless they say so.
fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(count: &u32) -> bool {
    *count == 1
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LimitForm {
    Packets(u32),
    Bytes(Bytes),
    Unlimited,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LossForm {
    Random(f64),
    Every(u64),
}

/// A name and, beside it, every parameter with its value.
#[derive(Serialize, Deserialize)]
struct QueueForm {
    discipline: String,
    #[serde(flatten)]
    parameters: Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
struct ControlForm {
    law: String,
    slow_start: SlowStartForm,
    #[serde(flatten)]
    parameters: Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
struct SlowStartForm {
    kind: String,
    #[serde(flatten)]
    parameters: Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupForm {
    name: String,
    count: u32,
    path: Vec<String>,
    #[serde(rename = "return")]
    back: Vec<String>,
    rtt: RttForm,
    access: AccessForm,
    /// Absent, as the recovery and most keys of `tcp`, from groups of datagrams.
    control: Option<ControlForm>,
    recovery: Option<String>,
    packet_bytes: Bytes,
    start_ps: StartForm,
    stop_ps: Option<StopForm>,
    traffic: TrafficForm,
    /// A [`TcpForm`] or a [`DatagramForm`].
    tcp: Json,
}

#[derive(Serialize, Deserialize)]
struct TrafficForm {
    kind: String,
    #[serde(flatten)]
    parameters: Map<String, Json>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TcpForm {
    min_rto_ps: Span,
    rto_granularity_ps: Span,
    initial_window: u32,
    initial_ssthresh: Option<f64>,
    receive_window: Option<u32>,
    delayed_ack: u32,
    delayed_ack_timeout_ps: Span,
    limited_transmit: bool,
    ecn: EcnForm,
    send_jitter_ps: Span,
}

/// What `tcp` says of a group of datagrams.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatagramForm {
    send_jitter_ps: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EcnForm {
    Off,
    On,
    L4s,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordForm {
    every_ps: Option<Span>,
    trace: Vec<String>,
    packets: Vec<PacketsForm>,
    delays: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PacketsForm {
    link: String,
    from_ps: Span,
    to_ps: Span,
}

impl From<&Scenario> for ScenarioForm {
    fn from(s: &Scenario) -> Self {
        let packets = s.record.packets.iter().map(|span| PacketsForm {
            link: hops::name_of(span.link, &s.links),
            from_ps: span.from,
            to_ps: span.to,
        });
        let trace = s.record.trace.iter().map(|&(group, flow)| format!("{}[{flow}]", s.groups[group].name)).collect();
        Self {
            title: s.title.clone(),
            duration_ps: s.duration,
            warmup_ps: s.warmup,
            replications: s.replications,
            seed: s.seed,
            links: s.links.iter().map(LinkForm::from).collect(),
            flows: s.groups.iter().map(|group| GroupForm::new(group, &s.links)).collect(),
            record: RecordForm { every_ps: s.record.every, trace, packets: packets.collect(), delays: s.record.delays },
        }
    }
}

impl From<&Link> for LinkForm {
    fn from(link: &Link) -> Self {
        Self {
            name: link.name.clone(),
            count: link.count,
            rate_bps: RangeForm::new(link.rate, link.rate_range),
            delay_ps: RangeForm::new(link.delay, link.delay_range),
            buffer: match link.buffer {
                Limit::Packets(n) => LimitForm::Packets(n),
                Limit::Bytes(n) => LimitForm::Bytes(n),
                Limit::Unlimited => LimitForm::Unlimited,
            },
            queue: QueueForm { discipline: link.queue.card().name.into(), parameters: to_json(link.queue.values()) },
            loss: link.loss.map(|loss| match loss {
                Loss::Random(p) => LossForm::Random(p),
                Loss::Every(n) => LossForm::Every(n),
            }),
        }
    }
}

impl GroupForm {
    fn new(group: &Group, links: &[Link]) -> Self {
        let names = |path: &[Hop]| path.iter().map(|&hop| hops::name_of(hop, links)).collect();
        let slow_start = || SlowStartForm {
            kind: group.slow_start.card().name.into(),
            parameters: to_json(group.slow_start.values()),
        };
        let control = || ControlForm {
            law: group.law.card().name.into(),
            slow_start: slow_start(),
            parameters: to_json(group.law.values()),
        };
        let is_tcp = group.traffic.is_tcp();
        let tcp = if is_tcp {
            serde_json::to_value(TcpForm::from(&group.tcp))
        } else {
            serde_json::to_value(DatagramForm { send_jitter_ps: group.tcp.send_jitter })
        };
        Self {
            name: group.name.clone(),
            count: group.count,
            path: names(&group.path),
            back: names(&group.back),
            rtt: RttForm::from(&group.rtt),
            access: AccessForm::from(&group.access),
            control: is_tcp.then(control),
            recovery: is_tcp.then(|| group.recovery.name().into()),
            packet_bytes: group.packet,
            start_ps: StartForm::from(&group.start),
            stop_ps: group.stop.map(StopForm::from),
            traffic: TrafficForm {
                kind: group.traffic.card().name.into(),
                parameters: to_json(group.traffic.values()),
            },
            tcp: tcp.unwrap_or_default(),
        }
    }
}

impl From<&Options> for TcpForm {
    fn from(tcp: &Options) -> Self {
        Self {
            min_rto_ps: tcp.min_rto,
            rto_granularity_ps: tcp.rto_granularity,
            initial_window: tcp.initial_window,
            initial_ssthresh: tcp.initial_ssthresh,
            receive_window: tcp.receive_window,
            delayed_ack: tcp.delayed_ack,
            delayed_ack_timeout_ps: tcp.delayed_ack_timeout,
            limited_transmit: tcp.limited_transmit,
            ecn: match tcp.ecn {
                Ecn::Off => EcnForm::Off,
                Ecn::On => EcnForm::On,
                Ecn::L4s => EcnForm::L4s,
            },
            send_jitter_ps: tcp.send_jitter,
        }
    }
}

impl ScenarioForm {
    fn into_scenario(self) -> Result<Scenario, ScenarioError> {
        let links: Vec<Link> =
            self.links.into_iter().enumerate().map(|(i, link)| link.into_link(i)).collect::<Result<_, _>>()?;
        let groups: Vec<Group> = self
            .flows
            .into_iter()
            .enumerate()
            .map(|(i, group)| group.into_group(i, &links))
            .collect::<Result<_, _>>()?;
        let mut trace = Vec::new();
        for (i, flow) in self.record.trace.iter().enumerate() {
            let wrong = |reason| ScenarioError::wrong(format!("record.trace[{i}]"), reason);
            trace.push(flows::flow_named(flow, &groups).map_err(wrong)?);
        }
        let mut packets = Vec::new();
        for (i, span) in self.record.packets.iter().enumerate() {
            let wrong = |reason| ScenarioError::wrong(format!("record.packets[{i}].link"), reason);
            let link = hops::hop_named(&span.link, &links).map_err(wrong)?;
            packets.push(PacketSpan { link, from: span.from_ps, to: span.to_ps });
        }
        let record = Record { every: self.record.every_ps, trace, packets, delays: self.record.delays };
        Ok(Scenario {
            title: self.title,
            duration: self.duration_ps,
            warmup: self.warmup_ps,
            replications: self.replications,
            seed: self.seed,
            links,
            groups,
            record,
        })
    }
}

impl LinkForm {
    fn into_link(self, i: usize) -> Result<Link, ScenarioError> {
        let place = format!("links[{i}].queue");
        let mut queue: QueueSpec = links::queue_named(&self.queue.discipline, &format!("{place}.discipline"))?;
        set_all(&mut queue, &self.queue.parameters, &place)?;
        let (rate, rate_range) = self.rate_bps.mean_and_range();
        let (delay, delay_range) = self.delay_ps.mean_and_range();
        Ok(Link {
            name: self.name,
            count: self.count,
            rate,
            rate_range,
            delay,
            delay_range,
            buffer: match self.buffer {
                LimitForm::Packets(n) => Limit::Packets(n),
                LimitForm::Bytes(n) => Limit::Bytes(n),
                LimitForm::Unlimited => Limit::Unlimited,
            },
            queue,
            loss: self.loss.map(|loss| match loss {
                LossForm::Random(p) => Loss::Random(p),
                LossForm::Every(n) => Loss::Every(n),
            }),
        })
    }
}

impl GroupForm {
    fn into_group(self, i: usize, links: &[Link]) -> Result<Group, ScenarioError> {
        let place = format!("flows[{i}].traffic");
        let mut traffic: TrafficSpec = control::traffic_named(&self.traffic.kind, &format!("{place}.kind"))?;
        set_all(&mut traffic, &self.traffic.parameters, &place)?;
        let at = |key: &str| format!("flows[{i}].{key}");
        let kind = traffic.card().name;
        let (law, slow_start) = match &self.control {
            Some(form) if traffic.is_tcp() => form.read(&at("control"))?,
            None if !traffic.is_tcp() => control::control(None)?,
            _ => return Err(ScenarioError::wrong(at("control"), format!("does not go with {kind} traffic"))),
        };
        let recovery = match &self.recovery {
            Some(name) if traffic.is_tcp() => control::recovery_named(name, &at("recovery"))?,
            None if !traffic.is_tcp() => Recovery::Sack,
            _ => return Err(ScenarioError::wrong(at("recovery"), format!("does not go with {kind} traffic"))),
        };
        let tcp = if traffic.is_tcp() {
            serde_json::from_value::<TcpForm>(self.tcp).map(Options::from)
        } else {
            serde_json::from_value::<DatagramForm>(self.tcp)
                .map(|form| Options { send_jitter: form.send_jitter_ps, ..Options::default() })
        };
        let tcp = tcp.map_err(|error| ScenarioError::wrong(at("tcp"), one_line(&error.to_string())))?;
        let indices = |key: &str, names: &[String]| -> Result<Vec<Hop>, ScenarioError> {
            let place = |j| format!("flows[{i}].{key}[{j}]");
            let named = |(j, name): (usize, &String)| {
                hops::hop_named(name, links).map_err(|reason| ScenarioError::wrong(place(j), reason))
            };
            names.iter().enumerate().map(named).collect()
        };
        Ok(Group {
            path: indices("path", &self.path)?,
            back: indices("return", &self.back)?,
            name: self.name,
            count: self.count,
            rtt: self.rtt.into(),
            access: self.access.into(),
            law,
            slow_start,
            recovery,
            packet: self.packet_bytes,
            start: self.start_ps.into(),
            stop: self.stop_ps.map(Stop::from),
            traffic,
            tcp,
        })
    }
}

impl ControlForm {
    fn read(&self, place: &str) -> Result<(LawSpec, StartSpec), ScenarioError> {
        let mut law: LawSpec = control::law_named(&self.law, &format!("{place}.law"))?;
        set_all(&mut law, &self.parameters, place)?;
        let place = format!("{place}.slow_start");
        let mut slow_start: StartSpec = control::start_named(&self.slow_start.kind, &format!("{place}.kind"))?;
        set_all(&mut slow_start, &self.slow_start.parameters, &place)?;
        Ok((law, slow_start))
    }
}

impl From<TcpForm> for Options {
    fn from(form: TcpForm) -> Self {
        Self {
            min_rto: form.min_rto_ps,
            rto_granularity: form.rto_granularity_ps,
            initial_window: form.initial_window,
            initial_ssthresh: form.initial_ssthresh,
            receive_window: form.receive_window,
            delayed_ack: form.delayed_ack,
            delayed_ack_timeout: form.delayed_ack_timeout_ps,
            limited_transmit: form.limited_transmit,
            ecn: match form.ecn {
                EcnForm::Off => Ecn::Off,
                EcnForm::On => Ecn::On,
                EcnForm::L4s => Ecn::L4s,
            },
            send_jitter: form.send_jitter_ps,
        }
    }
}

fn to_json(values: Vec<(&'static str, Value)>) -> Map<String, Json> {
    let json = |value| match value {
        Value::Bool(x) => Json::from(x),
        Value::Number(x) => Json::from(x),
        Value::Text(text) => Json::from(text),
        Value::Pairs(pairs) => Json::from(pairs.into_iter().map(Json::from).collect::<Vec<_>>()),
    };
    values.into_iter().map(|(name, value)| (name.to_owned(), json(value))).collect()
}

fn set_all(spec: &mut impl Parameters, values: &Map<String, Json>, place: &str) -> Result<(), ScenarioError> {
    for (name, json) in values {
        let value = match json {
            Json::Bool(x) => Value::Bool(*x),
            Json::Number(x) => Value::Number(x.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(pairs) if pairs.iter().all(|pair| numbers(pair).is_some()) => {
                Value::Pairs(pairs.iter().filter_map(numbers).collect())
            }
            _ => {
                return Err(ScenarioError::wrong(
                    format!("{place}.{}", one_line(name)),
                    "must be a number, a text, true, false or a list of pairs of numbers",
                ));
            }
        };
        match spec.set(name, &value) {
            Some(Ok(())) => {}
            Some(Err(source)) => return Err(ScenarioError::Parameter { place: place.into(), source }),
            None => {
                let known: Vec<_> = spec.rows().iter().map(|row| row.name).collect();
                let hint = format!("known here: {}", known.join(", "));
                return Err(ScenarioError::UnknownKey { place: format!("{place}.{}", one_line(name)), hint });
            }
        }
    }
    Ok(())
}

/// A pair of numbers.
fn numbers(pair: &Json) -> Option<[f64; 2]> {
    match pair.as_array()?.as_slice() {
        [x, y] => Some([x.as_f64()?, y.as_f64()?]),
        _ => None,
    }
}
