//! Features of objects beyond instructions: maps, storage, variables, configuration, calls, types that differ.

use super::control::{Built, EXIT};
use super::isa::insn;
use ebpf::{AckSample, Object, RateSample, Socket};

const ADDRESS: u32 = 1;
const CALL: u32 = 10;

fn socket(built: Built) -> Socket {
    let object = Object::read("mine.bpf.o", &built.bytes()).unwrap_or_else(|e| panic!("{e}"));
    object.load("mine", &[]).unwrap_or_else(|e| panic!("{e}")).socket(1)
}

/// Result of `ssthresh`, which is r0 of the program before it.
fn returns(mut built: Built, program: &[[u8; 8]]) -> u32 {
    built.programs.retain(|(name, _)| name != "cong_avoid");
    let mut built = built.with("cong_avoid", program);
    // The relocations are those of `cong_avoid`, which returns nothing; so it is asked as `ssthresh`.
    for (program, ..) in &mut built.relocations {
        *program = "ssthresh".into();
    }
    for (program, ..) in &mut built.adaptations {
        *program = "ssthresh".into();
    }
    let built = built.with("ssthresh", program).with("cong_avoid", &[EXIT]);
    socket(built).ssthresh().unwrap_or_else(|e| panic!("{e}"))
}

/// The map `table` in r1, and a key and a value on the stack, in r2 and r3.
fn table(key: i32, value: i32) -> Vec<[u8; 8]> {
    vec![
        insn(0x18, 1, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0x62, 10, 0, -4, key),
        insn(0x7a, 10, 0, -16, value),
        insn(0xbf, 2, 10, 0, 0),
        insn(0x07, 2, 0, 0, -4),
        insn(0xbf, 3, 10, 0, 0),
        insn(0x07, 3, 0, 0, -16),
        insn(0xb7, 4, 0, 0, 0),
    ]
}

const LOADS: [[u8; 8]; 3] = [[0x55, 0, 1, 0, 0, 0, 0, 0], EXIT, [0x79, 0, 0, 0, 0, 0, 0, 0]];

#[test]
fn maps_keep_what_is_put_into_them() {
    let call = |number| insn(0x85, 0, 0, 0, number);
    let build = |kind| Built::new(&[EXIT]).map("table", kind, 2).refers(0, "table", ADDRESS);
    let twice = |built: Built, at: usize| built.refers(at, "table", ADDRESS);
    for kind in [1, 5, 9] {
        let program = [&table(7, 0)[..], &[call(1)], &LOADS, &[EXIT]].concat();
        assert_eq!(returns(build(kind), &program), 0, "nothing is there at first");
        let program = [&table(7, 55)[..], &[call(2)], &table(7, 0), &[call(1)], &LOADS, &[EXIT]].concat();
        assert_eq!(returns(twice(build(kind), 10), &program), 55);
        let program = [&table(7, 55)[..], &[call(2)], &table(7, 0), &[call(3), EXIT]].concat();
        assert_eq!(returns(twice(build(kind), 10), &program), 0);
        let program = [&table(7, 55)[..], &[call(3), EXIT]].concat();
        assert_eq!(returns(build(kind), &program), 2_u32.wrapping_neg(), "ENOENT");
    }
    // Three into two.
    let three = [&table(1, 1)[..], &[call(2)], &table(2, 1), &[call(2)], &table(3, 1), &[call(2), EXIT]].concat();
    assert_eq!(returns(twice(twice(build(1), 10), 20), &three), 7_u32.wrapping_neg(), "E2BIG");
    // An array has all its entries, and no others.
    let program = [&table(1, 0)[..], &[call(1)], &LOADS, &[EXIT]].concat();
    assert_eq!(returns(build(2), &program), 0);
    let program = [&table(1, 0)[..], &[call(1), insn(0x15, 0, 0, 1, 0), insn(0xb7, 0, 0, 0, 1), EXIT]].concat();
    assert_eq!(returns(build(2), &program), 1);
    let program = [&table(2, 0)[..], &[call(1), EXIT]].concat();
    assert_eq!(returns(build(2), &program), 0);
    let program = [&table(2, 9)[..], &[call(2), EXIT]].concat();
    assert_eq!(returns(build(2), &program), 7_u32.wrapping_neg(), "E2BIG");
}

#[test]
fn a_socket_has_storage() {
    // bpf_sk_storage_get(map, sk, 0, flags), adds one, returns it.
    let get = |flags| {
        vec![
            insn(0x79, 2, 1, 0, 0),
            insn(0x18, 1, 0, 0, 0),
            insn(0, 0, 0, 0, 0),
            insn(0xb7, 3, 0, 0, 0),
            insn(0xb7, 4, 0, 0, flags),
            insn(0x85, 0, 0, 0, 107),
            insn(0x55, 0, 0, 1, 0),
            EXIT,
            insn(0xb7, 1, 0, 0, 1),
            insn(0xdb, 0, 1, 0, 0),
            insn(0x79, 0, 0, 0, 0),
            EXIT,
        ]
    };
    let build = |flags| {
        let mut built = Built::new(&[EXIT]).map("table", 24, 0).with("ssthresh", &get(flags));
        built.relocations.push(("ssthresh".into(), 1, "table".into(), ADDRESS));
        socket(built)
    };
    let mut without = build(0);
    assert_eq!(without.ssthresh(), Ok(0));
    let mut with = build(1);
    assert_eq!([with.ssthresh(), with.ssthresh()], [Ok(1), Ok(2)]);
    let mut clone = with.clone();
    assert_eq!([with.ssthresh(), clone.ssthresh(), clone.ssthresh()], [Ok(3), Ok(3), Ok(4)]);
}

#[test]
fn the_configuration_is_a_constant() {
    let mut built = Built::new(&[EXIT]).outside("CONFIG_HZ", false).outside("CONFIG_WINGS", true);
    let int = built.types.int("int", 4, true);
    let variables = [built.types.variable("CONFIG_HZ", int), built.types.variable("CONFIG_WINGS", int)];
    built.types.section(".kconfig", &variables);
    let program = [
        insn(0x18, 1, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0x18, 2, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0x61, 0, 1, 0, 0),
        insn(0x61, 2, 2, 0, 0),
        insn(0x0f, 0, 2, 0, 0),
        EXIT,
    ];
    let built = built.refers(0, "CONFIG_HZ", ADDRESS).refers(2, "CONFIG_WINGS", ADDRESS);
    assert_eq!(returns(built, &program), 1000);
}

#[test]
fn programs_call_programs_and_keep_their_registers() {
    let program = [
        insn(0xb7, 6, 0, 0, 40),
        insn(0x7a, 10, 0, -8, 1),
        insn(0xb7, 1, 0, 0, 5),
        insn(0x85, 0, 1, 0, -1),
        insn(0x0f, 0, 6, 0, 0),
        insn(0x79, 1, 10, -8, 0),
        insn(0x0f, 0, 1, 0, 0),
        EXIT,
    ];
    let leaf = [insn(0xb7, 6, 0, 0, 0), insn(0x7a, 10, 0, -8, 9), insn(0xbf, 0, 1, 0, 0), EXIT];
    let built = Built::new(&[EXIT]).with("leaf", &leaf).refers(3, "leaf", CALL);
    assert_eq!(returns(built, &program), 46);
    // bpf_loop: ten turns that add their number to what the context points at.
    let program = [
        insn(0x7a, 10, 0, -8, 0),
        insn(0xb7, 1, 0, 0, 10),
        insn(0x18, 2, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0xbf, 3, 10, 0, 0),
        insn(0x07, 3, 0, 0, -8),
        insn(0xb7, 4, 0, 0, 0),
        insn(0x85, 0, 0, 0, 181),
        insn(0x79, 1, 10, -8, 0),
        insn(0x27, 0, 0, 0, 100),
        insn(0x0f, 0, 1, 0, 0),
        EXIT,
    ];
    let turn = [insn(0xdb, 2, 1, 0, 0), insn(0xb7, 0, 0, 0, 0), insn(0x55, 1, 0, 1, 6), insn(0xb7, 0, 0, 0, 1), EXIT];
    let built = Built::new(&[EXIT]).with("turn", &turn).refers(2, "turn", ADDRESS);
    // It ends after the turn with the number 6: seven turns, 0 + 1 + ... + 6 = 21.
    assert_eq!(returns(built, &program), 721);
}

#[test]
fn time_and_chance_are_the_simulations() {
    let call = |number| vec![insn(0x85, 0, 0, 0, number), EXIT];
    let of = |number: i32| socket(Built::new(&[EXIT]).with("ssthresh", &call(number)));
    let mut clock = of(5);
    clock.set_now_ns(123_456_789);
    assert_eq!(clock.ssthresh(), Ok(123_456_789));
    let mut ticks = of(118);
    ticks.set_now_ns(123_456_789);
    assert_eq!(ticks.ssthresh(), Ok(300_123));
    let draws = |seed: u64| {
        let built = Built::new(&[EXIT]).with("ssthresh", &call(7));
        let control = Object::read("x", &built.bytes()).unwrap().load("mine", &[]).unwrap();
        let mut socket = control.socket(seed);
        [socket.ssthresh().unwrap(), socket.ssthresh().unwrap()]
    };
    assert_eq!(draws(1), draws(1));
    assert!(draws(1) != draws(2) && draws(1)[0] != draws(1)[1]);
}

/// A relocation of a load or number, with the answer it should lead to.
fn adapted(kind: u32, path: &str, program: &[[u8; 8]], at: usize, of: &dyn Fn(&mut Built) -> u32) -> u32 {
    let mut built = Built::new(&[EXIT]);
    let id = of(&mut built);
    built.adaptations.push(("cong_avoid".into(), at, id, path.into(), kind));
    returns(built, program)
}

#[test]
fn core_relocations_of_every_kind() {
    // In the object, what the simulated kernel calls tcp_sock is laid out otherwise.
    let sock = |built: &mut Built| {
        let t = &mut built.types;
        let (int, byte) = (t.int("u32", 4, false), t.int("u8", 1, false));
        let sample = t.structure("minmax_sample", 8, &[("t", int, 0), ("v", int, 32)]);
        let samples = t.array(sample, 3);
        let minmax = t.structure("minmax", 24, &[("s", samples, 0)]);
        let list = [
            ("is_cwnd_limited", byte, 3, 1),
            ("snd_cwnd", int, 32, 0),
            ("rtt_min", minmax, 64, 0),
            ("wings", int, 256, 0),
            ("ecn_flags", int, 288, 0),
        ];
        t.bits("tcp_sock___other", 40, &list)
    };
    let number = [insn(0xb7, 0, 0, 0, 77), EXIT];
    let field = |kind, path: &str| adapted(kind, path, &number, 0, &sock);
    // The window is ten at first, the smallest round-trip time not known.
    let load = |code: u8, path: &str| {
        let program = [insn(0x79, 6, 1, 0, 0), insn(code, 0, 6, 0, 0), EXIT];
        adapted(0, path, &program, 1, &sock)
    };
    assert_eq!(load(0x61, "0:1"), 10);
    assert_eq!(load(0x61, "0:2:0:0:1"), u32::MAX);
    // Exists; size; sign.
    assert_eq!([field(2, "0:1"), field(2, "0:3")], [1, 0]);
    assert_eq!([field(1, "0:1"), field(1, "0:2"), field(1, "0:2:0:1")], [4, 24, 8]);
    assert_eq!(field(3, "0:1"), 0);
    // Offsets differ from those in the object, and elements follow each other.
    assert_eq!(field(0, "0:2:0:1") - field(0, "0:2:0:0"), 8);
    assert_eq!(field(0, "1:1") - field(0, "0:1"), field(9, "0"));
    // A bit field: read as clang reads it.
    let (left, right) = (field(4, "0:0"), field(5, "0:0"));
    assert_eq!(right, 63);
    let (at, size) = (field(0, "0:0"), field(1, "0:0"));
    assert_eq!(size, 1);
    let mut socket = socket(Built::new(&[EXIT]).with(
        "ssthresh",
        &[
            insn(0x79, 6, 1, 0, 0),
            insn(0x71, 0, 6, at as i16, 0),
            insn(0x67, 0, 0, 0, left.cast_signed()),
            insn(0x77, 0, 0, 0, right.cast_signed()),
            EXIT,
        ],
    ));
    assert_eq!(socket.ssthresh(), Ok(0));
    socket.set_cwnd_limited(true);
    assert_eq!(socket.ssthresh(), Ok(1));
    // A load of four bytes of a field that has one here becomes a load of one.
    assert_eq!(load(0x61, "0:4"), 0);
    // Types: there or not, of which size; unknown ones keep what the object says.
    let unknown = |built: &mut Built| {
        let int = built.types.int("u32", 4, false);
        built.types.structure("wings", 4, &[("left", int, 0)])
    };
    assert_eq!([adapted(8, "0", &number, 0, &sock), adapted(8, "0", &number, 0, &unknown)], [1, 0]);
    assert_eq!([adapted(12, "0", &number, 0, &sock), adapted(12, "0", &number, 0, &unknown)], [1, 0]);
    assert_eq!(adapted(9, "0", &number, 0, &unknown), 77);
    assert_eq!(adapted(0, "0:0", &number, 0, &unknown), 77);
    assert_eq!(adapted(2, "0:0", &number, 0, &unknown), 0);
    // Values of enums are the kernel's.
    let event =
        |built: &mut Built| built.types.enumeration("tcp_ca_event", &[("CA_EVENT_LOSS", 9), ("CA_EVENT_WINGS", 8)]);
    assert_eq!([adapted(10, "0", &number, 0, &event), adapted(10, "1", &number, 0, &event)], [1, 0]);
    assert_eq!(adapted(11, "0", &number, 0, &event), 3);
}

#[test]
fn samples_and_arguments_arrive() {
    // Sums of the fields that a program reads by the names of the kernel.
    let sums = |argument: i16, first: u8| {
        [
            insn(0x79, 6, 1, 0, 0),
            insn(0x79, 2, 1, argument, 0),
            insn(first, 3, 2, 0, 0),
            insn(0x61, 4, 2, 0, 0),
            insn(0x27, 4, 0, 0, 1000),
            insn(0x0f, 3, 4, 0, 0),
            insn(0x7b, 6, 3, 0, 0),
            EXIT,
        ]
    };
    for (parameters, argument) in [(2, 8), (4, 24)] {
        let mut built = Built::new(&[EXIT]);
        let t = &mut built.types;
        let (int, long) = (t.int("int", 4, true), t.int("long", 8, true));
        let ack = t.structure("ack_sample", 16, &[("rtt_us", int, 0), ("pkts_acked", int, 32)]);
        let rate = t.structure("rate_sample", 16, &[("rtt_us", long, 0), ("delivered", int, 64)]);
        let sock = t.structure("sock", 16, &[("sk_pacing_rate", long, 0)]);
        built = built.with("pkts_acked", &sums(8, 0x61)).with("cong_control", &sums(argument, 0x79));
        built.parameters = parameters;
        for (program, of) in [("pkts_acked", ack), ("cong_control", rate)] {
            for (at, id, path) in [(2, of, "0:0"), (3, of, "0:1"), (6, sock, "0:0")] {
                built.adaptations.push((program.into(), at, id, path.into(), 0));
            }
        }
        let mut socket = socket(built);
        socket.pkts_acked(&AckSample { pkts_acked: 3, rtt_us: 77, in_flight: 5 }).unwrap();
        assert_eq!(socket.pacing_rate(), 3077);
        socket.cong_control(9, 9, &RateSample { delivered: 8, rtt_us: 500, ..RateSample::default() }).unwrap();
        assert_eq!(socket.pacing_rate(), 8500, "{parameters} parameters");
    }
}

#[test]
fn kernels_functions_of_reno() {
    let calls = |name: &str, second: i32, third: i32| {
        let program = [
            insn(0x79, 1, 1, 0, 0),
            insn(0xb7, 2, 0, 0, second),
            insn(0xb7, 3, 0, 0, third),
            insn(0x85, 0, 1, 0, -1),
            EXIT,
        ];
        let mut built = Built::new(&[EXIT]).with("ssthresh", &program).outside(name, false);
        built.relocations.push(("ssthresh".into(), 3, name.into(), CALL));
        socket(built)
    };
    let mut slow = calls("tcp_slow_start", 5, 0);
    slow.set_snd_ssthresh(12);
    assert_eq!((slow.ssthresh(), slow.snd_cwnd()), (Ok(3), 12));
    let mut clamped = calls("tcp_slow_start", 5, 0);
    clamped.set_snd_cwnd_clamp(11);
    assert_eq!((clamped.ssthresh(), clamped.snd_cwnd()), (Ok(0), 11));
    // A segment more for each ten.
    let mut avoids = calls("tcp_cong_avoid_ai", 10, 4);
    let windows: Vec<u32> = (0..6).map(|_| avoids.ssthresh().map(|_| avoids.snd_cwnd()).unwrap()).collect();
    assert_eq!((windows, avoids.snd_cwnd_cnt()), (vec![10, 10, 11, 11, 12, 12], 4));
    // Credit of another divisor counts once.
    let mut credit = calls("tcp_cong_avoid_ai", 10, 4);
    credit.set_snd_cwnd_cnt(95);
    credit.ssthresh().unwrap();
    assert_eq!((credit.snd_cwnd(), credit.snd_cwnd_cnt()), (11, 4));
    let mut half = calls("tcp_reno_ssthresh", 0, 0);
    assert_eq!(half.ssthresh(), Ok(5));
    half.set_snd_cwnd(3);
    assert_eq!(half.ssthresh(), Ok(2));
    let mut undo = calls("tcp_reno_undo_cwnd", 0, 0);
    undo.set_prior_cwnd(30);
    assert_eq!(undo.ssthresh(), Ok(30));
    let mut reno = calls("tcp_reno_cong_avoid", 0, 6);
    reno.set_snd_ssthresh(12);
    reno.ssthresh().unwrap();
    assert_eq!(reno.snd_cwnd(), 10, "the window holds nobody back");
    reno.set_cwnd_limited(true);
    reno.ssthresh().unwrap();
    // Two of six for slow start, four for the next.
    assert_eq!((reno.snd_cwnd(), reno.snd_cwnd_cnt()), (12, 4));
}
