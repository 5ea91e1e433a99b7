//! A socket under a congestion control from an object: the fields that the program sees, and the kernel's calls.
//!
//! Source: Linux's `struct tcp_sock` and `tcp_congestion_ops`, whose names and units all of this has. Differs from
//! Linux: variables and maps of an object are each socket's own, so that no result depends on what other sockets do or
//! when.

use crate::error::{Fault, Reason};
use crate::host::Host;
use crate::machine::{Code, Machine};
use crate::maps::Maps;
use crate::memory::{ACK_SAMPLE_AT, CONTEXT_AT, Memory, OWN, RATE_SAMPLE_AT, SOCK_AT};
use crate::object::Callback;
use crate::target::{ACK_SAMPLE, INET_CONNECTION_SOCK, RATE_SAMPLE, SOCK, SOCK_COMMON, TCP_SOCK};
use std::fmt;
use std::sync::Arc;

/// A congestion control, ready to run: one for all sockets that have it.
pub struct Loaded {
    pub(crate) object: String,
    pub(crate) name: String,
    pub(crate) flags: u32,
    pub(crate) long_form: bool,
    /// Number of the program for each [`Callback`].
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

    /// Its flags in the kernel: 1, anybody may choose it; 2, it wants ECN.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether it has a program for this.
    #[must_use]
    pub fn implements(&self, callback: Callback) -> bool {
        self.entries[callback as usize].is_some()
    }

    /// Instructions of all its programs.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.code.ops.len()
    }

    /// A socket of a new connection, with ten segments of 1448 bytes as its window and no threshold. `seed` is where
    /// the random numbers of its programs begin.
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

/// A socket with its congestion control. A clone goes on by itself.
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
    /// Segments newly acknowledged, those by SACK among them.
    pub pkts_acked: u32,
    /// Round-trip time of the newest segment that it is for (us), -1 where it gives none.
    pub rtt_us: i32,
    /// Segments under way when that segment left.
    pub in_flight: u32,
}

/// A sample of the delivery rate: the kernel's `rate_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Time at which the newest of these segments was sent (us).
    pub prior_mstamp: u64,
    /// `delivered` then (segments).
    pub prior_delivered: u32,
    /// `delivered_ce` then (segments).
    pub prior_delivered_ce: u32,
    /// Segments delivered in the interval, -1 without a sample.
    pub delivered: i32,
    /// Number of those that were marked.
    pub delivered_ce: i32,
    /// Interval (us), -1 without a sample.
    pub interval_us: i64,
    /// Time in which they were sent (us).
    pub snd_interval_us: u32,
    /// Time in which they were acknowledged (us).
    pub rcv_interval_us: u32,
    /// Round-trip time of the newest of them (us), -1 where there is none.
    pub rtt_us: i64,
    /// Segments newly known to be lost.
    pub losses: i32,
    /// Segments newly acknowledged, by SACK or not.
    pub acked_sacked: u32,
    /// Segments under way before the ACK.
    pub prior_in_flight: u32,
    /// Sequence number after the newest segment that it is for.
    pub last_end_seq: u32,
    /// Whether the application limited the rate.
    pub is_app_limited: bool,
    /// Whether it is for a retransmission.
    pub is_retrans: bool,
    /// Whether the ACK was probably delayed.
    pub is_ack_delayed: bool,
}

/// Methods that read and write a field of the socket where it lies.
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

                /// Sets it. See the method without `set_`.
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
    /// The threshold of slow start (segments).
    snd_ssthresh, set_snd_ssthresh: u32 = TCP_SOCK "snd_ssthresh";
    /// Part of the next segment of the window that is earned (segments acknowledged).
    snd_cwnd_cnt, set_snd_cwnd_cnt: u32 = TCP_SOCK "snd_cwnd_cnt";
    /// The largest window that there may be (segments).
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
    /// Segments that have left and are not acknowledged.
    packets_out, set_packets_out: u32 = TCP_SOCK "packets_out";
    /// The most of them in the last window.
    max_packets_out, set_max_packets_out: u32 = TCP_SOCK "max_packets_out";
    /// Retransmissions among them.
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
    /// `delivered` up to which samples are limited by the application, 0 if none is.
    app_limited, set_app_limited: u32 = TCP_SOCK "app_limited";
    /// Degree of reordering known of the network (segments).
    reordering, set_reordering: u32 = TCP_SOCK "reordering";
    /// Number of times that it reordered segments.
    reord_seen, set_reord_seen: u32 = TCP_SOCK "reord_seen";
    /// Smoothed round-trip time, times 8 (us / 8).
    srtt_us, set_srtt_us: u32 = TCP_SOCK "srtt_us";
    /// Its mean deviation, times 4 (us / 4).
    mdev_us, set_mdev_us: u32 = TCP_SOCK "mdev_us";
    /// The largest of that in the last round trip (us / 4).
    mdev_max_us, set_mdev_max_us: u32 = TCP_SOCK "mdev_max_us";
    /// Variance term of the timeout (us / 4).
    rttvar_us, set_rttvar_us: u32 = TCP_SOCK "rttvar_us";
    /// Payload of a segment (bytes).
    mss_cache, set_mss_cache: u32 = TCP_SOCK "mss_cache";
    /// Segment size announced to the peer (bytes).
    advmss, set_advmss: u16 = TCP_SOCK "advmss";
    /// TCP's own header (bytes).
    tcp_header_len, set_tcp_header_len: u16 = TCP_SOCK "tcp_header_len";
    /// Sequence number of the next byte.
    snd_nxt, set_snd_nxt: u32 = TCP_SOCK "snd_nxt";
    /// Sequence number of the first byte that is not acknowledged.
    snd_una, set_snd_una: u32 = TCP_SOCK "snd_una";
    /// The receiver's window (bytes).
    snd_wnd, set_snd_wnd: u32 = TCP_SOCK "snd_wnd";
    /// Sequence number of the last byte that the application has written.
    write_seq, set_write_seq: u32 = TCP_SOCK "write_seq";
    /// `snd_nxt` when recovery began.
    high_seq, set_high_seq: u32 = TCP_SOCK "high_seq";
    /// `snd_nxt` when a tail loss probe left, 0 if none is under way.
    tlp_high_seq, set_tlp_high_seq: u32 = TCP_SOCK "tlp_high_seq";
    /// `snd_una` when a reduction began that may be undone, 0 if none may.
    undo_marker, set_undo_marker: u32 = TCP_SOCK "undo_marker";
    /// Retransmissions of it that are not known to be needless.
    undo_retrans, set_undo_retrans: i32 = TCP_SOCK "undo_retrans";
    /// Retransmissions since the connection began.
    total_retrans, set_total_retrans: u32 = TCP_SOCK "total_retrans";
    /// Time at which a segment was last sent (jiffies).
    lsndtime, set_lsndtime: u32 = TCP_SOCK "lsndtime";
    /// Segments sent with data since the connection began.
    data_segs_out, set_data_segs_out: u32 = TCP_SOCK "data_segs_out";
    /// Bytes sent since the connection began.
    bytes_sent, set_bytes_sent: u64 = TCP_SOCK "bytes_sent";
    /// Bytes acknowledged since the connection began.
    bytes_acked, set_bytes_acked: u64 = TCP_SOCK "bytes_acked";
    /// Time at which the first segment of the last sample was sent (us).
    first_tx_mstamp, set_first_tx_mstamp: u64 = TCP_SOCK "first_tx_mstamp";
    /// Time at which `delivered` last rose (us).
    delivered_mstamp, set_delivered_mstamp: u64 = TCP_SOCK "delivered_mstamp";
    /// Segments delivered in the best sample of the rate.
    rate_delivered, set_rate_delivered: u32 = TCP_SOCK "rate_delivered";
    /// The interval of it (us).
    rate_interval_us, set_rate_interval_us: u32 = TCP_SOCK "rate_interval_us";
    /// Flags of ECN: 1, it is used; 4, a reduction is to be signalled.
    ecn_flags, set_ecn_flags: u8 = TCP_SOCK "ecn_flags";
    /// The rate at which segments leave (bytes / s); all bits set if none is.
    pacing_rate, set_pacing_rate: u64 = SOCK "sk_pacing_rate";
    /// The largest such rate that the application allows (bytes / s).
    max_pacing_rate, set_max_pacing_rate: u64 = SOCK "sk_max_pacing_rate";
    /// Pacing: 0 none, 1 by TCP, 2 by the queue (fq).
    pacing_status, set_pacing_status: u32 = SOCK "sk_pacing_status";
    /// Timeout of retransmissions (jiffies).
    rto, set_rto: u32 = INET_CONNECTION_SOCK "icsk_rto";
    /// Timeouts in a row.
    retransmits, set_retransmits: u8 = INET_CONNECTION_SOCK "icsk_retransmits";
    /// IPv4 (2) or IPv6 (10).
    family, set_family: u16 = SOCK_COMMON "skc_family";
}

impl Socket {
    /// A threshold that is none.
    pub const NO_THRESHOLD: u32 = 0x7fff_ffff;

    /// The control that it has.
    #[must_use]
    pub fn control(&self) -> &Arc<Loaded> {
        &self.loaded
    }

    /// Time since the simulation began (ns): what programs read as time, and as `tcp_mstamp`.
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

    /// Begins the random numbers of its programs anew.
    pub fn set_seed(&mut self, seed: u64) {
        self.host.random = seed;
    }

    /// The same by the kernel's coarse clock, of which [`crate::HZ`] ticks make a second.
    #[must_use]
    pub fn jiffies(&self) -> u64 {
        self.host.jiffies()
    }

    /// The smallest round-trip time (us); all bits set where none is known.
    #[must_use]
    pub fn min_rtt_us(&self) -> u32 {
        u32::from_le_bytes(self.memory.get(const { SOCK_AT + TCP_SOCK.at("rtt_min") + 4 }))
    }

    /// Sets the smallest round-trip time (us).
    #[inline]
    pub fn set_min_rtt_us(&mut self, value: u32) {
        // The kernel keeps the smallest and two that may follow it, each with its time; here they are alike.
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

    /// Sets whether the window holds the sender back.
    #[inline]
    pub fn set_cwnd_limited(&mut self, is: bool) {
        self.set_bits(const { TCP_SOCK.bit("is_cwnd_limited") }, 1, is.into());
    }

    /// The state of recovery: 0 open, 1 disorder, 2 reduction, 3 recovery, 4 loss.
    #[must_use]
    pub fn ca_state(&self) -> u8 {
        self.memory.own[const { SOCK_AT + INET_CONNECTION_SOCK.at("icsk_ca_state") }] & 31
    }

    /// Sets the state of recovery, and does not tell the control; [`Self::set_state`] does both.
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

    /// Calls a program with arguments after the socket; `None` if there is none.
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

/// The kernel's calls. Each does nothing where the control has no program for it, and fails with what the program does
/// wrong.
#[expect(clippy::missing_errors_doc, reason = "said once, above")]
impl Socket {
    /// The connection begins, or takes this control.
    pub fn init(&mut self) -> Result<(), Fault> {
        self.call(Callback::Init, &[]).map(drop)
    }

    /// The connection ends.
    pub fn release(&mut self) -> Result<(), Fault> {
        self.call(Callback::Release, &[]).map(drop)
    }

    /// Threshold after a loss (segments).
    pub fn ssthresh(&mut self) -> Result<u32, Fault> {
        Ok(self.call(Callback::Ssthresh, &[])?.map_or(0, |result| result as u32))
    }

    /// An ACK up to sequence number `ack` for `acked` segments, outside of recovery.
    pub fn cong_avoid(&mut self, ack: u32, acked: u32) -> Result<(), Fault> {
        self.call(Callback::CongAvoid, &[ack.into(), acked.into()]).map(drop)
    }

    /// The state of recovery is about to change; afterwards it has ([`Self::ca_state`]).
    pub fn set_state(&mut self, state: u8) -> Result<(), Fault> {
        self.call(Callback::SetState, &[state.into()])?;
        self.set_ca_state(state);
        Ok(())
    }

    /// Something happens to the window: 0 sending after all was acknowledged, 1 the window begins anew, 2 a reduction
    /// is complete, 3 a timeout, 4 a segment without and 5 one with a mark has come.
    pub fn cwnd_event(&mut self, event: u32) -> Result<(), Fault> {
        self.call(Callback::CwndEvent, &[event.into()]).map(drop)
    }

    /// An ACK has come: 1 it takes the slow path, 2 it changes the receiver's window, 4 it tells of a mark.
    pub fn in_ack_event(&mut self, flags: u32) -> Result<(), Fault> {
        self.call(Callback::InAckEvent, &[flags.into()]).map(drop)
    }

    /// Window after a spurious loss (segments).
    pub fn undo_cwnd(&mut self) -> Result<u32, Fault> {
        Ok(self.call(Callback::UndoCwnd, &[])?.map_or(0, |result| result as u32))
    }

    /// Called for an ACK, with its sample.
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

    /// The least segments in a burst; `None` if the control leaves that to TCP.
    pub fn min_tso_segs(&mut self) -> Result<Option<u32>, Fault> {
        Ok(self.call(Callback::MinTsoSegs, &[])?.map(|result| result as u32))
    }

    /// An ACK up to `ack`, with flags of the kernel's, and its sample of the delivery rate. Programs for older kernels
    /// get the sample alone.
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

// What lies before the socket in its memory does not overlap.
const _: () = assert!(
    ACK_SAMPLE_AT + ACK_SAMPLE.size() as usize <= RATE_SAMPLE_AT
        && RATE_SAMPLE_AT + RATE_SAMPLE.size() as usize <= crate::memory::VIEW_AT
        && crate::memory::VIEW_AT + 112 <= SOCK_AT
);
