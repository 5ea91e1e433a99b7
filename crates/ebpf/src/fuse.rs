//! Pairs of instructions that often follow each other become one step, and jumps that are decided by a number just loaded
//! are taken with it. What a program does stays the same, to the place of its faults.
//!
//! Source: none. The pairs are those of our own laws and of the kernel's CUBIC; bit fields are read through a switch that
//! relocation decides.

use crate::instruction::{Code, IMMEDIATE, Op};

/// Goes through a control's code once it is complete.
pub(crate) fn fuse(ops: &mut [Op]) {
    for i in 1..ops.len() {
        let (first, second) = (ops[i - 1], ops[i]);
        if let Some(to) = decided(ops, i - 1) {
            ops[i - 1].code = Code::MoveJump;
            ops[i - 1].off = (to as u32).cast_signed();
            if first.code == Code::Move32 {
                ops[i - 1].imm &= u64::from(u32::MAX);
            }
            continue;
        }
        // The second of two has its operands where they usually are.
        let number = second.src == IMMEDIATE;
        ops[i - 1].code = match (first.code, second.code) {
            (Code::Move, Code::Add) if !number => Code::MoveAdd,
            (Code::Load32, Code::Load32) => Code::Load32Load32,
            (Code::Load64, Code::Add) if !number => Code::Load64Add,
            (Code::Store64, Code::Store64) if !number => Code::Store64Store64,
            (Code::Load32, Code::Equal32) if number => Code::Load32Equal32,
            (Code::Load32, Code::GreaterEqual32) if !number => Code::Load32GreaterEqual32,
            (Code::Add, Code::Load32) => Code::AddLoad32,
            (Code::Less, Code::Less) if number => Code::LessLess,
            (code, _) => code,
        };
    }
}

/// Where a number that an instruction loads leads, if what follows are jumps that it decides.
fn decided(ops: &[Op], at: usize) -> Option<usize> {
    let load = ops[at];
    let number = match load.code {
        Code::Move if load.src == IMMEDIATE => load.imm,
        Code::Move32 if load.src == IMMEDIATE => load.imm & u64::from(u32::MAX),
        _ => return None,
    };
    let mut to = at + 1;
    while let Some(op) = ops.get(to) {
        let (a, b) = (number as u32, op.imm as u32);
        let taken = match op.code {
            Code::Jump => true,
            _ if op.src != IMMEDIATE || op.dst != load.dst => break,
            Code::Equal => number == op.imm,
            Code::Equal32 => a == b,
            Code::SignedGreater32 => a.cast_signed() > b.cast_signed(),
            _ => break,
        };
        let next = if taken { op.off as usize } else { to + 1 };
        // Only ahead: loops count their steps.
        if next <= to {
            break;
        }
        to = next;
    }
    (to > at + 1).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(code: Code, dst: u8, src: u8, off: i32, imm: u64) -> Op {
        Op { code, dst, src, off, imm }
    }

    #[test]
    fn a_switch_on_a_number_is_a_jump() {
        let n = IMMEDIATE;
        let mut ops = [
            op(Code::Move, 3, n, 0, 8),
            op(Code::SignedGreater32, 3, n, 4, 3),
            op(Code::Equal32, 3, n, 6, 1),
            op(Code::Jump, 0, n, 7, 0),
            op(Code::Equal32, 3, n, 6, 4),
            op(Code::Equal32, 3, n, 7, 8),
            op(Code::Load32, 1, 2, 0, 0),
            op(Code::Exit, 0, n, 8, 0),
        ];
        fuse(&mut ops);
        assert_eq!(ops[0], op(Code::MoveJump, 3, n, 7, 8));
        // Of another register, or back, it is none.
        let mut other = [op(Code::Move, 3, n, 0, 8), op(Code::Equal32, 4, n, 2, 8), op(Code::Exit, 0, n, 0, 0)];
        fuse(&mut other);
        assert_eq!(other[0].code, Code::Move);
        let mut back = [op(Code::Move, 3, n, 0, 8), op(Code::Jump, 0, n, 0, 0)];
        fuse(&mut back);
        assert_eq!(back[0].code, Code::Move);
    }
}
