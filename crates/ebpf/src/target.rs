//! The kernel's types in the simulated socket, which congestion controls read. Names, widths and values are the kernel's.
//! Offsets differ from the kernel's: programs find fields by name (CO-RE).
//!
//! Source: names and types of Linux 6.18, from its BTF.

use crate::btf::{Btf, Id, Kind as BtfKind, Member as BtfMember, Type};
use std::sync::LazyLock;

/// Type of a field.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    U8,
    U16,
    U32,
    U64,
    I32,
    I64,
    Bool,
    /// Bit field with this width, within a byte.
    Bits(u8),
    Inner(&'static Struct),
    Words(u32),
    Bytes(u32),
    Samples(u32),
    /// Pointer to a structure with this name.
    Pointer(&'static str),
    /// Pointer to a function with this number of parameters.
    Function(u32),
}

use Kind::{Bits, Bool, Bytes, Function, I32, I64, Inner, Pointer, Samples, U8, U16, U32, U64, Words};

pub(crate) struct Struct {
    name: &'static str,
    fields: &'static [(&'static str, Kind)],
}

const fn structure(name: &'static str, fields: &'static [(&'static str, Kind)]) -> Struct {
    Struct { name, fields }
}

impl Kind {
    /// Size and alignment, in bytes.
    const fn size(self) -> (u32, u32) {
        match self {
            U8 | Bool | Bits(_) => (1, 1),
            U16 => (2, 2),
            U32 | I32 => (4, 4),
            U64 | I64 | Pointer(_) | Function(_) => (8, 8),
            Inner(of) => (of.size(), 8),
            Words(count) => (8 * count, 8),
            Bytes(count) => (count, 1),
            Samples(count) => (8 * count, 4),
        }
    }
}

impl Struct {
    /// Offset of field `number`, in bits; for a number after the last field, the size of the structure.
    const fn place(&self, number: usize) -> u32 {
        let (mut at, mut i) = (0_u32, 0);
        loop {
            let past = i >= self.fields.len();
            if past {
                return at.next_multiple_of(64);
            }
            let kind = self.fields[i].1;
            let place = match kind {
                Bits(width) if at % 8 + width as u32 <= 8 => at,
                _ => at.next_multiple_of(8 * kind.size().1),
            };
            if i == number {
                return place;
            }
            at = place
                + match kind {
                    Bits(width) => width as u32,
                    _ => 8 * kind.size().0,
                };
            i += 1;
        }
    }

    /// Size in bytes.
    pub const fn size(&self) -> u32 {
        self.place(self.fields.len()) / 8
    }

    /// Offset of the field with this name, in bits; the field must exist.
    pub const fn bit(&self, name: &str) -> u32 {
        let mut i = 0;
        while i < self.fields.len() {
            if same(self.fields[i].0, name) {
                return self.place(i);
            }
            i += 1;
        }
        panic!("no such field")
    }

    /// Offset of the field with this name, in bytes; the field must exist.
    pub const fn at(&self, name: &str) -> usize {
        self.bit(name) as usize / 8
    }

    /// The field that contains a byte: names of the innermost structure and of the field.
    pub fn field(&self, byte: u32) -> Option<(&'static str, &'static str)> {
        for (i, (name, kind)) in self.fields.iter().enumerate() {
            let from = self.place(i) / 8;
            if let Some(within) = byte.checked_sub(from)
                && within < kind.size().0
            {
                return match kind {
                    Inner(of) => of.field(within).or(Some((of.name, name))),
                    _ => Some((self.name, name)),
                };
            }
        }
        None
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

pub(crate) static SOCK_COMMON: Struct = structure(
    "sock_common",
    &[
        ("skc_daddr", U32),
        ("skc_rcv_saddr", U32),
        ("skc_hash", U32),
        ("skc_dport", U16),
        ("skc_num", U16),
        ("skc_family", U16),
        ("skc_state", U8),
        ("skc_bound_dev_if", I32),
        ("skc_flags", U64),
    ],
);

pub(crate) static SOCK: Struct = structure(
    "sock",
    &[
        ("__sk_common", Inner(&SOCK_COMMON)),
        ("sk_wmem_queued", I32),
        ("sk_sndbuf", I32),
        ("sk_rcvbuf", I32),
        ("sk_pacing_status", U32),
        ("sk_pacing_rate", U64),
        ("sk_max_pacing_rate", U64),
        ("sk_gso_max_size", U32),
        ("sk_gso_max_segs", U16),
        ("sk_protocol", U16),
        ("sk_type", U16),
        ("sk_pacing_shift", U8),
        ("sk_userlocks", U8),
        ("sk_mark", U32),
        ("sk_priority", U32),
        ("sk_err", I32),
    ],
);

pub(crate) static INET_SOCK: Struct =
    structure("inet_sock", &[("sk", Inner(&SOCK)), ("inet_saddr", U32), ("inet_sport", U16), ("tos", U8)]);

static ACK: Struct = structure(
    "",
    &[
        ("pending", U8),
        ("quick", U8),
        ("pingpong", U8),
        ("retry", U8),
        ("lrcvtime", U32),
        ("last_seg_size", U16),
        ("rcv_mss", U16),
    ],
);

pub(crate) static INET_CONNECTION_SOCK: Struct = structure(
    "inet_connection_sock",
    &[
        ("icsk_inet", Inner(&INET_SOCK)),
        ("icsk_rto", U32),
        ("icsk_rto_min", U32),
        ("icsk_pmtu_cookie", U32),
        ("icsk_ca_ops", Pointer("tcp_congestion_ops")),
        ("icsk_ca_state", Bits(5)),
        ("icsk_ca_initialized", Bits(1)),
        ("icsk_ca_setsockopt", Bits(1)),
        ("icsk_ca_dst_locked", Bits(1)),
        ("icsk_retransmits", U8),
        ("icsk_pending", U8),
        ("icsk_backoff", U8),
        ("icsk_syn_retries", U8),
        ("icsk_probes_out", U8),
        ("icsk_ack", Inner(&ACK)),
        ("icsk_user_timeout", U32),
        ("icsk_ca_priv", Words(13)),
    ],
);

static MINMAX_SAMPLE: Struct = structure("minmax_sample", &[("t", U32), ("v", U32)]);

static MINMAX: Struct = structure("minmax", &[("s", Samples(3))]);

static RACK: Struct = structure(
    "tcp_rack",
    &[
        ("mstamp", U64),
        ("rtt_us", U32),
        ("end_seq", U32),
        ("last_delivered", U32),
        ("reo_wnd_steps", U8),
        ("reo_wnd_persist", Bits(5)),
        ("dsack_seen", Bits(1)),
        ("advanced", Bits(1)),
    ],
);

pub(crate) static TCP_SOCK: Struct = structure(
    "tcp_sock",
    &[
        ("inet_conn", Inner(&INET_CONNECTION_SOCK)),
        // The fields that programs write are next to each other.
        ("snd_cwnd", U32),
        ("snd_ssthresh", U32),
        ("snd_cwnd_cnt", U32),
        ("snd_cwnd_stamp", U32),
        ("app_limited", U32),
        ("ecn_flags", U8),
        ("is_cwnd_limited", Bits(1)),
        ("is_sack_reneg", Bits(1)),
        ("rate_app_limited", Bits(1)),
        ("tlp_retrans", Bits(1)),
        ("nonagle", Bits(4)),
        ("thin_lto", Bits(1)),
        ("repair", Bits(1)),
        ("frto", Bits(1)),
        ("tcp_header_len", U16),
        ("advmss", U16),
        ("gso_segs", U16),
        ("total_rto", U16),
        ("snd_cwnd_clamp", U32),
        ("snd_cwnd_used", U32),
        ("prior_cwnd", U32),
        ("prior_ssthresh", U32),
        ("prr_delivered", U32),
        ("prr_out", U32),
        ("max_packets_out", U32),
        ("cwnd_usage_seq", U32),
        ("packets_out", U32),
        ("retrans_out", U32),
        ("sacked_out", U32),
        ("lost_out", U32),
        ("lost", U32),
        ("delivered", U32),
        ("delivered_ce", U32),
        ("reordering", U32),
        ("reord_seen", U32),
        ("srtt_us", U32),
        ("mdev_us", U32),
        ("mdev_max_us", U32),
        ("rttvar_us", U32),
        ("rtt_seq", U32),
        ("rtt_min", Inner(&MINMAX)),
        ("mss_cache", U32),
        ("rcv_nxt", U32),
        ("copied_seq", U32),
        ("snd_nxt", U32),
        ("snd_una", U32),
        ("snd_sml", U32),
        ("snd_up", U32),
        ("snd_wnd", U32),
        ("max_window", U32),
        ("write_seq", U32),
        ("high_seq", U32),
        ("tlp_high_seq", U32),
        ("retrans_stamp", U32),
        ("undo_marker", U32),
        ("undo_retrans", I32),
        ("total_retrans", U32),
        ("lsndtime", U32),
        ("rcv_tstamp", U32),
        ("rcv_wnd", U32),
        ("rcv_ssthresh", U32),
        ("segs_in", U32),
        ("segs_out", U32),
        ("data_segs_in", U32),
        ("data_segs_out", U32),
        ("dsack_dups", U32),
        ("rate_delivered", U32),
        ("rate_interval_us", U32),
        ("bytes_sent", U64),
        ("bytes_acked", U64),
        ("bytes_received", U64),
        ("bytes_retrans", U64),
        ("tcp_mstamp", U64),
        ("tcp_clock_cache", U64),
        ("tcp_wstamp_ns", U64),
        ("first_tx_mstamp", U64),
        ("delivered_mstamp", U64),
        ("rack", Inner(&RACK)),
    ],
);

pub(crate) static RATE_SAMPLE: Struct = structure(
    "rate_sample",
    &[
        ("prior_mstamp", U64),
        ("prior_delivered", U32),
        ("prior_delivered_ce", U32),
        ("delivered", I32),
        ("delivered_ce", I32),
        ("interval_us", I64),
        ("snd_interval_us", U32),
        ("rcv_interval_us", U32),
        ("rtt_us", I64),
        ("losses", I32),
        ("acked_sacked", U32),
        ("prior_in_flight", U32),
        ("last_end_seq", U32),
        ("is_app_limited", Bool),
        ("is_retrans", Bool),
        ("is_ack_delayed", Bool),
    ],
);

pub(crate) static ACK_SAMPLE: Struct =
    structure("ack_sample", &[("pkts_acked", U32), ("rtt_us", I32), ("in_flight", U32)]);

static TCP_CONGESTION_OPS: Struct = structure(
    "tcp_congestion_ops",
    &[
        ("ssthresh", Function(1)),
        ("cong_avoid", Function(3)),
        ("set_state", Function(2)),
        ("cwnd_event", Function(2)),
        ("in_ack_event", Function(2)),
        ("pkts_acked", Function(2)),
        ("min_tso_segs", Function(1)),
        ("cong_control", Function(4)),
        ("undo_cwnd", Function(1)),
        ("sndbuf_expand", Function(1)),
        ("name", Bytes(16)),
        ("key", U32),
        ("flags", U32),
        ("init", Function(1)),
        ("release", Function(1)),
    ],
);

/// All structures; inner ones come first.
static STRUCTS: [&Struct; 12] = [
    &SOCK_COMMON,
    &SOCK,
    &INET_SOCK,
    &ACK,
    &INET_CONNECTION_SOCK,
    &MINMAX_SAMPLE,
    &MINMAX,
    &RACK,
    &TCP_SOCK,
    &RATE_SAMPLE,
    &ACK_SAMPLE,
    &TCP_CONGESTION_OPS,
];

/// Enumeration values that programs use, with their names.
static ENUMS: [(&str, &[(&str, u64)]); 5] = [
    (
        "tcp_ca_event",
        &[
            ("CA_EVENT_TX_START", 0),
            ("CA_EVENT_CWND_RESTART", 1),
            ("CA_EVENT_COMPLETE_CWR", 2),
            ("CA_EVENT_LOSS", 3),
            ("CA_EVENT_ECN_NO_CE", 4),
            ("CA_EVENT_ECN_IS_CE", 5),
        ],
    ),
    (
        "tcp_ca_state",
        &[("TCP_CA_Open", 0), ("TCP_CA_Disorder", 1), ("TCP_CA_CWR", 2), ("TCP_CA_Recovery", 3), ("TCP_CA_Loss", 4)],
    ),
    ("tcp_ca_ack_event_flags", &[("CA_ACK_SLOWPATH", 1), ("CA_ACK_WIN_UPDATE", 2), ("CA_ACK_ECE", 4)]),
    ("sk_pacing", &[("SK_PACING_NONE", 0), ("SK_PACING_NEEDED", 1), ("SK_PACING_FQ", 2)]),
    (
        "inet_csk_ack_state_t",
        &[
            ("ICSK_ACK_SCHED", 1),
            ("ICSK_ACK_TIMER", 2),
            ("ICSK_ACK_PUSHED", 4),
            ("ICSK_ACK_PUSHED2", 8),
            ("ICSK_ACK_NOW", 16),
            ("ICSK_ACK_NOMEM", 32),
        ],
    ),
];

/// The fields of the socket that programs may write, as in Linux's `bpf_tcp_ca_btf_struct_access`.
static WRITABLE: [(&Struct, &str); 10] = [
    (&SOCK, "sk_pacing_rate"),
    (&SOCK, "sk_pacing_status"),
    (&INET_CONNECTION_SOCK, "icsk_ca_priv"),
    (&INET_CONNECTION_SOCK, "icsk_ack"),
    (&TCP_SOCK, "snd_cwnd"),
    (&TCP_SOCK, "snd_cwnd_cnt"),
    (&TCP_SOCK, "snd_cwnd_stamp"),
    (&TCP_SOCK, "snd_ssthresh"),
    (&TCP_SOCK, "ecn_flags"),
    (&TCP_SOCK, "app_limited"),
];

/// For each byte of the socket, the number of bytes from there on that programs may write.
pub(crate) static MASK: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut mask = vec![0; TCP_SOCK.size() as usize];
    for (of, name) in WRITABLE {
        // All four structures begin at the start of the socket. The first byte of `icsk_ack` is `pending`.
        let at = of.at(name);
        let size = of.fields.iter().find(|(field, _)| *field == name).map_or(0, |(_, kind)| kind.size().0);
        let size = if name == "icsk_ack" { 1 } else { size };
        for i in 0..size {
            mask[at + i as usize] = (size - i) as u8;
        }
    }
    mask
});

/// All these structures and values as the types of a kernel.
pub(crate) static TYPES: LazyLock<Btf> = LazyLock::new(|| Builder::default().build());

#[derive(Default)]
struct Builder {
    btf: Btf,
}

impl Builder {
    fn text(&mut self, name: &str) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.btf.strings.len() as u32;
        self.btf.strings.extend(name.as_bytes());
        self.btf.strings.push(0);
        at
    }

    fn add(&mut self, name: &str, kind: BtfKind) -> Id {
        let name = self.text(name);
        self.btf.types.push(Type { name, kind });
        self.btf.types.len() as Id - 1
    }

    fn int(&mut self, name: &str, size: u32, signed: bool) -> Id {
        self.add(name, BtfKind::Int { size, bits: 8 * size as u8, offset: 0, signed })
    }

    fn named(&self, name: &str) -> Id {
        let found = self.btf.types.iter().position(|one| self.btf.text(one.name) == name);
        found.expect("inner structures are built first") as Id
    }

    fn build(mut self) -> Btf {
        self.btf.strings.push(0);
        self.add("", BtfKind::Void);
        let unsigned = [
            self.int("unsigned char", 1, false),
            self.int("unsigned short", 2, false),
            self.int("unsigned int", 4, false),
            self.int("long long unsigned int", 8, false),
        ];
        let signed = [self.int("int", 4, true), self.int("long int", 8, true)];
        let boolean = self.int("_Bool", 1, false);
        let byte = self.int("char", 1, true);
        for (name, of) in [("__u8", 0), ("u8", 0), ("__u16", 1), ("u16", 1), ("__u32", 2), ("u32", 2), ("__u64", 3)] {
            self.add(name, BtfKind::Typedef(unsigned[of]));
        }
        self.add("u64", BtfKind::Typedef(unsigned[3]));
        for (name, values) in ENUMS {
            let values = values.iter().map(|(name, value)| (self.text(name), *value)).collect();
            self.add(name, BtfKind::Enum { size: 4, values, signed: false });
        }
        let mut unnamed = 0;
        for of in STRUCTS {
            let mut members = Vec::new();
            for (i, (name, kind)) in of.fields.iter().enumerate() {
                let array = |element, count| BtfKind::Array { element, count };
                let id = match kind {
                    U8 | Bits(_) => unsigned[0],
                    U16 => unsigned[1],
                    U32 => unsigned[2],
                    U64 => unsigned[3],
                    I32 => signed[0],
                    I64 => signed[1],
                    Bool => boolean,
                    Inner(inner) if inner.name.is_empty() => unnamed,
                    Inner(inner) => self.named(inner.name),
                    Words(count) => self.add("", array(unsigned[3], *count)),
                    Bytes(count) => self.add("", array(byte, *count)),
                    Samples(count) => {
                        let element = self.named("minmax_sample");
                        self.add("", array(element, *count))
                    }
                    Pointer(to) => {
                        let to = self.add(to, BtfKind::Forward);
                        self.add("", BtfKind::Pointer(to))
                    }
                    Function(count) => {
                        let to = self.add("", BtfKind::Prototype(*count));
                        self.add("", BtfKind::Pointer(to))
                    }
                };
                let bits = if let Bits(width) = kind { *width } else { 0 };
                let name = self.text(name);
                members.push(BtfMember { name, id, offset: of.place(i), bits });
            }
            let id = self.add(of.name, BtfKind::Struct { size: of.size(), members });
            if of.name.is_empty() {
                unnamed = id;
            }
        }
        self.btf
    }
}
