//! Whatever a program does wrong, the call ends with one line that names it and the instruction; whatever is wrong with
//! a file, reading it does.

use super::control::{Built, EXIT};
use super::isa::insn;
use ebpf::{Object, Socket};

const ADDRESS: u32 = 1;
const CALL: u32 = 10;

/// The socket's address in r6.
const SOCKET: [[u8; 8]; 1] = [insn_const(0x79, 6, 1)];

const fn insn_const(code: u8, dst: u8, src: u8) -> [u8; 8] {
    [code, src << 4 | dst, 0, 0, 0, 0, 0, 0]
}

fn socket(built: Built) -> Socket {
    let object = Object::read("mine.bpf.o", &built.bytes()).unwrap_or_else(|e| panic!("{e}"));
    object.load("mine", &[]).unwrap_or_else(|e| panic!("{e}")).socket(1)
}

/// Message of the fault in `cong_avoid`.
fn fault(built: Built) -> String {
    let mut socket = socket(built);
    let said = socket.cong_avoid(0, 1).unwrap_err().to_string();
    let said = said.strip_prefix("mine.bpf.o: program ").expect("names the object").to_string();
    // The socket survives.
    assert_eq!(socket.ssthresh(), Ok(7));
    said
}

fn after(start: &[[u8; 8]], rest: &[[u8; 8]]) -> Vec<[u8; 8]> {
    [start, rest, &[insn(0xb7, 0, 0, 0, 0), EXIT]].concat()
}

fn wide(dst: u8, value: u64) -> [[u8; 8]; 2] {
    [insn(0x18, dst, 0, 0, (value as u32).cast_signed()), insn(0, 0, 0, 0, ((value >> 32) as u32).cast_signed())]
}

#[test]
fn bad_accesses_are_faults() {
    let list = [
        // Through a null pointer, and near one.
        (
            vec![insn(0xb7, 2, 0, 0, 0), insn(0x79, 3, 2, 8, 0)],
            "instruction 1: reads 8 bytes through a null pointer (address 0x8)",
        ),
        (
            vec![insn(0xb7, 2, 0, 0, 0), insn(0x72, 2, 0, 4, 1)],
            "instruction 1: writes 1 bytes through a null pointer (address 0x4)",
        ),
        // Out of the stack, on both sides.
        (vec![insn(0x61, 3, 10, 0, 0)], "instruction 0: reads 4 bytes at 0x300000200, where nothing is"),
        (vec![insn(0x7b, 10, 3, -520, 0)], "instruction 0: writes 8 bytes at 0x2fffffff8, where nothing is"),
        // Beyond everything.
        (
            after(&wide(2, u64::MAX - 3), &[insn(0x79, 3, 2, 0, 0)]),
            "instruction 2: reads 8 bytes at 0xfffffffffffffffc, where nothing is",
        ),
        (
            after(&SOCKET, &[insn(0x79, 3, 6, 0x7ff8, 0)]),
            "instruction 1: reads 8 bytes at 0x100008138, where nothing is",
        ),
        // The context is only read.
        (vec![insn(0x7b, 1, 3, 8, 0)], "instruction 0: writes the context, which no program may write"),
        // The socket's family is not a program's.
        (
            after(&SOCKET, &[insn(0x6b, 6, 3, 12, 0)]),
            "instruction 1: writes sock_common.skc_dport, which no program may write",
        ),
        // Atomic operations want aligned addresses.
        (
            vec![insn(0xdb, 10, 3, -12, 0)],
            "instruction 0: an atomic operation of 8 bytes at 0x3000001f4, which is no multiple of that",
        ),
    ];
    for (program, right) in list {
        assert_eq!(fault(Built::new(&after(&program, &[]))), format!("cong_avoid, {right}"));
    }
}

#[test]
fn the_socket_has_fields_that_programs_write_and_others() {
    // Found by their names.
    let write = |of: &str, field: &str, size: u32| {
        let code = [0x73, 0x6b, 0x63, 0x7b][size.trailing_zeros() as usize];
        let mut built = Built::new(&after(&SOCKET, &[insn(0xb7, 3, 0, 0, 5), insn(code, 6, 3, 0, 0)]));
        let int = built.types.int("field", size, false);
        let id = built.types.structure(of, 64, &[(field, int, 0)]);
        built.adaptations.push(("cong_avoid".into(), 2, id, "0:0".into(), 0));
        built
    };
    for (of, field, size) in [
        ("tcp_sock", "snd_cwnd", 4),
        ("tcp_sock", "snd_cwnd_cnt", 4),
        ("tcp_sock", "snd_cwnd_stamp", 4),
        ("tcp_sock", "snd_ssthresh", 4),
        ("tcp_sock", "app_limited", 4),
        ("tcp_sock", "ecn_flags", 1),
        ("sock", "sk_pacing_rate", 8),
        ("sock", "sk_pacing_status", 4),
    ] {
        assert_eq!(socket(write(of, field, size)).cong_avoid(0, 1), Ok(()), "{field}");
    }
    for (of, field, size) in [
        ("tcp_sock", "mss_cache", 4),
        ("tcp_sock", "snd_cwnd_clamp", 4),
        ("tcp_sock", "prior_cwnd", 4),
        ("tcp_sock", "srtt_us", 4),
        ("tcp_sock", "delivered", 4),
        ("tcp_sock", "tcp_mstamp", 8),
        ("sock", "sk_max_pacing_rate", 8),
        ("inet_connection_sock", "icsk_rto", 4),
    ] {
        let right = format!("cong_avoid, instruction 2: writes {of}.{field}, which no program may write");
        assert_eq!(fault(write(of, field, size)), right);
    }
    // A field that the kernel lost, and one that nobody knows, are faults where they are used and nowhere else.
    let right = "cong_avoid, instruction 2: needs tcp_sock.wings, which is not simulated";
    assert_eq!(fault(write("tcp_sock", "wings", 4)), right);
}

#[test]
fn what_does_not_end_is_ended() {
    let said = fault(Built::new(&[insn(0x05, 0, 0, -1, 0), EXIT]));
    assert_eq!(said, "cong_avoid, instruction 0: the call has taken 1000000 steps and has not ended");
    // A loop around a call; a loop of a helper; "may_goto".
    let around = [insn(0x85, 0, 1, 0, -1), insn(0x05, 0, 0, -2, 0), EXIT];
    let said = fault(Built::new(&around).with("leaf", &[EXIT]).refers(0, "leaf", CALL));
    assert!(said.ends_with("the call has taken 1000000 steps and has not ended"), "{said}");
    let said = fault(Built::new(&[insn(0xe5, 0, 0, 0, 0), insn(0x05, 0, 0, -2, 0), EXIT]));
    assert!(said.ends_with("the call has taken 1000000 steps and has not ended"), "{said}");
    let long = [insn(0xb7, 1, 0, 0, 1 << 20), insn(0x18, 2, 0, 0, 0), insn(0, 0, 0, 0, 0), insn(0xb7, 4, 0, 0, 0)];
    let long = [&long[..], &[insn(0x85, 0, 0, 0, 181), EXIT]].concat();
    let zero = [insn(0xb7, 0, 0, 0, 0), EXIT];
    let said = fault(Built::new(&long).with("turn", &zero).refers(1, "turn", ADDRESS));
    assert_eq!(said, "cong_avoid, instruction 4: the call has taken 1000000 steps and has not ended");
}

#[test]
fn calls_within_calls_end() {
    let built = Built::new(&[insn(0x85, 0, 1, 0, -1), EXIT]).refers(0, "cong_avoid", CALL);
    assert_eq!(fault(built), "cong_avoid, instruction 0: calls within calls, more than 8 deep");
}

#[test]
fn what_is_not_simulated_is_named() {
    let call = |number| fault(Built::new(&after(&[insn(0x85, 0, 0, 0, number)], &[])));
    assert_eq!(call(130), "cong_avoid, instruction 0: calls helper 130, which is not simulated");
    assert_eq!(call(-1), "cong_avoid, instruction 0: calls helper 4294967295, which is not simulated");
    let said = fault(
        Built::new(&after(&[insn(0x85, 0, 1, 0, -1)], &[])).outside("bbr_init", false).refers(0, "bbr_init", CALL),
    );
    assert_eq!(said, "cong_avoid, instruction 0: calls bbr_init, a function of the kernel that is not simulated");
    // One that is never called is no fault.
    let unused = [insn(0x05, 0, 0, 1, 0), insn(0x85, 0, 1, 0, -1), insn(0xb7, 0, 0, 0, 0), EXIT];
    let built = Built::new(&unused).outside("bbr_init", false).refers(1, "bbr_init", CALL);
    assert_eq!(socket(built).cong_avoid(0, 1), Ok(()));
}

#[test]
fn arguments_are_checked() {
    let slow = [insn(0xb7, 1, 0, 0, 0), insn(0x85, 0, 1, 0, -1)];
    let built = Built::new(&after(&slow, &[])).outside("tcp_slow_start", false).refers(1, "tcp_slow_start", CALL);
    assert_eq!(fault(built), "cong_avoid, instruction 1: tcp_slow_start: its first argument must be the socket");
    let none = [insn(0xbf, 1, 6, 0, 0), insn(0xb7, 2, 0, 0, 0), insn(0xb7, 3, 0, 0, 1), insn(0x85, 0, 1, 0, -1)];
    let built = Built::new(&after(&SOCKET, &after(&none, &[])));
    let built = built.outside("tcp_cong_avoid_ai", false).refers(4, "tcp_cong_avoid_ai", CALL);
    let right = "cong_avoid, instruction 4: tcp_cong_avoid_ai: its second argument must not be 0";
    assert_eq!(fault(built), right);
    let said = fault(Built::new(&after(&[insn(0xb7, 1, 0, 0, 3), insn(0x85, 0, 0, 0, 1)], &[])));
    assert_eq!(said, "cong_avoid, instruction 1: its first argument must be a map");
    let other = [insn(0xbf, 1, 6, 0, 0), insn(0xb7, 2, 0, 0, 6), insn(0xb7, 3, 0, 0, 13), insn(0x85, 0, 0, 0, 49)];
    let said = fault(Built::new(&after(&SOCKET, &other)));
    let right = "bpf_setsockopt chooses another congestion control, which is not simulated";
    assert_eq!(said, format!("cong_avoid, instruction 4: {right}"));
    let repeats = [insn(0xb7, 1, 0, 0, 1), insn(0xb7, 2, 0, 0, 9), insn(0xb7, 4, 0, 0, 0), insn(0x85, 0, 0, 0, 181)];
    let said = fault(Built::new(&after(&repeats, &[])));
    assert_eq!(said, "cong_avoid, instruction 3: bpf_loop: its second argument must be a program");
}

#[test]
fn maps_hold_no_more_than_they_may() {
    // Entries without end: a counter is the key.
    let fills = [
        insn(0xb7, 7, 0, 0, 0),
        insn(0x63, 10, 7, -4, 0),
        insn(0x18, 1, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0xbf, 2, 10, 0, 0),
        insn(0x07, 2, 0, 0, -4),
        insn(0x7b, 10, 7, -16, 0),
        insn(0xbf, 3, 10, 0, 0),
        insn(0x07, 3, 0, 0, -16),
        insn(0xb7, 4, 0, 0, 0),
        insn(0x85, 0, 0, 0, 2),
        insn(0x07, 7, 0, 0, 1),
        insn(0x05, 0, 0, -12, 0),
        EXIT,
    ];
    let built = Built::new(&fills).map("table", 1, u32::MAX).refers(2, "table", ADDRESS);
    assert_eq!(fault(built), "cong_avoid, instruction 10: its maps hold more than 1048576 bytes");
}

#[test]
fn constants_are_only_read_and_variables_are_the_sockets_own() {
    let adds = [
        insn(0x18, 2, 0, 0, 0),
        insn(0, 0, 0, 0, 0),
        insn(0x79, 3, 2, 0, 0),
        insn(0x07, 3, 0, 0, 1),
        insn(0x7b, 2, 3, 0, 0),
        insn(0x79, 4, 1, 0, 0),
        insn(0x7b, 4, 3, 0, 0),
        insn(0xb7, 0, 0, 0, 0),
        EXIT,
    ];
    let constant = Built::new(&adds).data(".rodata", "value", vec![1; 8]).refers(0, "value", ADDRESS);
    let right = "cong_avoid, instruction 4: writes a constant (.rodata or .kconfig), which no program may write";
    assert_eq!(fault(constant), right);
    let mut built = Built::new(&adds).data(".data", "value", 41_u64.to_le_bytes().into()).refers(0, "value", ADDRESS);
    let long = built.types.int("rate", 8, false);
    let id = built.types.structure("sock", 8, &[("sk_pacing_rate", long, 0)]);
    built.adaptations.push(("cong_avoid".into(), 6, id, "0:0".into(), 0));
    let bytes = built.bytes();
    let control = Object::read("mine.bpf.o", &bytes).unwrap().load("mine", &[]).unwrap();
    let (mut one, mut other) = (control.socket(1), control.socket(1));
    one.cong_avoid(0, 1).unwrap();
    let mut twin = one.clone();
    one.cong_avoid(0, 1).unwrap();
    twin.cong_avoid(0, 1).unwrap();
    twin.cong_avoid(0, 1).unwrap();
    other.cong_avoid(0, 1).unwrap();
    assert_eq!([one.pacing_rate(), twin.pacing_rate(), other.pacing_rate()], [43, 44, 42]);
    // Another value from outside.
    let object = Object::read("mine.bpf.o", &bytes).unwrap();
    let mut given = object.load("mine", &[(".data", &100_u64.to_le_bytes())]).unwrap().socket(1);
    given.cong_avoid(0, 1).unwrap();
    assert_eq!(given.pacing_rate(), 101);
    let said = object.load("mine", &[(".data", &[0; 4])]).unwrap_err().to_string();
    assert_eq!(said, "mine.bpf.o: section .data has 8 bytes, and is given 4");
    let said = object.load("mine", &[(".rodata", &[0; 4])]).unwrap_err().to_string();
    assert_eq!(said, "mine.bpf.o: has no section of data .rodata");
}
