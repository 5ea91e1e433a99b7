//! Each instruction gives what RFC 9669 says, and what is none is refused.

use super::isa::{self, insn};

#[test]
fn every_instruction_does_what_rfc_9669_says() {
    let operands = isa::operands();
    let cases = isa::cases(true);
    assert!(cases.len() > 400, "{}", cases.len());
    for case in &cases {
        for (a, b) in &operands {
            let mut context = [a.to_le_bytes(), b.to_le_bytes(), [0xaa; 8]].concat();
            let result = ebpf::execute(&case.program, &mut context).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            assert_eq!(result, Ok(0), "{}", case.name);
            let found = u64::from_le_bytes(context[16..].try_into().unwrap());
            assert_eq!(found, (case.expected)(*a, *b), "{} of {a:#x} and {b:#x}", case.name);
        }
    }
}

#[test]
fn load_acquire_and_store_release_are_a_load_and_a_store() {
    let program = [insn(0xdb, 1, 1, 8, 0x110), insn(0xdb, 0, 1, 8, 0x100), insn(0x95, 0, 0, 0, 0)];
    let mut context = vec![0; 16];
    let result = ebpf::execute(&program.concat(), &mut context).unwrap().unwrap();
    assert_eq!((result, &context[8..]), (1 << 32, &(1_u64 << 32).to_le_bytes()[..]));
}

#[test]
fn every_first_byte_that_is_no_instruction_is_refused() {
    // RFC 9669, Appendix A, without packet loads (Section 5.5); "may_goto" of newer kernels is there.
    let mut known: Vec<u8> = vec![0x05, 0x06, 0x18, 0x85, 0x95, 0xe5, 0xd4, 0xdc, 0xd7, 0xc3, 0xdb, 0x84, 0x87];
    for op in [0x00_u8, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x90, 0xa0, 0xb0, 0xc0] {
        known.extend([op | 0x04, op | 0x07, op | 0x0c, op | 0x0f]);
    }
    for op in [0x10_u8, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0] {
        known.extend([op | 0x05, op | 0x06, op | 0x0d, op | 0x0e]);
    }
    for size in [0x00_u8, 0x08, 0x10, 0x18] {
        known.extend([0x61 | size, 0x62 | size, 0x63 | size]);
    }
    known.extend([0x81, 0x89, 0x91]);
    for code in 0..=255_u8 {
        // Fields with which each of them is one.
        let imm = if matches!(code, 0xd4 | 0xdc | 0xd7) { 16 } else { 0 };
        let (dst, src) = if matches!(code, 0xc3 | 0xdb) { (10, 2) } else { (0, 0) };
        let off = if matches!(code, 0xc3 | 0xdb) { -8 } else { 0 };
        let mut program = vec![insn(code, dst, src, off, imm)];
        program.extend([insn(0, 0, 0, 0, 0); 1].iter().filter(|_| code == 0x18));
        program.push(insn(0x95, 0, 0, 0, 0));
        let read = ebpf::execute(&program.concat(), &mut [0; 8]);
        assert_eq!(read.is_ok(), known.contains(&code), "{code:#04x}: {read:?}");
    }
}

#[test]
fn fields_that_an_instruction_does_not_have_must_be_zero() {
    let wrong = [
        insn(0x0f, 0, 1, 0, 5),
        insn(0x07, 0, 1, 0, 5),
        insn(0x07, 0, 0, 1, 5),
        insn(0x87, 0, 0, 0, 5),
        insn(0xbf, 0, 1, 24, 0),
        insn(0xb7, 0, 0, 8, 0),
        insn(0x67, 0, 0, 0, 64),
        insn(0x64, 0, 0, 0, 32),
        insn(0x95, 0, 0, 1, 0),
        insn(0x05, 0, 0, 0, 1),
        insn(0x1d, 0, 1, 0, 1),
        insn(0x79, 0, 1, 0, 1),
        insn(0x7b, 1, 0, 0, 1),
        insn(0xdb, 1, 0, 0, 0x33),
        insn(0xd3, 1, 0, 0, 0),
        insn(0xd7, 0, 0, 0, 8),
        insn(0xb7, 11, 0, 0, 0),
        insn(0xb7, 10, 0, 0, 0),
        insn(0x05, 0, 0, 2, 0),
        insn(0x05, 0, 0, -2, 0),
    ];
    for one in wrong {
        let read = ebpf::execute(&[one, insn(0x95, 0, 0, 0, 0)].concat(), &mut [0; 8]);
        let said = read.expect_err(&format!("{one:02x?}")).to_string();
        assert!(said.starts_with("instructions: program main, instruction 0: "), "{said}");
    }
}
