//! Tests of the interpreter beyond single instructions: limits, calls, and the places of faults.

use super::*;
use crate::instruction::IMMEDIATE as N;
use crate::maps::Maps;
use crate::memory::{FRAME, OWN, SHARED, STACK};
use std::sync::Arc;

fn op(code: Does, dst: u8, src: u8, off: i32, imm: u64) -> Op {
    Op { code, dst, src, off, imm }
}

const EXITS: Op = Op { code: Does::Exit, dst: 0, src: N, off: 0, imm: 0 };

/// Programs one after the other, the first of which is run.
fn code(programs: &[&[Op]]) -> Code {
    let mut code = Code::default();
    for (name, ops) in ["first", "second", "third"].into_iter().zip(programs) {
        code.functions.push(Function { name: name.into(), start: code.ops.len(), len: ops.len(), stack: FRAME });
        code.ops.extend_from_slice(ops);
    }
    code
}

/// Result of the first program, called with `r1` to `r5`: the address of 64 bytes, then 3, 4, 5 and 6.
fn run_code(code: &Code) -> Result<u64, (usize, Reason)> {
    let mut memory = Memory::bare((0..64).collect());
    memory.shared = Arc::from([7; 8]);
    let mut host = Host { maps: Maps::new(0), now: 0, random: 0 };
    let result = Machine::new(code, &mut memory, &mut host).run(0, [OWN, 3, 4, 5, 6], 0);
    result.map_err(|trap| (trap.at, trap.reason))
}

fn run(ops: &[Op]) -> Result<u64, (usize, Reason)> {
    run_code(&code(&[ops]))
}

#[test]
fn arguments_come_in_r1_to_r5_and_the_result_is_in_r0() {
    let sum = |i| op(Does::Add, 0, i, 0, 0);
    assert_eq!(run(&[sum(2), sum(3), sum(4), sum(5), EXITS]), Ok(18));
    assert_eq!(run(&[op(Does::Move, 0, 10, 0, 0), EXITS]), Ok(STACK + FRAME as u64), "the end of its stack");
}

#[test]
fn straight_code_may_be_longer_than_a_chain_of_handlers() {
    let many = 3 * CHAIN + 1;
    let mut ops = vec![op(Does::Add, 0, N, 0, 2); many];
    ops.push(EXITS);
    assert_eq!(run(&ops), Ok(2 * many as u64));
}

#[test]
fn a_loop_may_use_all_steps() {
    // Each jump back costs two steps. The last turn does not jump back, so STEPS / 2 + 1 turns are allowed.
    let turns = |limit| {
        let add = op(Does::Add, 0, N, 0, 1);
        run(&[add, op(Does::Less, 0, N, 0, limit), EXITS])
    };
    assert_eq!(turns(STEPS / 2), Ok(STEPS / 2));
    assert_eq!(turns(STEPS / 2 + 1), Ok(STEPS / 2 + 1));
    assert_eq!(turns(STEPS / 2 + 2), Err((1, Reason::Steps(STEPS))));
}

#[test]
fn code_without_an_exit_is_a_fault_after_its_last_instruction() {
    let missing = Reason::Missing("runs off its end".into());
    assert_eq!(run(&[op(Does::Move, 0, N, 0, 1)]), Err((1, missing)));
}

#[test]
fn a_called_program_has_registers_and_a_stack_of_its_own() {
    let first = [
        op(Does::Move, 6, N, 0, 40),
        op(Does::Store64, 10, N, -8, 9),
        op(Does::Call, 0, N, 0, 1),
        op(Does::Load64, 1, 10, -8, 0),
        op(Does::Add, 0, 6, 0, 0),
        op(Does::Add, 0, 1, 0, 0),
        EXITS,
    ];
    // The called program has a stack of zeros. It does not change registers and stack of its caller.
    let second = [
        op(Does::Load64, 0, 10, -8, 0),
        op(Does::Add, 0, 2, 0, 0),
        op(Does::Move, 6, N, 0, 0),
        op(Does::Store64, 10, N, -8, 0),
        EXITS,
    ];
    assert_eq!(run_code(&code(&[&first, &second])), Ok(3 + 40 + 9));
    // A program that calls itself is a fault at the first instruction of the call that is too deep.
    assert_eq!(run(&[op(Does::Call, 0, N, 0, 0), EXITS]), Err((0, Reason::Frames)));
}

#[test]
fn a_call_costs_as_many_steps_as_the_program_has_instructions() {
    let second = vec![op(Does::Move, 0, N, 0, 0); 999].into_iter().chain([EXITS]).collect::<Vec<_>>();
    // 1000 for each call, and three for each jump back.
    let first = |limit| {
        [
            op(Does::Add, 7, N, 0, 1),
            op(Does::Call, 0, N, 0, 1),
            op(Does::Less, 7, N, 0, limit),
            op(Does::Move, 0, 7, 0, 0),
            EXITS,
        ]
    };
    let turns = STEPS / 1003;
    assert_eq!(run_code(&code(&[&first(turns), &second])), Ok(turns));
    assert_eq!(run_code(&code(&[&first(turns + 1), &second])), Err((1, Reason::Steps(STEPS))));
}

#[test]
fn bpf_loop_counts_turns_until_its_program_does_not_return_0() {
    let first = |times, flags| {
        [
            op(Does::Move, 1, N, 0, times),
            op(Does::Move, 2, N, 0, PROGRAM + 1),
            op(Does::Move, 4, N, 0, flags),
            op(Does::Helper, 0, N, 0, LOOP),
            EXITS,
        ]
    };
    // Its argument is the number of the turn: it returns 1 in the sixth.
    let second = [op(Does::Equal, 1, N, 7, 5), op(Does::Jump, 0, N, 8, 0), op(Does::Move, 0, N, 0, 1), EXITS];
    let list = |times, flags| code(&[&first(times, flags), &second]);
    assert_eq!(run_code(&list(4, 0)), Ok(4));
    assert_eq!(run_code(&list(100, 0)), Ok(6));
    // EINVAL and E2BIG.
    assert_eq!(run_code(&list(4, 1)), Ok(22_u64.wrapping_neg()));
    assert_eq!(run_code(&list((1 << 23) + 1, 0)), Ok(7_u64.wrapping_neg()));
    let none = [op(Does::Move, 2, N, 0, 5), op(Does::Move, 4, N, 0, 0), op(Does::Helper, 0, N, 0, LOOP), EXITS];
    let argument = Reason::Argument("bpf_loop: its second argument must be a program".into());
    assert_eq!(run(&none), Err((2, argument)));
}

#[test]
fn faults_of_accesses_name_address_and_size() {
    let read = op(Does::Load32, 0, 1, 62, 0);
    assert_eq!(run(&[read, EXITS]), Err((0, Reason::Read { address: OWN + 62, size: 4 })));
    let write = op(Does::Store16, 1, N, 63, 0);
    assert_eq!(run(&[write, EXITS]), Err((0, Reason::Write { address: OWN + 63, size: 2 })));
    let shared = [op(Does::Wide, 1, N, 0, SHARED), Op::SECOND, op(Does::Load8, 0, 1, 0, 0), EXITS];
    assert_eq!(run(&shared), Ok(7));
    let written = [op(Does::Wide, 1, N, 0, SHARED), Op::SECOND, op(Does::Store8, 1, N, 0, 0), EXITS];
    let constant = Reason::ReadOnly { what: "a constant (.rodata or .kconfig)".into() };
    assert_eq!(run(&written), Err((2, constant)));
    let half = op(Does::Atomic64, 1, 2, 4, atomic::ADD);
    assert_eq!(run(&[half, EXITS]), Err((0, Reason::Unaligned { address: OWN + 4, size: 8 })));
}

#[test]
fn an_atomic_operation_returns_what_was_there_if_it_fetches() {
    let bytes = u64::from_le_bytes([8, 9, 10, 11, 12, 13, 14, 15]);
    let after = |imm| {
        let ops = [op(Does::Atomic64, 1, 2, 8, imm), op(Does::Load64, 0, 1, 8, 0), op(Does::Sub, 0, 2, 0, 0), EXITS];
        run(&ops)
    };
    // Without FETCH r2 stays 3; with FETCH r2 gets the old value.
    assert_eq!(after(atomic::ADD), Ok(bytes));
    assert_eq!(after(atomic::ADD | atomic::FETCH), Ok(3));
    assert_eq!(after(atomic::EXCHANGE), Ok(3_u64.wrapping_sub(bytes)));
    // r0 is 0 and differs from the stored value, so COMPARE writes nothing.
    assert_eq!(after(atomic::COMPARE), Ok(bytes - 3));
}

#[test]
fn an_instruction_is_named_by_its_program_and_its_number_there() {
    let code = code(&[&[EXITS, EXITS], &[EXITS]]);
    assert_eq!([0, 1, 2].map(|at| code.place(at)), [("first", 0), ("first", 1), ("second", 0)]);
}
