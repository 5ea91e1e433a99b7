//! Each instruction in the running kernel (`BPF_PROG_TEST_RUN` of programs of the kind `syscall`) gives what RFC 9669
//! says and what the interpreter gives. Skipped, with the reason, where this machine cannot load programs.

#![cfg(feature = "load")]

extern crate elephan_bpf as bpf;

#[path = "../../ebpf/tests/objects/build.rs"]
#[expect(dead_code, reason = "shared with the tests of the interpreter")]
mod build;
#[path = "../../ebpf/tests/objects/isa.rs"]
mod isa;

use bpf::loader;
use build::{Elf, FUNCTION, GLOBAL, OBJECT};
use isa::Case;
use libbpf_rs::{ObjectBuilder, ProgramInput};

/// An object with a program for each case.
fn object(cases: &[Case]) -> Vec<u8> {
    let mut elf = Elf::default();
    elf.section("license", b"GPL\0".to_vec());
    elf.section("syscall", cases.iter().flat_map(|case| case.program.clone()).collect());
    elf.symbol("license", Some("license"), 0, 4, OBJECT, GLOBAL);
    let mut at = 0;
    for (i, case) in cases.iter().enumerate() {
        let size = case.program.len() as u64;
        elf.symbol(&format!("case_{i}"), Some("syscall"), at, size, FUNCTION, GLOBAL);
        at += size;
    }
    elf.bytes()
}

/// Number of cases that the kernel has answered, `None` if it loads nothing.
fn compare(cases: &[Case]) -> Option<usize> {
    let bytes = object(cases);
    let object = ObjectBuilder::default().open_memory(&bytes).unwrap().load().ok()?;
    let operands = isa::operands();
    for program in object.progs_mut() {
        let number = program.name().to_string_lossy().trim_start_matches("case_").parse::<usize>().unwrap();
        let case = &cases[number];
        for (a, b) in &operands {
            let mut context = [a.to_le_bytes(), b.to_le_bytes(), [0; 8]].concat();
            let mut ours = context.clone();
            let input = ProgramInput { context_in: Some(&mut context), ..ProgramInput::default() };
            assert_eq!(program.test_run(input).unwrap().return_value, 0, "{}", case.name);
            let kernel = u64::from_le_bytes(context[16..].try_into().unwrap());
            assert_eq!(kernel, (case.expected)(*a, *b), "{} of {a:#x} and {b:#x}", case.name);
            assert_eq!(ebpf::execute(&case.program, &mut ours).unwrap(), Ok(0));
            assert_eq!(ours, context, "{} of {a:#x} and {b:#x}", case.name);
        }
    }
    Some(cases.len())
}

#[test]
fn the_kernel_the_interpreter_and_rfc_9669_agree() {
    if let Err(error) = loader::check() {
        eprintln!("skipped: {error}");
        return;
    }
    if compare(&isa::cases(true)).is_none() {
        // Before Linux 6.6, without version 4 of the instructions.
        eprintln!("the kernel has no instructions of version 4");
        compare(&isa::cases(false)).expect("the kernel loads programs of older instructions");
    }
}
