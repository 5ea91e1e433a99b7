//! A socket with a congestion control from an object: the fields that the program sees, and the kernel's calls.
//!
//! Source: Linux's `struct tcp_sock` and `tcp_congestion_ops`; names and units are the same. Differs from Linux: each
//! socket has its own copy of the variables and maps of an object, so that results do not depend on other sockets.

use crate::error::{Fault, Reason};
use crate::host::Host;
use crate::machine::{Code, Machine};
use crate::maps::Maps;
use crate::memory::{ACK_SAMPLE_AT, CONTEXT_AT, Memory, OWN, RATE_SAMPLE_AT, SOCK_AT};
use crate::object::Callback;
use crate::target::{ACK_SAMPLE, INET_CONNECTION_SOCK, RATE_SAMPLE, SOCK, SOCK_COMMON, TCP_SOCK};
use std::fmt;
use std::sync::Arc;

/// A congestion control that is ready to run; all its sockets share it.
pub struct Loaded {
    pub(crate) object: String,
    pub(crate) name: String,
    pub(crate) flags: u32,
    /// Whether `cong_control` takes the socket, the ACK, flags and the sample, as since Linux 6.10, and not only the socket
    /// and the sample.
    pub(crate) long_form: bool,
    /// Index of the program for each [`Callback`].
    pub(crate) entries: [Option<usize>; Callback::ALL.len()],
    pub(crate) code: Code,
    pub(crate) shared: Arc<[u8]>,
    /// Initial memory of a socket.
    pub(crate) own: Vec<u8>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("object", &self.object).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Loaded {
    /// Name of the object in messages.
    #[must_use]
    pub fn object(&self) -> &str {
        &self.object
    }

    /// The control's name in the kernel.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its flags in the kernel: 1, any user may choose it; 2, it wants ECN.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether it has a program for this callback.
    #[must_use]
    pub fn implements(&self, callback: Callback) -> bool {
        self.entries[callback as usize].is_some()
    }

    /// Number of instructions of all its programs.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.code.ops.len()
    }

    /// Creates the socket of a new connection, with a window of ten segments of 1448 bytes and no threshold. `seed` starts
    /// the random numbers of its programs.
    #[must_use]
    pub fn socket(self: &Arc<Self>, seed: u64) -> Socket {
        let mut socket = Socket {
            memory: Memory::new(self.own.clone(), Arc::clone(&self.shared)),
            host: Host { maps: Maps::new(self.code.maps.len()), now: 0, random: seed },
            loaded: Arc::clone(self),
        };
        socket.memory.set(const { SOCK_AT + SOCK_COMMON.at("skc_family") }, 2_u16.to_le_bytes());
        socket.memory.set(const { SOCK_AT + SOCK_COMMON.at("skc_state") }, [1]);
        socket.memory.set(const { SOCK_AT + INET_CONNECTION_SOCK.at("icsk_rto") }, 1000_u32.to_le_bytes());
        socket.memory.set(const { SOCK_AT + SOCK.at("sk_gso_max_size") }, 65_536_u32.to_le_bytes());
        socket.memory.set(const { SOCK_AT + SOCK.at("sk_gso_max_segs") }, 65_535_u16.to_le_bytes());
        socket.memory.set(const { SOCK_AT + SOCK.at("sk_pacing_shift") }, [10]);
        socket.set_snd_cwnd(10);
        socket.set_snd_ssthresh(Socket::NO_THRESHOLD);
        socket.set_snd_cwnd_clamp(u32::MAX);
        socket.set_mss_cache(1448);
        socket.set_advmss(1460);
        socket.set_tcp_header_len(32);
        socket.set_reordering(3);
        socket.set_min_rtt_us(u32::MAX);
        socket.set_pacing_rate(u64::MAX);
        socket.set_max_pacing_rate(u64::MAX);
        socket.set_now_ns(0);
        socket
    }
}

/// A socket with its congestion control. A clone is independent.
#[derive(Clone)]
pub struct Socket {
    loaded: Arc<Loaded>,
    memory: Memory,
    host: Host,
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket")
            .field("control", &self.loaded.name)
            .field("snd_cwnd", &self.snd_cwnd())
            .field("snd_ssthresh", &self.snd_ssthresh())
            .finish_non_exhaustive()
    }
}

/// Sample of an ACK: the kernel's `ack_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckSample {
    /// Segments newly acknowledged, including those by SACK.
    pub pkts_acked: u32,
    /// Round-trip time of the newest acknowledged segment (us); -1 if there is no sample.
    pub rtt_us: i32,
    /// Segments in flight when that segment was sent.
    pub in_flight: u32,
}

/// A sample of the delivery rate: the kernel's `rate_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// `delivered_mstamp` when the newest acknowledged segment was sent (us).
    pub prior_mstamp: u64,
    /// `delivered` when that segment was sent (segments).
    pub prior_delivered: u32,
    /// `delivered_ce` when that segment was sent (segments).
    pub prior_delivered_ce: u32,
    /// Segments delivered in the interval, -1 without a sample.
    pub delivered: i32,
    /// Number of these segments that had an ECN mark (CE).
    pub delivered_ce: i32,
    /// Interval (us), -1 without a sample.
    pub interval_us: i64,
    /// Time in which the segments were sent (us).
    pub snd_interval_us: u32,
    /// Time in which the segments were acknowledged (us).
    pub rcv_interval_us: u32,
    /// Round-trip time of the newest of the segments (us); -1 if there is no sample.
    pub rtt_us: i64,
    /// Segments newly considered lost.
    pub losses: i32,
    /// Segments newly acknowledged, cumulatively or by SACK.
    pub acked_sacked: u32,
    /// Segments in flight before the ACK.
    pub prior_in_flight: u32,
    /// Sequence number after the newest acknowledged segment.
    pub last_end_seq: u32,
    /// Whether the application limited the rate.
    pub is_app_limited: bool,
    /// Whether the sample is for a retransmission.
    pub is_retrans: bool,
    /// Whether the ACK was probably delayed.
    pub is_ack_delayed: bool,
}

/// Methods that read and write a field of the socket in its memory.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $get:ident, $set:ident: $type:ty = $of:ident $name:literal;)*) => {
        impl Socket {
            $(
                $(#[doc = $doc])*
                #[must_use]
                #[inline]
                pub fn $get(&self) -> $type {
                    const AT: usize = SOCK_AT + $of.at($name);
                    <$type>::from_le_bytes(self.memory.get(AT))
                }

                /// Sets the value. See the method without `set_`.
                #[inline]
                pub fn $set(&mut self, value: $type) {
                    const AT: usize = SOCK_AT + $of.at($name);
                    self.memory.set(AT, value.to_le_bytes());
                }
            )*
        }
    };
}

fields! {
    /// The window (segments).
    snd_cwnd, set_snd_cwnd: u32 = TCP_SOCK "snd_cwnd";
    /// The slow-start threshold (segments).
    snd_ssthresh, set_snd_ssthresh: u32 = TCP_SOCK "snd_ssthresh";
    /// Acknowledged segments counted towards the next segment of growth.
    snd_cwnd_cnt, set_snd_cwnd_cnt: u32 = TCP_SOCK "snd_cwnd_cnt";
    /// Upper limit of the window (segments).
    snd_cwnd_clamp, set_snd_cwnd_clamp: u32 = TCP_SOCK "snd_cwnd_clamp";
    /// Time at which the window last changed (jiffies).
    snd_cwnd_stamp, set_snd_cwnd_stamp: u32 = TCP_SOCK "snd_cwnd_stamp";
    /// Part of the window that has been used (segments).
    snd_cwnd_used, set_snd_cwnd_used: u32 = TCP_SOCK "snd_cwnd_used";
    /// The window before the last reduction (segments).
    prior_cwnd, set_prior_cwnd: u32 = TCP_SOCK "prior_cwnd";
    /// The threshold before the last reduction (segments).
    prior_ssthresh, set_prior_ssthresh: u32 = TCP_SOCK "prior_ssthresh";
    /// Segments delivered in this recovery (PRR).
    prr_delivered, set_prr_delivered: u32 = TCP_SOCK "prr_delivered";
    /// Segments sent in this recovery (PRR).
    prr_out, set_prr_out: u32 = TCP_SOCK "prr_out";
    /// Segments sent and not acknowledged yet.
    packets_out, set_packets_out: u32 = TCP_SOCK "packets_out";
    /// Largest `packets_out` in the last window (segments).
    max_packets_out, set_max_packets_out: u32 = TCP_SOCK "max_packets_out";
    /// Retransmissions in flight.
    retrans_out, set_retrans_out: u32 = TCP_SOCK "retrans_out";
    /// Number of segments that SACK has acknowledged.
    sacked_out, set_sacked_out: u32 = TCP_SOCK "sacked_out";
    /// Number of segments that are considered lost.
    lost_out, set_lost_out: u32 = TCP_SOCK "lost_out";
    /// Segments lost since the connection began.
    lost, set_lost: u32 = TCP_SOCK "lost";
    /// Segments delivered since the connection began.
    delivered, set_delivered: u32 = TCP_SOCK "delivered";
    /// Segments delivered with a mark since the connection began.
    delivered_ce, set_delivered_ce: u32 = TCP_SOCK "delivered_ce";
    /// Samples are limited by the application until `delivered` exceeds this value; 0 if they are not limited.
    app_limited, set_app_limited: u32 = TCP_SOCK "app_limited";
    /// Degree of reordering assumed for the network (segments).
    reordering, set_reordering: u32 = TCP_SOCK "reordering";
    /// Number of times that reordering was seen.
    reord_seen, set_reord_seen: u32 = TCP_SOCK "reord_seen";
    /// Smoothed round-trip time, in eighths of a microsecond.
    srtt_us, set_srtt_us: u32 = TCP_SOCK "srtt_us";
    /// Mean deviation of the round-trip time, in quarters of a microsecond.
    mdev_us, set_mdev_us: u32 = TCP_SOCK "mdev_us";
    /// Largest mean deviation in the last round trip, in quarters of a microsecond.
    mdev_max_us, set_mdev_max_us: u32 = TCP_SOCK "mdev_max_us";
    /// Variance term of the retransmission timeout (us). The timeout is `srtt_us / 8 + rttvar_us`.
    rttvar_us, set_rttvar_us: u32 = TCP_SOCK "rttvar_us";
    /// Payload of a segment (bytes).
    mss_cache, set_mss_cache: u32 = TCP_SOCK "mss_cache";
    /// Segment size announced to the peer (bytes).
    advmss, set_advmss: u16 = TCP_SOCK "advmss";
    /// TCP's own header (bytes).
    tcp_header_len, set_tcp_header_len: u16 = TCP_SOCK "tcp_header_len";
    /// Sequence number of the next byte.
    snd_nxt, set_snd_nxt: u32 = TCP_SOCK "snd_nxt";
    /// Sequence number of the first unacknowledged byte.
    snd_una, set_snd_una: u32 = TCP_SOCK "snd_una";
    /// The receiver's window (bytes).
    snd_wnd, set_snd_wnd: u32 = TCP_SOCK "snd_wnd";
    /// Sequence number after the last byte that the application has written.
    write_seq, set_write_seq: u32 = TCP_SOCK "write_seq";
    /// `snd_nxt` when recovery began.
    high_seq, set_high_seq: u32 = TCP_SOCK "high_seq";
    /// `snd_nxt` when a tail loss probe was sent; 0 if none is in flight.
    tlp_high_seq, set_tlp_high_seq: u32 = TCP_SOCK "tlp_high_seq";
    /// `snd_una` at the start of a reduction that may be undone; 0 if none may be.
    undo_marker, set_undo_marker: u32 = TCP_SOCK "undo_marker";
    /// Retransmissions in the reduction of [`Self::undo_marker`] that are not known to be spurious.
    undo_retrans, set_undo_retrans: i32 = TCP_SOCK "undo_retrans";
    /// Retransmissions since the connection began.
    total_retrans, set_total_retrans: u32 = TCP_SOCK "total_retrans";
    /// Time at which a segment was last sent (jiffies).
    lsndtime, set_lsndtime: u32 = TCP_SOCK "lsndtime";
    /// Data segments sent since the connection began.
    data_segs_out, set_data_segs_out: u32 = TCP_SOCK "data_segs_out";
    /// Bytes sent since the connection began.
    bytes_sent, set_bytes_sent: u64 = TCP_SOCK "bytes_sent";
    /// Bytes acknowledged since the connection began.
    bytes_acked, set_bytes_acked: u64 = TCP_SOCK "bytes_acked";
    /// Time at which the first segment of the last sample was sent (us).
    first_tx_mstamp, set_first_tx_mstamp: u64 = TCP_SOCK "first_tx_mstamp";
    /// Time at which `delivered` last increased (us).
    delivered_mstamp, set_delivered_mstamp: u64 = TCP_SOCK "delivered_mstamp";
    /// Segments delivered in the highest rate sample.
    rate_delivered, set_rate_delivered: u32 = TCP_SOCK "rate_delivered";
    /// Interval of the highest rate sample (us).
    rate_interval_us, set_rate_interval_us: u32 = TCP_SOCK "rate_interval_us";
    /// ECN flags: 1 ECN is used (`TCP_ECN_OK`), 2 a reduction must be signalled (`TCP_ECN_QUEUE_CWR`), 4 a mark is echoed
    /// until the peer signals its reduction (`TCP_ECN_DEMAND_CWR`).
    ecn_flags, set_ecn_flags: u8 = TCP_SOCK "ecn_flags";
    /// The pacing rate (bytes / s); all bits set if there is none.
    pacing_rate, set_pacing_rate: u64 = SOCK "sk_pacing_rate";
    /// The largest pacing rate that the application allows (bytes / s).
    max_pacing_rate, set_max_pacing_rate: u64 = SOCK "sk_max_pacing_rate";
    /// Pacing: 0 none, 1 by TCP, 2 by the queue (fq).
    pacing_status, set_pacing_status: u32 = SOCK "sk_pacing_status";
    /// Retransmission timeout (jiffies).
    rto, set_rto: u32 = INET_CONNECTION_SOCK "icsk_rto";
    /// Consecutive timeouts.
    retransmits, set_retransmits: u8 = INET_CONNECTION_SOCK "icsk_retransmits";
    /// Address family: IPv4 (2) or IPv6 (10).
    family, set_family: u16 = SOCK_COMMON "skc_family";
}

impl Socket {
    /// The value of `snd_ssthresh` that means no threshold.
    pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

    /// The socket's control.
    #[must_use]
    pub fn control(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// Time since the simulation began (ns). Programs read it through the kernel's clock, and in us as `tcp_mstamp`.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.host.now
    }

    /// Sets the time (ns).
    #[inline]
    pub fn set_now_ns(&mut self, now: u64) {
        self.host.now = now;
        self.memory.set(const { SOCK_AT + TCP_SOCK.at("tcp_mstamp") }, (now / 1000).to_le_bytes());
        self.memory.set(const { SOCK_AT + TCP_SOCK.at("tcp_clock_cache") }, now.to_le_bytes());
    }

    /// Restarts the random numbers of its programs with a new seed.
    pub fn set_seed(&mut self, seed: u64) {
        self.host.random = seed;
    }

    /// The kernel's coarse clock: [`crate::FIRST_JIFFY`] when the simulation begins, and [`crate::HZ`] ticks per second.
    #[must_use]
    pub fn jiffies(&self) -> u64 {
        self.host.jiffies()
    }

    /// The smallest round-trip time (us); all bits set if none is known.
    #[must_use]
    pub fn min_rtt_us(&self) -> u32 {
        u32::from_le_bytes(self.memory.get(const { SOCK_AT + TCP_SOCK.at("rtt_min") + 4 }))
    }

    /// Sets the smallest round-trip time (us).
    #[inline]
    pub fn set_min_rtt_us(&mut self, value: u32) {
        // The kernel keeps the smallest sample and its two possible successors, each with its time; here all three are
        // equal.
        const AT: usize = SOCK_AT + TCP_SOCK.at("rtt_min");
        for sample in 0..3 {
            self.memory.set(AT + 8 * sample + 4, value.to_le_bytes());
        }
    }

    /// Whether the window limited the sender in the last round trip.
    #[must_use]
    pub fn is_cwnd_limited(&self) -> bool {
        self.bit(const { TCP_SOCK.bit("is_cwnd_limited") })
    }

    /// Sets whether the window limits the sender.
    #[inline]
    pub fn set_cwnd_limited(&mut self, is: bool) {
        self.set_bits(const { TCP_SOCK.bit("is_cwnd_limited") }, 1, is.into());
    }

    /// The recovery state, `TCP_CA_Open` to `TCP_CA_Loss`: 0 open, 1 disorder, 2 reduction (CWR), 3 recovery, 4 loss.
    #[must_use]
    pub fn ca_state(&self) -> u8 {
        self.memory.own[const { SOCK_AT + INET_CONNECTION_SOCK.at("icsk_ca_state") }] & 31
    }

    /// Sets the recovery state without a call of the control; [`Self::set_state`] does both.
    #[inline]
    pub fn set_ca_state(&mut self, state: u8) {
        self.set_bits(const { INET_CONNECTION_SOCK.bit("icsk_ca_state") }, 5, state);
    }

    /// The control's private words in the socket.
    #[must_use]
    pub fn private(&self) -> [u64; 13] {
        let at = const { SOCK_AT + INET_CONNECTION_SOCK.at("icsk_ca_priv") };
        std::array::from_fn(|i| u64::from_le_bytes(self.memory.get(at + 8 * i)))
    }

    fn bit(&self, bit: u32) -> bool {
        self.memory.own[SOCK_AT + bit as usize / 8] >> (bit % 8) & 1 != 0
    }

    #[inline]
    fn set_bits(&mut self, bit: u32, width: u32, value: u8) {
        let byte = &mut self.memory.own[SOCK_AT + bit as usize / 8];
        let mask = ((1_u8 << width) - 1) << (bit % 8);
        *byte = *byte & !mask | (value << (bit % 8)) & mask;
    }

    /// Calls a program with the socket and `arguments`; returns `None` if there is no such program.
    #[inline]
    fn call(&mut self, callback: Callback, arguments: &[u64]) -> Result<Option<u64>, Fault> {
        let Some(entry) = self.loaded.entries[callback as usize] else { return Ok(None) };
        self.memory.set(CONTEXT_AT, (OWN + SOCK_AT as u64).to_le_bytes());
        for (i, argument) in arguments.iter().enumerate() {
            self.memory.set(CONTEXT_AT + 8 * (i + 1), argument.to_le_bytes());
        }
        let code = &self.loaded.code;
        let mut machine = Machine::new(code, &mut self.memory, &mut self.host);
        match machine.run(entry, [OWN + CONTEXT_AT as u64, 0, 0, 0, 0], 0) {
            Ok(result) => Ok(Some(result)),
            Err(trap) => Err(self.fault(trap.at, trap.reason)),
        }
    }

    #[cold]
    fn fault(&self, at: usize, reason: Reason) -> Fault {
        let (program, instruction) = self.loaded.code.place(at);
        Fault::new(&self.loaded.object, program, instruction, reason)
    }
}

/// The kernel's calls. If the control has no program for a call, nothing is run, and the result is 0, or `None` where the
/// result is optional; [`Socket::set_state`] changes the state all the same. If the program has a fault, the call returns it.
#[expect(clippy::missing_errors_doc, reason = "said once, above")]
impl Socket {
    /// Starts the connection, or the use of this control.
    pub fn init(&mut self) -> Result<(), Fault> {
        self.call(Callback::Init, &[]).map(drop)
    }

    /// Ends the connection.
    pub fn release(&mut self) -> Result<(), Fault> {
        self.call(Callback::Release, &[]).map(drop)
    }

    /// The threshold after a loss (segments).
    pub fn ssthresh(&mut self) -> Result<u32, Fault> {
        Ok(self.call(Callback::Ssthresh, &[])?.map_or(0, |result| result as u32))
    }

    /// Reports an ACK up to sequence number `ack` for `acked` segments, outside recovery.
    pub fn cong_avoid(&mut self, ack: u32, acked: u32) -> Result<(), Fault> {
        self.call(Callback::CongAvoid, &[ack.into(), acked.into()]).map(drop)
    }

    /// Tells the control that the recovery state is about to change, and then changes it ([`Self::ca_state`]).
    pub fn set_state(&mut self, state: u8) -> Result<(), Fault> {
        self.call(Callback::SetState, &[state.into()])?;
        self.set_ca_state(state);
        Ok(())
    }

    /// Reports an event of the kernel's `tcp_ca_event`: 0 sending begins with nothing in flight (`CA_EVENT_TX_START`), 1 the
    /// window restarts, 2 a reduction (CWR) is complete, 3 a timeout, 4 a segment without a mark arrived, 5 a segment with a
    /// mark arrived.
    pub fn cwnd_event(&mut self, event: u32) -> Result<(), Fault> {
        self.call(Callback::CwndEvent, &[event.into()]).map(drop)
    }

    /// Reports an ACK with flags: 1 it takes the slow path (`CA_ACK_SLOWPATH`), 2 it changes the receiver's window
    /// (`CA_ACK_WIN_UPDATE`), 4 it echoes a mark (`CA_ACK_ECE`).
    pub fn in_ack_event(&mut self, flags: u32) -> Result<(), Fault> {
        self.call(Callback::InAckEvent, &[flags.into()]).map(drop)
    }

    /// The window to restore after a loss that proved spurious (segments).
    pub fn undo_cwnd(&mut self) -> Result<u32, Fault> {
        Ok(self.call(Callback::UndoCwnd, &[])?.map_or(0, |result| result as u32))
    }

    /// Reports the sample of an ACK.
    pub fn pkts_acked(&mut self, sample: &AckSample) -> Result<(), Fault> {
        if !self.loaded.implements(Callback::PktsAcked) {
            return Ok(());
        }
        let mut set = |name: usize, value: u32| self.memory.set(ACK_SAMPLE_AT + name, value.to_le_bytes());
        set(const { ACK_SAMPLE.at("pkts_acked") }, sample.pkts_acked);
        set(const { ACK_SAMPLE.at("rtt_us") }, sample.rtt_us.cast_unsigned());
        set(const { ACK_SAMPLE.at("in_flight") }, sample.in_flight);
        self.call(Callback::PktsAcked, &[OWN + ACK_SAMPLE_AT as u64]).map(drop)
    }

    /// The smallest number of segments in a burst; `None` if the control leaves that to TCP.
    pub fn min_tso_segs(&mut self) -> Result<Option<u32>, Fault> {
        Ok(self.call(Callback::MinTsoSegs, &[])?.map(|result| result as u32))
    }

    /// Reports an ACK up to `ack`, with the kernel's flags and its delivery-rate sample. Programs for older kernels get
    /// only the sample.
    pub fn cong_control(&mut self, ack: u32, flags: u32, sample: &RateSample) -> Result<(), Fault> {
        if !self.loaded.implements(Callback::CongControl) {
            return Ok(());
        }
        self.set_rate_sample(sample);
        let sample = OWN + RATE_SAMPLE_AT as u64;
        if self.loaded.long_form {
            self.call(Callback::CongControl, &[ack.into(), flags.into(), sample]).map(drop)
        } else {
            self.call(Callback::CongControl, &[sample]).map(drop)
        }
    }

    /// Factor by which the send buffer grows with the window; `None` if the control leaves it to TCP.
    pub fn sndbuf_expand(&mut self) -> Result<Option<u32>, Fault> {
        Ok(self.call(Callback::SndbufExpand, &[])?.map(|result| result as u32))
    }

    fn set_rate_sample(&mut self, sample: &RateSample) {
        macro_rules! set {
            ($($name:ident)*) => {
                $(self.memory.set(
                    const { RATE_SAMPLE_AT + RATE_SAMPLE.at(stringify!($name)) },
                    sample.$name.to_le_bytes(),
                );)*
            };
        }
        set! {
            prior_mstamp prior_delivered prior_delivered_ce delivered delivered_ce interval_us snd_interval_us
            rcv_interval_us rtt_us losses acked_sacked prior_in_flight last_end_seq
        }
        let mut flag = |at: usize, holds: bool| self.memory.set(RATE_SAMPLE_AT + at, [u8::from(holds)]);
        flag(const { RATE_SAMPLE.at("is_app_limited") }, sample.is_app_limited);
        flag(const { RATE_SAMPLE.at("is_retrans") }, sample.is_retrans);
        flag(const { RATE_SAMPLE.at("is_ack_delayed") }, sample.is_ack_delayed);
    }
}

// The parts before the socket in its memory do not overlap; 112 is the size of `struct bpf_tcp_sock`.
const _: () = assert!(
    ACK_SAMPLE_AT + ACK_SAMPLE.size() as usize <= RATE_SAMPLE_AT
        && RATE_SAMPLE_AT + RATE_SAMPLE.size() as usize <= crate::memory::VIEW_AT
        && crate::memory::VIEW_AT + 112 <= SOCK_AT
);
