//! Calls of the laws' hooks, drawn so that they look like connections and also leave all reason, and what their C answers,
//! compiled for this machine.

use base::Span;
use law::kernel::Params;
use law::kernel::params::{Ghstcp, Highspeed, Htcp, NrHstcp, Scalable};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Hooks, as in `crates/law/kernel/vectors.h`.
pub const RESET: u32 = 0;
pub const SAMPLE: u32 = 1;
pub const AVOID: u32 = 2;
pub const BACKOFF: u32 = 3;
pub const TIMEOUT: u32 = 4;

const GHSTCP: u32 = 1;
const LAWS: u32 = 5;
const WORDS: usize = 13;

/// Input of a hook: `struct el_signal` of `crates/law/kernel/arithmetic.h`, whose fields these are. Times in microseconds, 0
/// for unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signal {
    pub now: u64,
    pub delivered: u64,
    pub acked: u32,
    pub rtt: u32,
    pub srtt: u32,
    pub min_rtt: u32,
    pub segment: u32,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    pub law: u32,
    pub hook: u32,
    pub cwnd: u32,
    pub heard: Signal,
}

impl Vector {
    /// `struct el_vector`.
    pub fn bytes(&self) -> Vec<u8> {
        let h = &self.heard;
        let mut list = Vec::with_capacity(56);
        for word in [self.law, self.hook, self.cwnd, 0] {
            list.extend(word.to_ne_bytes());
        }
        for word in [h.now, h.delivered] {
            list.extend(word.to_ne_bytes());
        }
        for word in [h.acked, h.rtt, h.srtt, h.min_rtt, h.segment, 0] {
            list.extend(word.to_ne_bytes());
        }
        list
    }
}

/// Result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub value: u64,
    pub state: [u64; WORDS],
}

impl Answer {
    /// Bytes of `struct el_answer`.
    pub const SIZE: usize = 8 * (1 + WORDS);

    pub fn read(bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("eight")));
        let value = words.next().expect("is first");
        Self { value, state: std::array::from_fn(|_| words.next().expect("thirteen")) }
    }
}

/// Two halves in one word, as memory has them.
fn pair(first: u32, second: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_ne_bytes());
    bytes[4..].copy_from_slice(&second.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

/// Folder of the C sources.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../law/kernel")
}

/// Answers of the C code to calls in a row: from the program that `NATIVE` names, else compiled with Rust's linker.
pub fn native(params: &Params, list: &[Vector]) -> Vec<Answer> {
    let made = std::env::var_os("NATIVE").is_none().then(compiled);
    let program = made.clone().unwrap_or_else(|| std::env::var_os("NATIVE").expect("is set").into());
    let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it can be run");
    let mut asked = params.bytes();
    asked.extend(list.iter().flat_map(Vector::bytes));
    let mut stdin = child.stdin.take().expect("is piped");
    let writer = std::thread::spawn(move || stdin.write_all(&asked));
    let output = child.wait_with_output().expect("it ends when its input does");
    writer.join().expect("does not panic").expect("it reads all");
    if let Some(made) = made {
        std::fs::remove_file(made).expect("it has just been made");
    }
    assert!(output.status.success(), "native.c failed");
    let answers: Vec<Answer> = output.stdout.chunks_exact(Answer::SIZE).map(Answer::read).collect();
    assert_eq!(answers.len(), list.len());
    answers
}

fn compiled() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-");
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("native-{}-{thread}", std::process::id()));
    let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"];
    let built = Command::new("cc").args(flags).arg(folder().join("native.c")).arg("-o").arg(&program).status();
    assert!(built.expect("cc, which links Rust's programs, is there").success(), "native.c does not compile");
    program
}

/// Parameters that are not the defaults, which the object has in it.
pub fn other_params() -> Params {
    let fits = "within the kernel's numbers";
    let of_highspeed = law::highspeed::Params { low_window: 20.0, high_decrease: 0.2, ..Default::default() };
    let of_ghstcp = law::ghstcp::Params {
        z_threshold: 1.5,
        min_samples: 12,
        window_factor: 0.5,
        rtt_clock: Span::micros(50),
        ..Default::default()
    };
    let of_nr = law::nr_hstcp::Params { reference_rtt: Span::millis(40), max_decrease: 0.4, ..Default::default() };
    let of_scalable = law::scalable::Params { increase: 0.03, legacy_window: 5.0, ..Default::default() };
    let of_htcp =
        law::htcp::Params { beta_max: 0.7, rtt_scaling: true, low_speed: Span::millis(300), ..Default::default() };
    Params {
        highspeed: Highspeed::of(&of_highspeed).expect(fits),
        ghstcp: Ghstcp::of(&of_ghstcp).expect(fits),
        nr_hstcp: NrHstcp::of(&of_nr).expect(fits),
        scalable: Scalable::of(&of_scalable).expect(fits),
        htcp: Htcp::of(&of_htcp).expect(fits),
    }
}

struct Chance(Xoshiro256PlusPlus);

impl Chance {
    /// Below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    /// Random number of any magnitude up to `bits` bits.
    fn any(&mut self, bits: u32) -> u64 {
        let bits = self.below(u64::from(bits) + 1) as u32;
        if bits == 0 { 0 } else { self.0.next_u64() >> (64 - bits) }
    }
}

/// A path, on which a queue builds, drains or stays.
struct Path {
    cwnd: u32,
    rtt: u32,
    segment: u32,
    slope: i64,
    noise: u64,
    gap: u64,
    left: u64,
}

impl Path {
    fn new(chance: &mut Chance) -> Self {
        let rtt = 50 + chance.any(22) as u32;
        // Mostly small, so that tests of a window's samples end between losses.
        let bits = if chance.below(4) > 0 { 7 } else { 20 };
        let cwnd = 1 + chance.any(bits) as u32;
        Self {
            cwnd,
            rtt,
            segment: [1500, 1500, 576, 9000, 64, 65_535][chance.below(6) as usize],
            slope: chance.below(5).cast_signed() - 2,
            noise: 1 + chance.any(12),
            // All paths have one clock, and a test's samples must lie within seconds.
            gap: 1 + u64::from(rtt / cwnd).min(1000),
            left: 8 + chance.below(3 * u64::from(cwnd.min(300)) + 20),
        }
    }
}

/// Calls drawn always alike.
pub fn random(count: usize) -> Vec<Vector> {
    let mut chance = Chance(Xoshiro256PlusPlus::seed_from_u64(1));
    let mut list = Vec::with_capacity(count);
    let mut paths: Vec<Path> = (0..LAWS).map(|_| Path::new(&mut chance)).collect();
    let mut now = 1_000_000_000;
    let mut delivered = 0;
    while list.len() < count {
        let law = chance.below(u64::from(LAWS)) as u32;
        let path = &mut paths[law as usize];
        // Now and then whatever fits into the fields.
        if chance.below(300) == 0 {
            let heard = Signal {
                now: chance.any(50),
                delivered: chance.any(32),
                acked: chance.any(32) as u32,
                rtt: chance.any(31) as u32,
                srtt: chance.any(29) as u32,
                min_rtt: chance.any(31) as u32,
                segment: chance.any(17) as u32,
            };
            list.push(Vector { law, hook: 1 + chance.below(4) as u32, cwnd: 1 + chance.any(21) as u32, heard });
            continue;
        }
        if path.left == 0 {
            *path = Path::new(&mut chance);
            if chance.below(3) == 0 {
                list.push(Vector { law, hook: RESET, cwnd: 0, heard: Signal::default() });
            }
        }
        path.left -= 1;
        now += path.gap + chance.below(path.gap);
        let acked = if chance.below(20) == 0 { chance.any(7) as u32 } else { 1 + chance.below(2) as u32 };
        delivered += u64::from(acked);
        path.rtt = path.rtt.saturating_add_signed(path.slope as i32).max(1);
        let rtt = path.rtt + chance.below(path.noise) as u32;
        let min_rtt = path.rtt / 4 * 3;
        let heard = Signal { now, delivered, acked, rtt, srtt: path.rtt, min_rtt, segment: path.segment };
        list.push(Vector { law, hook: SAMPLE, cwnd: path.cwnd, heard });
        let hook = match chance.below(400) {
            0 => TIMEOUT,
            1..4 => BACKOFF,
            _ => AVOID,
        };
        list.push(Vector { law, hook, cwnd: path.cwnd, heard });
    }
    list.truncate(count);
    list
}

/// Asserts that the calls can find a difference: verdicts of both kinds, growth, cuts, states that fill.
pub fn assert_varied(list: &[Vector], answers: &[Answer]) {
    let count = |holds: &dyn Fn(&Vector, &Answer) -> bool| {
        list.iter().zip(answers).filter(|(vector, answer)| holds(vector, answer)).count()
    };
    let decided = count(&|v, a| v.law == GHSTCP && v.hook == SAMPLE && a.value == 1);
    let rising =
        count(&|v, a| v.law == GHSTCP && v.hook == SAMPLE && a.value == 1 && a.state[8] == pair(a.state[8] as u32, 1));
    assert!(rising > decided / 10 && rising < decided * 9 / 10, "{rising} of {decided} tests say that times rise");
    for law in 0..LAWS {
        let grown = count(&|v, a| v.law == law && v.hook == AVOID && a.value > u64::from(v.cwnd));
        let cut = count(&|v, a| v.law == law && v.hook == BACKOFF && a.value < u64::from(v.cwnd));
        assert!(grown > 100 && cut > 50, "law {law}: grows {grown} times, is cut {cut} times");
    }
}
