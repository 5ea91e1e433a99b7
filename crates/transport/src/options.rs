//! TCP options of a scenario besides the law: the recovery, and the keys of `tcp = {…}`.

use base::{Bytes, Flags, Span};
use law::Needs;
use std::ops::RangeInclusive;

/// ECN codepoint of data segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT, except that senders whose law needs marks send ECT(0).
    Off,
    /// ECT(0): RFC 3168.
    On,
    /// ECT(1): the sender is scalable (RFC 9331). Queues may treat such packets differently from those with ECT(0).
    L4s,
}

impl Ecn {
    /// All values, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Off, "off"), (Self::On, "on"), (Self::L4s, "l4s")];

    /// The value called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The flags of data from a sender whose law has these `needs`.
    #[must_use]
    pub fn flags(self, needs: Needs) -> Flags {
        match self {
            _ if needs.l4s => Flags::ECT.with(Flags::L4S),
            Self::Off if !needs.marks => Flags::NONE,
            Self::Off | Self::On => Flags::ECT,
            Self::L4s => Flags::ECT.with(Flags::L4S),
        }
    }
}

/// Treatment of a congestion window that the application does not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowValidation {
    /// The window stays as it is.
    None,
    /// The window is the initial window after a pause longer than the retransmission timeout: RFC 5681, Section 4.1.
    Rfc5681,
    /// RFC 2861 as in Linux: the window halves with each retransmission timeout of a pause. While it is not used in
    /// full, it moves halfway to the part that was used.
    Linux,
    /// The window stays, as in Linux with `tcp_slow_start_after_idle = 0`.
    LinuxKept,
    /// The window is kept for five minutes; a loss in this time cuts the part that was used: RFC 7661.
    Rfc7661,
}

impl WindowValidation {
    /// All values, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::None, "none"),
        (Self::Rfc5681, "rfc5681"),
        (Self::Linux, "linux"),
        (Self::LinuxKept, "linux-kept"),
        (Self::Rfc7661, "rfc7661"),
    ];
}

/// Computation of the retransmission timeout from round-trip times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rto {
    /// `srtt + 4 rttvar`, and at least the minimum timeout: RFC 6298, Section 2.
    Rfc6298,
    /// `srtt` plus a variation that is at least the minimum timeout and falls slowly: `tcp_rtt_estimator` of Linux.
    Linux,
}

impl Rto {
    /// All values, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Rfc6298, "rfc6298"), (Self::Linux, "linux")];
}

/// Rule that spaces the segments of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// No pacing, unless the law names a rate.
    None,
    /// Linux's rule, with these numbers of windows per round-trip time.
    Linux(PacingFactors),
    /// RFC 9002's recommendation for QUIC: 1.25 windows per round-trip time, ten packets at once after a pause.
    Quic,
}

base::keys! {
    /// Pacing rates of Linux, in windows per round-trip time.
    pub struct PacingFactors {
        /// Windows per round-trip time while the window is below half of the slow-start threshold.
        slow_start: f64 = 2.0, in 0.1..=100.0;
        /// Windows per round-trip time otherwise.
        avoidance: f64 = 1.2, in 0.1..=100.0;
    }
}

impl Copy for PacingFactors {}

/// Reductions of the window that are undone if they prove spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Reductions of a sender with Linux's timers on a path that reorders.
    Auto,
    /// None.
    None,
    /// All.
    Always,
}

impl Undo {
    /// All values, with their names in scenario files.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Auto, "auto"), (Self::None, "none"), (Self::Always, "always")];
}

impl Options {
    /// Whether the receiver reports duplicates and the sender uses the reports; `reorders` says whether the path
    /// reorders.
    #[must_use]
    pub fn notices_duplicates(&self, reorders: bool) -> bool {
        reorders || self.undo == Undo::Always
    }

    /// Whether reductions that prove spurious are undone; `reorders` says whether the path reorders.
    #[must_use]
    pub fn undoes(&self, reorders: bool) -> bool {
        self.undo == Undo::Always || self.undo == Undo::Auto && self.rto == Rto::Linux && reorders
    }
}

/// Number of duplicate ACKs, or of SACKed segments above one, after which a segment counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DupThresh {
    /// This number.
    Segments(u32),
    /// Three at first. When a segment that was not lost arrives late, the number rises to that of the segments that
    /// overtook it (Linux: `tcp_reordering`, up to `tcp_max_reordering`).
    Adaptive,
}

impl DupThresh {
    /// The number at first: three if it adapts (RFC 5681).
    #[must_use]
    pub const fn initial(self) -> u32 {
        match self {
            Self::Segments(segments) => segments,
            Self::Adaptive => DUP_THRESH,
        }
    }
}

impl Default for DupThresh {
    fn default() -> Self {
        Self::Segments(DUP_THRESH)
    }
}

/// Number of duplicate ACKs, or of SACKed segments above it, after which a segment counts as lost (RFC 5681, RFC 6675).
pub const DUP_THRESH: u32 = 3;

/// Number of segments that a sender hands over at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Burst {
    /// Each segment by itself.
    None,
    /// Linux's automatic size (`tcp_tso_autosize`) for a device with this limit.
    Linux(Device),
    /// This number of segments, if the window has room.
    Segments(u32),
}

base::keys! {
    /// Limits of a network interface for one burst.
    pub struct Device {
        /// Largest number of segments of a burst, or "size": as many as fill 64 KiB, 45 of 1,448 bytes or 7 of 8,948.
        max_segments: Option<u32> = None, unit "segments", in 2..=65_536, or "size";
    }
}

impl Copy for Device {}

impl Device {
    /// Largest number of segments of a burst, for a sender whose segments carry `mss` bytes.
    #[must_use]
    pub fn segments(self, mss: u32) -> u32 {
        self.max_segments.unwrap_or(law::GSO_PAYLOAD / mss.max(1)).max(1)
    }
}

base::keys! {
    /// Limits on how a receiver's interface merges segments before TCP sees them.
    pub struct Coalescing {
        /// Largest number of segments that are handed over at once.
        segments: u32 = 44, in 2..=65_536;
        /// Longest time after the first segment: the delay after which the interface interrupts.
        wait: Span = Span::micros(50), eg "50 us", in TIMER;
    }
}

impl Copy for Coalescing {}

/// Limit that a receiver sets on the segments in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReceiveWindow {
    /// No limit.
    None,
    /// A fixed number of segments.
    Segments(u32),
    /// A window that grows as Linux's does.
    Autotuned(Autotuning),
}

impl ReceiveWindow {
    /// Number of segments of a fixed window, if there is one.
    #[must_use]
    pub fn segments(self) -> Option<u32> {
        if let Self::Segments(segments) = self { Some(segments) } else { None }
    }
}

base::keys! {
    /// Range of sizes within which a receiver tunes its buffer, and the share of it that is window.
    pub struct Autotuning {
        /// The buffer at first: the second number of Linux's tcp_rmem.
        initial: Bytes = Bytes(131_072), eg "128 KiB", in BUFFER;
        /// The largest buffer: the third number of Linux's tcp_rmem, 6 MiB up to Linux 6.15 and 32 MiB since 6.16.
        max: Bytes = Bytes(6 << 20), eg "6 MiB", in BUFFER;
        /// Share of the buffer that is window: the rest is for what the kernel keeps beside the data. Linux begins at a half and, since 6.6, goes on with what arrives.
        share: f64 = 0.5, in 0.01..=1.0;
    }
}

impl Copy for Autotuning {}

/// Allowed sizes of a receive buffer: from one page to the largest `int` of the kernel.
const BUFFER: RangeInclusive<Bytes> = Bytes(4096)..=Bytes((1 << 31) - 1);

base::keys! {
    /// TCP besides the law.
    pub struct Options {
        /// Smallest retransmission timeout.
        min_rto: Span = Span::secs(1), eg "200 ms", in TIMER;
        /// Computation of the retransmission timeout: "rfc6298" (srtt + 4 rttvar, and no less than min_rto), or "linux"
        /// (srtt + rttvar, of which rttvar is no less than min_rto).
        rto: Rto = Rto::Rfc6298, since "0.1";
        /// Whether every ACK gives a round-trip sample, also of a retransmission (RFC 7323, 4.1), as timestamps allow; header has to count their 12 bytes.
        timestamps: bool = false, since "0.1";
        /// Granularity of the timer.
        rto_granularity: Span = Span::millis(1), eg "1 ms", in TIMER;
        /// Bytes of IP and TCP header in every packet, and the size of an ACK: 40 without options, 52 with timestamps, 72 over IPv6.
        header: Bytes = Bytes(40), eg "52 B", in Bytes(40)..=Bytes(120), since "0.1";
        /// Initial window, in segments.
        initial_window: u32 = 2, in 1..=1000;
        /// Initial slow-start threshold, in segments, or "none".
        initial_ssthresh: Option<f64> = None, unit "segments", in 2.0..=1e9, or "none", needs [SlowStart];
        /// Receive window: in whole segments, "none", "linux" (it begins at half of 128 KiB and grows with what arrives, up to half of 6 MiB), or the same with other buffers, { max = "32 MiB" }. Default: "none".
        receive_window: ReceiveWindow = ReceiveWindow::None, eg "linux";
        /// Number of in-order segments per acknowledgement; 1 acknowledges each.
        delayed_ack: u32 = 1, in 1..=64;
        /// Longest delay of a delayed acknowledgement.
        delayed_ack_timeout: Span = Span::millis(200), eg "200 ms", in TIMER, needs [Not("delayed_ack", "1")];
        /// ACKs at the start, and after a pause longer than a retransmission timeout, that are not delayed: 16 in Linux.
        quick_acks: u32 = 0, in 0..=64, since "0.1", needs [Not("delayed_ack", "1")];
        /// Whether the first two duplicate ACKs release new data (RFC 3042); RACK's pipe lets them anyway.
        limited_transmit: bool = true, needs [Not("recovery", "rack")];
        /// Explicit congestion notification: "off", "on" (RFC 3168), or "l4s" (ECT(1), RFC 9331).
        ecn: Ecn = Ecn::Off, needs [Marks];
        /// Smallest window after a mark, in segments: 1 (RFC 3168, 6.1.2: then a segment for each timeout as long as marks are echoed), or 2, as in Linux. Laws that count marks keep 2.
        ecn_floor: u32 = 1, unit "segments", in 1..=2, since "0.1", needs [Not("ecn", "off")];
        /// Each packet is sent a uniform time in [0, this] late, order kept: "8 us".
        send_jitter: Span = Span::ZERO, eg "8 us", in Span::ZERO..=Span::secs(1);
        /// Spacing of segments: "none", "linux" (2 windows per srtt in slow start, 1.2 afterwards), "quic" (RFC 9002),
        /// or Linux's way with other factors. A law that names a rate keeps it and takes only the spacing. Default:
        /// "none".
        pacing: Pacing = Pacing::None, eg "linux", since "0.1";
        /// Segments that leave at once, as segmentation offload sends them: "none" (one by one), "linux" (about a millisecond at the pacing rate, at least two, at most 64 KiB; shorter ones wait for the next ACK), { max_segments = 128 } for another device, or a number of segments. Default: "none".
        burst: Burst = Burst::None, eg "linux", since "0.1";
        /// Merging of segments in a row by the receiver's interface before TCP sees them: "none", or { segments = 44,
        /// wait = "50 us" }. One ACK acknowledges what is merged.
        receive_offload: Option<Coalescing> = None, or "none", since "0.1";
        /// Segments by which one ACK may grow the window in slow start (L of RFC 3465), or "none": all that it acknowledges, as in Linux. Default: 2.
        abc_limit: Option<u32> = Some(2), unit "segments", in 1..=1000, or "none", since "0.1";
        /// Treatment of a window that the application does not use: "rfc5681" (after a pause longer than the timeout it
        /// is the initial window), "none" (it stays), "linux" (RFC 2861 as Linux has it), "linux-kept" (it stays, as
        /// with tcp_slow_start_after_idle = 0), "rfc7661" (it stays for five minutes, and losses count for what was
        /// used).
        window_validation: WindowValidation = WindowValidation::Rfc5681, since "0.1", needs [Writes];
        /// Duplicate ACKs, or SACKed segments above it, after which a segment counts as lost: a number, or "adaptive" (3, and as
        /// many as overtook a segment that arrived after all, at most 300: Linux's tcp_reordering, RFC 9002, 6.1.1; without SACK
        /// it stays 3). RACK waits for its reordering window before.
        dup_thresh: DupThresh = DupThresh::Segments(DUP_THRESH), eg "3", since "0.1";
        /// Reductions that are undone when they prove spurious, by duplicates (RFC 3708), timestamps (RFC 3522) or, after a timeout
        /// under RACK, originals (RFC 5682): "auto" (as Linux does, where rto is "linux" and a link of the path has `reorder`), "none", or
        /// "always". Receivers report duplicates, and RACK's window adapts, where a link has `reorder`, and with "always".
        undo: Undo = Undo::Auto, since "0.1";
    }
}

/// Allowed settings of a timer.
const TIMER: RangeInclusive<Span> = Span::nanos(1)..=Span::secs(3600);

impl Options {
    /// Copy with limits in bytes converted to segments of `mss` bytes.
    #[must_use]
    pub fn with_mss(&self, mss: u32) -> Self {
        let burst = match self.burst {
            Burst::Linux(device) => Burst::Linux(Device { max_segments: Some(device.segments(mss)) }),
            burst => burst,
        };
        Self { burst, ..self.clone() }
    }

    /// The profile `tcp = "linux"`: the timers of Linux with timestamps (`tcp_timestamps`), initial window 10 (RFC 6928), an ACK for
    /// two segments within 40 ms after 16 quick ones (`TCP_MAX_QUICKACKS`), a receive window that grows within `tcp_rmem`, a window
    /// that falls while it is not used (`tcp_slow_start_after_idle`), slow start by all that an
    /// ACK acknowledges (`tcp_slow_start`), and bursts as segmentation offload makes them (`tcp_tso_autosize`). With
    /// these timers, reductions that prove spurious are undone where a link reorders (`tcp_undo_cwnd_reduction`).
    #[must_use]
    pub fn linux() -> Self {
        Self {
            min_rto: Span::millis(200),
            rto: Rto::Linux,
            timestamps: true,
            ecn_floor: 2,
            burst: Burst::Linux(Device::default()),
            initial_window: 10,
            delayed_ack: 2,
            delayed_ack_timeout: Span::millis(40),
            quick_acks: 16,
            receive_window: ReceiveWindow::Autotuned(Autotuning::default()),
            window_validation: WindowValidation::Linux,
            header: Bytes(52),
            abc_limit: None,
            ..Self::default()
        }
    }
}
