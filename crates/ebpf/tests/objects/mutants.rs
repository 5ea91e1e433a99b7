//! Damaged objects: whatever is read, loaded and run, there is a line that says what is wrong, or a result.

use super::control::{Built, EXIT};
use super::damage::{Chance, damage, parts};
use super::isa::insn;
use ebpf::{AckSample, Fault, Object, RateSample, Socket};

/// Characters of a message; names have at most 512.
const LONGEST: usize = 1400;

fn run(socket: &mut Socket) -> Result<(), Fault> {
    socket.init()?;
    socket.set_snd_ssthresh(2);
    socket.set_cwnd_limited(true);
    socket.pkts_acked(&AckSample { pkts_acked: 1, rtt_us: 1000, in_flight: 9 })?;
    socket.cong_avoid(1, 2)?;
    socket.cong_control(1, 2, &RateSample::default())?;
    socket.ssthresh()?;
    socket.set_state(3)?;
    socket.cwnd_event(3)?;
    socket.undo_cwnd()?;
    Ok(())
}

/// Reads, loads and runs all controls; returns how far it got: 0 not read, 1 not loaded, 2 a fault, 3 to the end.
fn outcome(bytes: &[u8]) -> usize {
    let said = |text: String| {
        assert!(text.starts_with("x.o: ") && !text.contains('\n') && text.len() < LONGEST, "{text}");
    };
    let object = match Object::read("x.o", bytes) {
        Ok(object) => object,
        Err(error) => {
            said(error.to_string());
            return 0;
        }
    };
    let mut furthest = 1;
    for control in object.controls() {
        match object.load(control.name(), &[]) {
            Ok(loaded) => {
                furthest = furthest.max(2);
                match run(&mut loaded.socket(1)) {
                    Ok(()) => furthest = 3,
                    Err(fault) => said(fault.to_string()),
                }
            }
            Err(error) => said(error.to_string()),
        }
    }
    furthest
}

/// A small object with much in it.
fn small() -> Vec<u8> {
    let uses = [
        insn(0x79, 6, 1, 0, 0),
        insn(0xb7, 7, 0, 0, 1),
        insn(0x63, 10, 7, -4, 0),
        insn(0x18, 1, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0xbf, 2, 10, 0, 0),
        insn(0x07, 2, 0, 0, -4),
        insn(0x85, 0, 0, 0, 1),
        insn(0x15, 0, 0, 2, 0),
        insn(0xb7, 3, 0, 0, 1),
        insn(0xdb, 0, 3, 0, 0),
        insn(0x18, 2, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0x79, 3, 2, 0, 0),
        insn(0x61, 4, 6, 0, 0),
        insn(0xbf, 1, 6, 0, 0),
        insn(0xb7, 2, 0, 0, 1),
        insn(0x85, 0, 1, 0, -1),
        insn(0x85, 0, 1, 0, -1),
        insn(0xb7, 0, 0, 0, 0),
        EXIT,
    ];
    let mut built = Built::new(&uses).map("table", 1, 9).data(".rodata", "value", vec![3; 8]);
    let int = built.types.int("u32", 4, false);
    let id = built.types.structure("tcp_sock", 64, &[("snd_cwnd", int, 0), ("snd_ssthresh", int, 32)]);
    built.adaptations.push(("cong_avoid".into(), 14, id, "0:1".into(), 0));
    built = built.outside("tcp_slow_start", false).with("leaf", &[insn(0xb7, 0, 0, 0, 9), EXIT]);
    built = built.refers(3, "table", 1).refers(11, "value", 1).refers(17, "tcp_slow_start", 10);
    built.refers(18, "leaf", 10).bytes()
}

fn mutate(original: &[u8], seeds: std::ops::Range<u64>) -> [usize; 4] {
    assert_eq!(outcome(original), 3, "as it is, it runs");
    let likely = parts(original);
    let mut counts = [0; 4];
    for seed in seeds {
        let mut bytes = original.to_vec();
        damage(&mut bytes, &likely, &mut Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
        counts[outcome(&bytes)] += 1;
    }
    counts
}

fn laws() -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../law/kernel/laws.bpf.o");
    std::fs::read(path).expect("is part of the project")
}

#[test]
fn damaged_objects_are_errors_or_faults_and_no_more() {
    // Some end in each way, so that all parts are reached.
    let counts = mutate(&small(), 0..20_000);
    assert!(counts.iter().all(|count| *count > 200), "{counts:?}");
    let counts = mutate(&laws(), 0..300);
    assert!(counts[3] > 50, "{counts:?}");
}

/// `MUTANTS=1000000 cargo test --release -p elephan-ebpf --test objects million -- --ignored --nocapture`
#[test]
#[ignore = "minutes"]
fn a_million_damaged_objects() {
    let count = std::env::var("MUTANTS").map_or(1_000_000, |text| text.parse().expect("a number"));
    let first = std::env::var("FIRST").map_or(0, |text| text.parse().expect("a number"));
    let of_laws = count / 50;
    eprintln!("of a small object: {:?}", mutate(&small(), first..first + count - of_laws));
    eprintln!("of the laws: {:?}", mutate(&laws(), first..first + of_laws));
}
