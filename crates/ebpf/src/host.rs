//! Functions that programs call: helpers by number, functions of the kernel's TCP by name.
//!
//! Source: `bpf-helpers(7)`; TCP functions follow RFC 5681, with Linux's names and units. Differs from Linux: time, random
//! numbers and maps are those of the simulation; helpers that print do nothing; an ACK that a program requests is not sent.

use crate::error::Reason;
use crate::maps::{Definition, Maps, Sort};
use crate::memory::{Denied, MAP, Memory, OWN, SOCK_AT, VIEW_AT};
use crate::target::{INET_CONNECTION_SOCK, TCP_SOCK};

/// Ticks per second of the kernel's coarse clock (`CONFIG_HZ`).
pub const HZ: u64 = 1000;
/// Value of that clock at the start of the simulation, because a kernel's clock reaches 0 five minutes after boot.
pub const FIRST_JIFFY: u64 = 300 * HZ;

/// Number of the helper that calls a program repeatedly; the interpreter implements it.
pub(crate) const LOOP: u64 = 181;

/// Smallest threshold after a loss (segments).
const LEAST_THRESHOLD: u32 = 2;

/// The kernel's error numbers.
const FAULT: u64 = 14_u64.wrapping_neg();
const UNSUPPORTED: u64 = 95_u64.wrapping_neg();

/// Kernel functions, in the order of their numbers here.
static FUNCTIONS: [&str; 9] = [
    "tcp_slow_start",
    "tcp_cong_avoid_ai",
    "tcp_reno_ssthresh",
    "tcp_reno_cong_avoid",
    "tcp_reno_undo_cwnd",
    "bpf_rcu_read_lock",
    "bpf_rcu_read_unlock",
    "bpf_rdonly_cast",
    "bpf_cast_to_kern_ctx",
];

/// The number of a kernel function; `None` if it is not simulated.
pub(crate) fn function(name: &str) -> Option<usize> {
    FUNCTIONS.iter().position(|known| *known == name)
}

/// A value of the kernel's configuration; `None` if there is none here.
pub(crate) fn configuration(name: &str) -> Option<u64> {
    match name {
        "CONFIG_HZ" => Some(HZ),
        // Linux 6.18, because the types are those of that version.
        "LINUX_KERNEL_VERSION" => Some(6 << 16 | 18 << 8),
        _ => None,
    }
}

/// State of a socket in addition to its memory.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub maps: Maps,
    /// Time since the simulation began (ns).
    pub now: u64,
    /// State of the random number generator.
    pub random: u64,
}

const CWND: usize = SOCK_AT + TCP_SOCK.at("snd_cwnd");
const SSTHRESH: usize = SOCK_AT + TCP_SOCK.at("snd_ssthresh");
const COUNT: usize = SOCK_AT + TCP_SOCK.at("snd_cwnd_cnt");
const CLAMP: usize = SOCK_AT + TCP_SOCK.at("snd_cwnd_clamp");
const PRIOR: usize = SOCK_AT + TCP_SOCK.at("prior_cwnd");
const MOST_OUT: usize = SOCK_AT + TCP_SOCK.at("max_packets_out");
const LIMITED: u32 = TCP_SOCK.bit("is_cwnd_limited");

impl Host {
    pub fn jiffies(&self) -> u64 {
        FIRST_JIFFY + self.now / (1_000_000_000 / HZ)
    }

    /// 64 random bits (`SplitMix64`).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Calls a helper. Adds to `cost` the steps that it takes in addition to one.
    pub fn help(
        &mut self,
        number: u64,
        arguments: &[u64; 5],
        maps: &[Definition],
        memory: &mut Memory,
        cost: &mut u64,
    ) -> Result<u64, Reason> {
        let [first, second, third, fourth, _] = *arguments;
        match number {
            1 | 2 | 3 | 195 => self.map(number, arguments, maps, memory, cost),
            // Reads of kernel memory that return an error instead of causing a fault.
            4 | 113 => {
                let size = second as u32 as usize;
                *cost += size as u64 / 8;
                let found = memory.bytes(third, size).map(<[u8]>::to_vec);
                if let Err(denied) = memory.part(first, size) {
                    return Err(refused(denied, first, size));
                }
                let Ok(to) = memory.part(first, size) else { return Ok(FAULT) };
                if let Some(found) = found {
                    to.copy_from_slice(&found);
                    Ok(0)
                } else {
                    to.fill(0);
                    Ok(FAULT)
                }
            }
            5 | 125 | 160 | 208 => Ok(self.now),
            // Helpers that print, return the number of the processor, node or process, or lock; and the one that sends an
            // ACK at once, which is up to the receiver.
            6 | 177 | 8 | 42 | 14 | 93 | 94 | 116 => Ok(0),
            7 => Ok(self.draw() >> 32),
            // Every socket has maps of its own, so all sockets can have the same cookie.
            46 => Ok(1),
            49 | 57 if first != OWN + SOCK_AT as u64 => Err(not_the_socket("bpf_setsockopt")),
            49 if (second as u32, third as u32) == (6, 13) => {
                let what = "bpf_setsockopt chooses another congestion control, which is not simulated";
                Err(Reason::Argument(what.into()))
            }
            49 | 57 => Ok(UNSUPPORTED),
            95 | 137 => Ok(if first == OWN + SOCK_AT as u64 { first } else { 0 }),
            96 => Ok(if first == OWN + SOCK_AT as u64 { view(memory) } else { 0 }),
            107 => {
                let (map, of) = storage(maps, first, second, "bpf_sk_storage_get")?;
                *cost += of.value as u64 / 8;
                let value = if third == 0 { None } else { memory.bytes(third, of.value).map(<[u8]>::to_vec) };
                if third != 0 && value.is_none() {
                    return Err(Reason::Read { address: third, size: of.value });
                }
                self.maps.storage(map, of, &value.unwrap_or_default(), fourth & 1 != 0, memory)
            }
            108 => {
                let (map, of) = storage(maps, first, second, "bpf_sk_storage_delete")?;
                Ok(self.maps.delete(map, of, &[]))
            }
            118 => Ok(self.jiffies()),
            _ => Err(Reason::Helper(number as u32)),
        }
    }

    fn map(
        &mut self,
        number: u64,
        arguments: &[u64; 5],
        maps: &[Definition],
        memory: &mut Memory,
        cost: &mut u64,
    ) -> Result<u64, Reason> {
        let [first, second, third, fourth, _] = *arguments;
        let map = first.checked_sub(MAP).and_then(|i| usize::try_from(i).ok());
        let Some((map, of)) = map.and_then(|i| Some((i, maps.get(i)?))) else {
            return Err(Reason::Argument("its first argument must be a map".into()));
        };
        if !matches!(of.sort, Sort::Array | Sort::Hash) {
            return Err(Reason::Argument(format!("map {}: maps of this kind are not simulated in this way", of.name)));
        }
        *cost += (of.key + of.value) as u64 / 8;
        let key = memory.bytes(second, of.key).ok_or(Reason::Read { address: second, size: of.key })?.to_vec();
        match number {
            2 => {
                let value = memory.bytes(third, of.value).ok_or(Reason::Read { address: third, size: of.value })?;
                let value = value.to_vec();
                self.maps.update(map, of, &key, &value, fourth, memory)
            }
            3 => Ok(self.maps.delete(map, of, &key)),
            // There is only one processor.
            195 if third as u32 != 0 => Ok(0),
            _ => self.maps.lookup(map, of, &key, memory),
        }
    }
}

/// Calls a kernel function.
pub(crate) fn call(number: u64, arguments: &[u64; 5], memory: &mut Memory) -> Result<u64, Reason> {
    let name = FUNCTIONS.get(number as usize).copied().unwrap_or_default();
    let [first, second, third, ..] = *arguments;
    if name.starts_with("tcp_") && first != OWN + SOCK_AT as u64 {
        return Err(not_the_socket(name));
    }
    let cwnd = word(memory, CWND);
    Ok(match name {
        "tcp_slow_start" => slow_start(memory, second as u32).into(),
        "tcp_cong_avoid_ai" => {
            avoid(memory, second as u32, third as u32)?;
            0
        }
        "tcp_reno_ssthresh" => (cwnd / 2).max(LEAST_THRESHOLD).into(),
        "tcp_reno_undo_cwnd" => cwnd.max(word(memory, PRIOR)).into(),
        "tcp_reno_cong_avoid" => {
            if is_limited(memory) {
                let mut acked = third as u32;
                if cwnd < word(memory, SSTHRESH) {
                    acked = slow_start(memory, acked);
                }
                if acked > 0 {
                    let cwnd = word(memory, CWND);
                    avoid(memory, cwnd, acked)?;
                }
            }
            0
        }
        "bpf_rdonly_cast" | "bpf_cast_to_kern_ctx" => first,
        _ => 0,
    })
}

fn not_the_socket(name: &str) -> Reason {
    Reason::Argument(format!("{name}: its first argument must be the socket"))
}

fn refused(denied: Denied, address: u64, size: usize) -> Reason {
    match denied {
        Denied::Outside => Reason::Write { address, size },
        Denied::ReadOnly => Reason::ReadOnly { what: Memory::name(address) },
    }
}

/// The storage map of a call; its second argument must be the socket.
fn storage<'a>(maps: &'a [Definition], map: u64, socket: u64, name: &str) -> Result<(usize, &'a Definition), Reason> {
    if socket != OWN + SOCK_AT as u64 {
        return Err(Reason::Argument(format!("{name}: its second argument must be the socket")));
    }
    let number = map.checked_sub(MAP).and_then(|i| usize::try_from(i).ok());
    let found = number.and_then(|i| Some((i, maps.get(i)?))).filter(|(_, of)| of.sort == Sort::Storage);
    found.ok_or_else(|| Reason::Argument(format!("{name}: its first argument must be a map of sockets' storage")))
}

fn word(memory: &Memory, at: usize) -> u32 {
    u32::from_le_bytes(memory.get(at))
}

fn set_word(memory: &mut Memory, at: usize, value: u32) {
    memory.set(at, value.to_le_bytes());
}

/// Adds a segment to the window for each acknowledged segment, up to the threshold. Returns the remaining acknowledged
/// segments.
fn slow_start(memory: &mut Memory, acked: u32) -> u32 {
    let cwnd = word(memory, CWND);
    let grown = cwnd.wrapping_add(acked).min(word(memory, SSTHRESH));
    set_word(memory, CWND, grown.min(word(memory, CLAMP)));
    acked.wrapping_sub(grown.wrapping_sub(cwnd))
}

/// Adds a segment to the window for each `w` acknowledged segments.
fn avoid(memory: &mut Memory, w: u32, acked: u32) -> Result<(), Reason> {
    if w == 0 {
        return Err(Reason::Argument("tcp_cong_avoid_ai: its second argument must not be 0".into()));
    }
    let (mut cwnd, mut count) = (word(memory, CWND), word(memory, COUNT));
    // Credit from a time with a larger `w` gives a segment at once.
    if count >= w {
        count = 0;
        cwnd = cwnd.wrapping_add(1);
    }
    count = count.wrapping_add(acked);
    if count >= w {
        cwnd = cwnd.wrapping_add(count / w);
        count %= w;
    }
    set_word(memory, COUNT, count);
    set_word(memory, CWND, cwnd.min(word(memory, CLAMP)));
    Ok(())
}

/// Whether the window limits the sender; in slow start it is enough that half of the window was used.
fn is_limited(memory: &Memory) -> bool {
    let [byte] = memory.get(SOCK_AT + LIMITED as usize / 8);
    let cwnd = word(memory, CWND);
    byte >> (LIMITED % 8) & 1 != 0
        || (cwnd < word(memory, SSTHRESH) && u64::from(cwnd) < 2 * u64::from(word(memory, MOST_OUT)))
}

/// Writes the socket in the form of `struct bpf_tcp_sock` of the kernel's interface; returns its address.
fn view(memory: &mut Memory) -> u64 {
    const WORDS: [&str; 20] = [
        "snd_cwnd",
        "srtt_us",
        "rtt_min",
        "snd_ssthresh",
        "rcv_nxt",
        "snd_nxt",
        "snd_una",
        "mss_cache",
        "ecn_flags",
        "rate_delivered",
        "rate_interval_us",
        "packets_out",
        "retrans_out",
        "total_retrans",
        "segs_in",
        "data_segs_in",
        "segs_out",
        "data_segs_out",
        "lost_out",
        "sacked_out",
    ];
    for (i, name) in WORDS.into_iter().enumerate() {
        let at = SOCK_AT + TCP_SOCK.at(name);
        let value = match name {
            "ecn_flags" => u32::from(memory.own[at]),
            // The newest of three samples; each begins with its time.
            "rtt_min" => word(memory, at + 4),
            _ => word(memory, at),
        };
        set_word(memory, VIEW_AT + 4 * i, value);
    }
    for (i, name) in ["bytes_received", "bytes_acked"].into_iter().enumerate() {
        let value: [u8; 8] = memory.get(SOCK_AT + TCP_SOCK.at(name));
        memory.set(VIEW_AT + 80 + 8 * i, value);
    }
    for (i, name) in ["dsack_dups", "delivered", "delivered_ce"].into_iter().enumerate() {
        let value = word(memory, SOCK_AT + TCP_SOCK.at(name));
        set_word(memory, VIEW_AT + 96 + 4 * i, value);
    }
    let [retransmits] = memory.get(const { SOCK_AT + INET_CONNECTION_SOCK.at("icsk_retransmits") });
    set_word(memory, VIEW_AT + 108, retransmits.into());
    OWN + VIEW_AT as u64
}
