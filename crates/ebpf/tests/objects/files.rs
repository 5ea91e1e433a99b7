//! Files that are not objects, or not such as the kernel would take.

use super::build::{Elf, Types};
use super::control::{Built, EXIT};
use super::isa::insn;
use ebpf::Object;

fn error(bytes: &[u8]) -> String {
    let said = match Object::read("mine.bpf.o", bytes) {
        Ok(object) => object.load("mine", &[]).expect_err("has a fault").to_string(),
        Err(error) => error.to_string(),
    };
    said.strip_prefix("mine.bpf.o: ").expect("names the object").to_string()
}

fn code(program: &[[u8; 8]]) -> String {
    error(&Built::new(program).bytes())
}

#[test]
fn what_is_no_object_is_told_what_would_be_one() {
    let right = "is no ELF file; must be an object compiled with clang -target bpf";
    assert_eq!(error(b""), right);
    assert_eq!(error(b"#!/bin/sh"), right);
    let mut bytes = Built::new(&[EXIT]).bytes();
    assert_eq!(error(&bytes[..100]), "the file is cut off, or its headers are damaged");
    bytes[18] = 62;
    assert_eq!(error(&bytes), "is no object of eBPF in little endian; compile it with clang -target bpf");
    let mut plain = Elf::default();
    plain.section("programs", EXIT.into());
    assert_eq!(error(&plain.bytes()), "has no types (section .BTF); compile it with -g");
    plain.section(".BTF", Types::new().bytes());
    let right = "has no congestion control: must have a struct tcp_congestion_ops in the section .struct_ops";
    assert_eq!(error(&plain.bytes()), right);
}

#[test]
fn what_the_kernel_would_refuse_is_refused() {
    let mut built = Built::new(&[EXIT]);
    built.programs.retain(|(name, _)| name != "ssthresh");
    assert_eq!(error(&built.bytes()), "control mine: has no ssthresh, without which the kernel takes none");
    let mut built = Built::new(&[EXIT]);
    built.programs.retain(|(name, _)| name != "cong_avoid");
    let right = "control mine: has no cong_avoid and no cong_control, without which the kernel takes none";
    assert_eq!(error(&built.bytes()), right);
    let built = Built::new(&[EXIT]).with("get_info", &[EXIT]);
    assert_eq!(error(&built.bytes()), "control ops: its get_info is not simulated");
    let object = Object::read("mine.bpf.o", &Built::new(&[EXIT]).bytes()).unwrap();
    let said = object.load("yours", &[]).unwrap_err().to_string();
    assert_eq!(said, "mine.bpf.o: has no congestion control \"yours\"; there are mine");
}

#[test]
fn what_is_wrong_with_a_control_that_is_not_chosen_does_not_matter() {
    let beside = |name: &str, callback: &str, program: &str| {
        let built = Built::new(&[EXIT]).beside("other", name, &[(callback, program)]);
        Object::read("mine.bpf.o", &built.outside("nowhere", false).data(".data", "number", vec![0; 8]).bytes())
            .unwrap()
    };
    // What libbpf loads, and refuses only when that map is attached: without a name, and without what each must have.
    for (name, callback, program, said) in [
        ("", "cong_avoid", "cong_avoid", "control other: has no name by which sockets could choose it"),
        ("spare", "cong_avoid", "cong_avoid", "control spare: has no ssthresh, without which the kernel takes none"),
        ("spare", "get_info", "cong_avoid", "control other: its get_info is not simulated"),
        ("spare", "init", "number", "control other: its init is no program"),
    ] {
        let object = beside(name, callback, program);
        assert!(object.load("mine", &[]).is_ok(), "{said}");
        assert_eq!(object.load("other", &[]).unwrap_err().to_string(), format!("mine.bpf.o: {said}"));
    }
    let object = beside("", "cong_avoid", "cong_avoid");
    let said = object.load("yours", &[]).unwrap_err().to_string();
    assert_eq!(said, "mine.bpf.o: has no congestion control \"yours\"; there are mine");
    assert!(object.load("", &[]).is_err(), "the empty name is that of none");
    // Which of two is meant by one name cannot be told; a third beside them can be chosen.
    let twice = Built::new(&[EXIT]).beside("one", "same", &[]).beside("two", "same", &[]);
    let object = Object::read("mine.bpf.o", &twice.bytes()).unwrap();
    assert!(object.load("mine", &[]).is_ok());
    let said = object.load("same", &[]).unwrap_err().to_string();
    assert_eq!(said, "mine.bpf.o: has two controls of the name same");
}

#[test]
fn damaged_code_is_refused_with_its_place() {
    let of = |at: usize, what: &str| format!("program cong_avoid, instruction {at}: {what}");
    assert_eq!(code(&[insn(0xff, 0, 0, 0, 0), EXIT]), of(0, "there is no instruction 0xff with these fields"));
    assert_eq!(code(&[insn(0x07, 12, 0, 0, 0), EXIT]), of(0, "there are registers r0 to r10 only"));
    let right = "writes r10, the frame pointer, which no program may";
    assert_eq!(code(&[insn(0x07, 10, 0, 0, 0), EXIT]), of(0, right));
    assert_eq!(code(&[insn(0x05, 0, 0, 7, 0), EXIT]), of(0, "jumps to instruction 8, which is not in the program"));
    let inside = [insn(0x05, 0, 0, 1, 0), insn(0x18, 0, 0, 0, 0), insn(0, 0, 0, 0, 0), EXIT];
    assert_eq!(code(&inside), of(0, "jumps into the middle of an instruction"));
    assert_eq!(code(&[insn(0xb7, 0, 0, 0, 0)]), of(0, "the program goes on behind its last instruction"));
    assert_eq!(code(&[EXIT, insn(0x18, 0, 0, 0, 0)]), of(1, "an instruction of 16 bytes is cut off"));
    let wide = [insn(0x18, 0, 0, 0, 0), insn(0xb7, 0, 0, 0, 0), EXIT];
    assert_eq!(code(&wide), of(0, "an instruction of 16 bytes is damaged"));
    let map = [insn(0x18, 1, 1, 0, 3), insn(0, 0, 0, 0, 0), EXIT];
    assert_eq!(code(&map), of(0, "an address refers to nothing in the object"));
    assert_eq!(code(&[insn(0x85, 0, 2, 0, 3), EXIT]), of(0, "a call refers to nothing in the object"));
    assert_eq!(code(&[insn(0x85, 0, 1, 0, 0), EXIT]), of(0, "a call leads to where no program begins"));
    let built = Built::new(&[insn(0x85, 0, 1, 0, -1), EXIT]).outside("tcp_slow_start", false);
    let said = error(&built.refers(0, "tcp_slow_start", 1).bytes());
    assert_eq!(said, of(0, "a call has a relocation of another kind"));
}

#[test]
fn damaged_types_maps_and_sizes_are_refused() {
    let mut built = Built::new(&[insn(0x79, 6, 1, 0, 0), EXIT]);
    built.adaptations.push(("cong_avoid".into(), 0, 9999, "0".into(), 0));
    let of = "program cong_avoid, instruction 0: a CO-RE relocation is damaged";
    assert_eq!(error(&built.bytes()), format!("{of}: its type"));
    for (path, what) in
        [("0:7", "its path leads nowhere"), ("", "its path"), ("0:x", "its path"), ("9999999999", "its path")]
    {
        let mut built = Built::new(&[insn(0x79, 6, 1, 0, 0), EXIT]);
        let int = built.types.int("u32", 4, false);
        let id = built.types.structure("tcp_sock", 4, &[("snd_cwnd", int, 0)]);
        built.adaptations.push(("cong_avoid".into(), 0, id, path.into(), 0));
        assert_eq!(error(&built.bytes()), format!("{of}: {what}"));
    }
    let said = error(&Built::new(&[EXIT]).map("table", 1, 0).bytes());
    assert_eq!(said, "map table: its key, value or number of entries is not one that the kernel takes");
    let mut built = Built::new(&[EXIT]).data(".bss", "much", vec![0; 8]);
    built.elf.sections.last_mut().unwrap().zeros = 1 << 40;
    assert_eq!(error(&built.bytes()), "has more than 1048576 bytes of variables or constants");
    let mut built = Built::new(&[EXIT]).outside("CONFIG_WINGS", false);
    let int = built.types.int("int", 4, true);
    let variable = built.types.variable("CONFIG_WINGS", int);
    built.types.section(".kconfig", &[variable]);
    assert_eq!(error(&built.bytes()), "needs CONFIG_WINGS of the kernel's configuration, which is not simulated");
}

#[test]
fn names_of_a_file_do_not_reach_the_terminal_as_they_are() {
    let built = Built::new(&[insn(0x85, 0, 1, 0, -1), EXIT]).outside("two\nlines\x1b[2J", false);
    let object = Object::read("mine.bpf.o", &built.refers(0, "two\nlines\x1b[2J", 10).bytes()).unwrap();
    let said = object.load("mine", &[]).unwrap().socket(1).cong_avoid(0, 1).unwrap_err().to_string();
    assert!(said.contains("calls two\\nlines\\u{1b}[2J, a function"), "{said}");
}
