//! A congestion control compiled for the Linux kernel (BPF, `struct_ops`), run unchanged: the calls that the kernel would
//! make are made here, on a socket with the kernel's fields.
//!
//! Source: Linux 6.18, `include/net/tcp.h` (`tcp_congestion_ops`), and the calls of its TCP: on an ACK `in_ack_event`,
//! `pkts_acked`, then `cong_avoid` or `cong_control`; on a loss `ssthresh`, then `set_state`; on a timeout
//! `cwnd_event(CA_EVENT_LOSS)` in between.
//! Differs from Linux: the window falls to its threshold at once, not during the recovery (the recovery may still reduce it
//! gradually, with PRR); ACKs in recovery reach only `cong_control`; a reduction after a mark is complete with the next
//! ACK; cuts are never undone; a law without `pkts_acked` gets round-trip times through `srtt_us`, from one sample per
//! round trip. Each flow has its own maps and variables.

mod object;

pub use object::ObjectFile;

use crate::{
    AckSample, CongestionControl, CongestionEvent, Controller, Delivery, MIN_SSTHRESH, Needs, Restart, Signal,
    scrambled,
};
use base::{Card, ParamError, Registered, Span, Time};
use ebpf::{Callback, Fault, Loaded, RateSample, Socket};
use std::sync::{Arc, Mutex, PoisonError};

base::params! {
    /// An object of the compiler's.
    pub struct Params {
        /// The compiled congestion control: a file such as "mine.bpf.o", or "shipped", the object of elephan's own laws.
        object: ObjectFile = ObjectFile::default(), "";
        /// Name of the congestion control in the object, as sockets choose it; empty for the first that has one.
        name: String = String::new(), "";
    }
}

impl Params {
    /// The control's name for sockets, and the name of its variable in the object.
    ///
    /// # Errors
    /// If the object has no such control.
    pub fn control(&self) -> Result<(String, String), ParamError> {
        let controls = self.object.object().controls();
        // A socket cannot choose a control without a name.
        let named = || controls.iter().filter(|control| !control.name().is_empty());
        let found = match self.name.as_str() {
            "" => named().next().or(controls.first()),
            name => named().find(|control| control.name() == name),
        };
        let names = || named().map(|control| format!("{:?}", control.name())).collect::<Vec<_>>().join(" or ");
        let found = found.ok_or_else(|| ParamError::new("name", format!("must be {}", names())))?;
        Ok((found.name().into(), found.variable().into()))
    }
}

/// Values of `ca_state`: `TCP_CA_Open`, `TCP_CA_CWR`, `TCP_CA_Recovery` and `TCP_CA_Loss`.
const OPEN: u8 = 0;
const REDUCTION: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// Events: `CA_EVENT_TX_START`, `CA_EVENT_CWND_RESTART`, `CA_EVENT_COMPLETE_CWR` and `CA_EVENT_LOSS`.
const TX_START: u32 = 0;
const CWND_RESTART: u32 = 1;
const COMPLETE: u32 = 2;
const TIMEOUT: u32 = 3;

/// Flag of an ACK that echoes a mark (`CA_ACK_ECE`).
const ECHO: u32 = 4;

/// Flag of a control that needs ECN (`TCP_CONG_NEEDS_ECN`).
const WANTS_ECN: u32 = 2;

/// Picoseconds in a nanosecond, and in a microsecond.
const NANO: u64 = 1000;
const MICRO: u64 = 1_000_000;

/// A rate that does not limit.
const NO_RATE: u64 = u64::MAX;

/// A connection with a compiled control.
#[derive(Clone, Debug)]
pub struct Bpf {
    socket: Socket,
    /// Whether it has seen an ACK.
    begun: bool,
    /// Whether its program had a fault; after a fault it is not called again.
    failed: bool,
    /// The earliest fault, and its time. All clones share it; they are the transfers of a session.
    fault: Arc<Mutex<Option<(Time, String)>>>,
    now: Time,
}

impl Registered for Bpf {
    type Params = Params;
    const CARD: Card = Card {
        name: "bpf",
        aliases: &["struct_ops"],
        title: "A congestion control compiled for the Linux kernel",
        source: "RFC 9669 (BPF); Linux 6.18, struct tcp_congestion_ops",
        differs: "The window falls to the threshold at once, cuts are never undone, and maps and variables are each flow's own.",
    };
}

impl Controller for Bpf {
    fn new(p: &Params, initial_window: f64) -> Result<Self, ParamError> {
        let (name, variable) = p.control()?;
        // If all controls lack a name, the error of `load` says so.
        let loaded = p
            .object
            .load(if name.is_empty() { &variable } else { &name }, None)
            .map_err(|e| ParamError::new("object", e))?;
        Self::under(&loaded, initial_window, f64::INFINITY, None)
            .map_err(|fault| ParamError::new("object", fault.to_string()))
    }
}

impl Bpf {
    /// Creates a connection under `loaded`, with segments of this size on the wire if the object needs it.
    pub(crate) fn under(
        loaded: &Arc<Loaded>,
        initial_window: f64,
        ssthresh: f64,
        wire: Option<u32>,
    ) -> Result<Self, Fault> {
        let mut socket = loaded.socket(0);
        socket.set_snd_cwnd(initial_window as u32);
        if ssthresh.is_finite() {
            socket.set_snd_ssthresh(ssthresh as u32);
        }
        if let Some(wire) = wire {
            let headers = u32::from(socket.tcp_header_len()) + IP_HEADER;
            socket.set_mss_cache(wire.saturating_sub(headers).max(1));
        }
        socket.init()?;
        socket.cwnd_event(TX_START)?;
        let (fault, now) = (Arc::default(), Time::ZERO);
        Ok(Self { socket, begun: false, failed: false, fault, now })
    }

    /// Calls the program unless it had a fault. After a fault the window is one segment, so that the run needs little work
    /// until its end.
    fn ask(&mut self, what: impl FnOnce(&mut Socket) -> Result<(), Fault>) {
        if self.failed {
            return;
        }
        if let Err(fault) = what(&mut self.socket) {
            self.failed = true;
            self.socket.set_snd_cwnd(1);
            self.socket.set_pacing_rate(NO_RATE);
            let found = (self.now, fault.to_string());
            let mut first = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            if first.as_ref().is_none_or(|first| found < *first) {
                *first = Some(found);
            }
        }
    }

    /// Updates the values that every report contains.
    fn note(&mut self, now: Time, delivered: u64, in_flight: f64, min_rtt: Span) {
        self.now = now;
        let socket = &mut self.socket;
        socket.set_now_ns(now.0 / NANO);
        if !self.begun {
            self.begun = true;
            // Different flows get different random numbers, which are the same in every run.
            socket.set_seed(scrambled(now.0));
        }
        socket.set_delivered(delivered as u32);
        let mss = u64::from(socket.mss_cache());
        socket.set_snd_una((delivered * mss) as u32);
        socket.set_snd_nxt((delivered.wrapping_add(in_flight as u64) * mss) as u32);
        socket.set_packets_out(in_flight as u32);
        if min_rtt > Span::ZERO {
            socket.set_min_rtt_us(micros(min_rtt));
        }
    }

    /// Notes whether the window limits the sender. In slow start the kernel compares cwnd with the largest
    /// `packets_out` of the last window (`tcp_is_cwnd_limited`).
    fn note_limit(&mut self, limited: bool) {
        let cwnd = self.socket.snd_cwnd();
        self.socket.set_cwnd_limited(limited);
        self.socket.set_max_packets_out(if limited { cwnd } else { cwnd / 2 });
    }

    /// Notes the values of an ACK, and returns the flags with which the kernel reports it.
    fn note_ack(&mut self, ack: &AckSample) -> u32 {
        self.note(ack.now, ack.delivered, (ack.in_flight - ack.acked).max(0.0), ack.min_rtt);
        self.note_srtt(ack.srtt);
        self.note_limit(ack.cwnd_limited);
        let marked = self.socket.delivered_ce().wrapping_add(ack.ce_marked as u32);
        self.socket.set_delivered_ce(marked);
        if ack.ce_marked > 0.0 { ECHO } else { 0 }
    }

    fn note_srtt(&mut self, srtt: Span) {
        self.socket.set_srtt_us(micros(srtt).saturating_mul(8));
    }
}

/// Bytes of an IPv4 header.
const IP_HEADER: u32 = 20;

fn micros(span: Span) -> u32 {
    u32::try_from(span.0 / MICRO).unwrap_or(u32::MAX)
}

impl CongestionControl for Bpf {
    fn needs(&self) -> Needs {
        let control = self.socket.control();
        Needs {
            every_rtt: control.implements(Callback::PktsAcked),
            deliveries: rules(&self.socket),
            marks: control.flags() & WANTS_ECN != 0,
            ..Needs::default()
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let flags = self.note_ack(ack);
        let sample = ebpf::AckSample {
            pkts_acked: ack.acked as u32,
            rtt_us: ack.rtt.map_or(-1, |rtt| micros(rtt).min(i32::MAX as u32).cast_signed()),
            in_flight: ack.in_flight as u32,
        };
        self.ask(|socket| {
            if socket.ca_state() != OPEN {
                socket.cwnd_event(COMPLETE)?;
                socket.set_state(OPEN)?;
            }
            socket.in_ack_event(flags)?;
            socket.pkts_acked(&sample)?;
            socket.cong_avoid(socket.snd_una(), sample.pkts_acked)
        });
    }

    fn on_recovery_ack(&mut self, ack: &AckSample) {
        let flags = self.note_ack(ack);
        self.ask(|socket| socket.in_ack_event(flags));
    }

    fn on_delivery(&mut self, delivery: &Delivery) {
        self.note(delivery.now, delivery.delivered, delivery.in_flight, delivery.min_rtt);
        self.note_limit(!delivery.app_limited);
        self.socket.set_lost(self.socket.lost().wrapping_add(delivery.newly_lost as u32));
        let interval = delivery.interval.map(micros);
        let sample = RateSample {
            prior_delivered: delivery.prior_delivered as u32,
            delivered: interval.map_or(-1, |_| (delivery.delivered - delivery.prior_delivered) as i32),
            interval_us: interval.map_or(-1, i64::from),
            snd_interval_us: interval.unwrap_or(0),
            rcv_interval_us: interval.unwrap_or(0),
            rtt_us: delivery.rtt.map_or(-1, |rtt| micros(rtt).into()),
            losses: delivery.newly_lost as i32,
            acked_sacked: delivery.newly_delivered as u32,
            prior_in_flight: delivery.prior_in_flight as u32,
            is_app_limited: delivery.app_limited,
            ..RateSample::default()
        };
        let acked = ebpf::AckSample {
            pkts_acked: sample.acked_sacked,
            rtt_us: sample.rtt_us.min(i32::MAX.into()) as i32,
            in_flight: delivery.tx_in_flight as u32,
        };
        self.ask(|socket| {
            if !delivery.recovering && socket.ca_state() == REDUCTION {
                socket.cwnd_event(COMPLETE)?;
                socket.set_state(OPEN)?;
            }
            socket.in_ack_event(0)?;
            if acked.pkts_acked > 0 {
                socket.pkts_acked(&acked)?;
            }
            socket.cong_control(socket.snd_una(), 0, &sample)
        });
    }

    fn on_recovered(&mut self) {
        self.ask(|socket| {
            if socket.ca_state() == RECOVERY {
                socket.cwnd_event(COMPLETE)?;
            }
            socket.set_state(OPEN)
        });
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.note(event.now, event.delivered, event.in_flight, event.min_rtt);
        self.note_srtt(event.srtt);
        let (rules, in_flight) = (rules(&self.socket), event.in_flight as u32);
        let (cwnd, ssthresh) = (self.socket.snd_cwnd(), self.socket.snd_ssthresh());
        self.socket.set_prior_cwnd(cwnd);
        self.socket.set_prior_ssthresh(ssthresh);
        self.ask(|socket| {
            let kept = socket.ssthresh()?.max(MIN_SSTHRESH as u32);
            socket.set_snd_ssthresh(kept);
            match event.signal {
                Signal::Timeout => {
                    socket.cwnd_event(TIMEOUT)?;
                    socket.set_snd_cwnd(if rules { in_flight + 1 } else { 1 });
                    socket.set_state(LOSS)
                }
                Signal::Loss | Signal::Ecn => {
                    if !rules {
                        socket.set_snd_cwnd(kept);
                    }
                    socket.set_state(if event.signal == Signal::Loss { RECOVERY } else { REDUCTION })
                }
            }
        });
    }

    fn on_restart(&mut self, restart: &Restart) {
        self.now = restart.now;
        self.socket.set_now_ns(restart.now.0 / NANO);
        if restart.idle > Span::ZERO {
            let ticks = (u128::from(restart.idle.0) * u128::from(ebpf::HZ) / u128::from(base::time::PS_PER_S)) as u64;
            let left = self.socket.jiffies().saturating_sub(ticks) as u32;
            self.socket.set_lsndtime(left);
        }
        let narrower = !rules(&self.socket) && restart.cwnd < f64::from(self.socket.snd_cwnd());
        self.ask(|socket| {
            if narrower {
                socket.cwnd_event(CWND_RESTART)?;
                socket.set_snd_cwnd((restart.cwnd as u32).max(1));
            }
            if let Some(ssthresh) = restart.ssthresh.filter(|_| !rules(socket)) {
                socket.set_snd_ssthresh(ssthresh.max(MIN_SSTHRESH) as u32);
            }
            if restart.idle > Span::ZERO { socket.cwnd_event(TX_START) } else { Ok(()) }
        });
    }

    fn collapse(&mut self) {
        self.socket.set_snd_cwnd(1);
    }

    fn cwnd(&self) -> f64 {
        f64::from(self.socket.snd_cwnd().max(1))
    }

    fn ssthresh(&self) -> f64 {
        match self.socket.snd_ssthresh() {
            Socket::NO_THRESHOLD.. => f64::INFINITY,
            segments => f64::from(segments),
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        let rate = self.socket.pacing_rate();
        (self.socket.pacing_status() != 0 && rate != NO_RATE)
            .then(|| (rate.max(1)) as f64 / f64::from(self.socket.mss_cache()))
    }

    fn fault(&self) -> Option<String> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(_, fault)| fault.clone())
    }
}

/// Whether the control sets its window from the delivery rate, also in recovery.
fn rules(socket: &Socket) -> bool {
    socket.control().implements(Callback::CongControl)
}
