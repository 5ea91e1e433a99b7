//! Resolves jumps that depend on a constant loaded just before. The behaviour of a program does not change, including the
//! places of its faults.
//!
//! Source: none. Programs read bit fields through a switch on a constant that relocation inserts. Without the fusion, an ACK
//! under our own laws costs 1.4 % (NR-HSTCP) to 3.3 % (gHSTCP) more instructions. Fusing other pairs saved at most 1 % each.

use crate::instruction::{Code, IMMEDIATE, Op};

/// Replaces each load of a constant that decides the jumps after it by a [`Code::MoveJump`]. Call it on complete code.
pub(crate) fn fuse(ops: &mut [Op]) {
    for at in 0..ops.len() {
        if let Some(to) = decided(ops, at) {
            let load = &mut ops[at];
            if load.code == Code::Move32 {
                load.imm &= u64::from(u32::MAX);
            }
            (load.code, load.off) = (Code::MoveJump, (to as u32).cast_signed());
        }
    }
}

/// Target after the load of a constant at `at`, if the constant decides the jumps that follow.
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
        // Only forward jumps: steps are charged at backward ones, so that loops end.
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
    use crate::error::Reason;
    use crate::host::Host;
    use crate::instruction::Code as Does;
    use crate::machine::{Code, Function, Machine};
    use crate::maps::Maps;
    use crate::memory::{FRAME, Memory, OWN};

    fn op(code: Does, dst: u8, src: u8, off: i32, imm: u64) -> Op {
        Op { code, dst, src, off, imm }
    }

    #[test]
    fn a_switch_on_a_number_is_a_jump() {
        let n = IMMEDIATE;
        let mut ops = [
            op(Does::Move, 3, n, 0, 8),
            op(Does::SignedGreater32, 3, n, 4, 3),
            op(Does::Equal32, 3, n, 6, 1),
            op(Does::Jump, 0, n, 7, 0),
            op(Does::Equal32, 3, n, 6, 4),
            op(Does::Equal32, 3, n, 7, 8),
            op(Does::Load32, 1, 2, 0, 0),
            op(Does::Exit, 0, n, 8, 0),
        ];
        fuse(&mut ops);
        assert_eq!(ops[0], op(Does::MoveJump, 3, n, 7, 8));
        // A jump on another register, or backward, is not resolved.
        let mut other = [op(Does::Move, 3, n, 0, 8), op(Does::Equal32, 4, n, 2, 8), op(Does::Exit, 0, n, 0, 0)];
        fuse(&mut other);
        assert_eq!(other[0].code, Does::Move);
        let mut back = [op(Does::Move, 3, n, 0, 8), op(Does::Jump, 0, n, 0, 0)];
        fuse(&mut back);
        assert_eq!(back[0].code, Does::Move);
    }

    /// Result or the place and reason of a fault, and the memory afterwards.
    fn outcome(ops: &[Op]) -> (Result<u64, (usize, Reason)>, Vec<u8>) {
        let function = Function { name: String::new(), start: 0, len: ops.len(), stack: FRAME };
        let code = Code { ops: ops.to_vec(), functions: vec![function], ..Code::default() };
        let mut memory = Memory::bare((0..64).collect());
        let mut host = Host { maps: Maps::new(0), now: 0, random: 0 };
        let result = Machine::new(&code, &mut memory, &mut host).run(0, [OWN, 3, 4, 5, 6], 0);
        (result.map_err(|trap| (trap.at, trap.reason)), memory.own)
    }

    #[test]
    fn what_programs_do_stays_the_same() {
        let mut state = 9_u64;
        let mut draw = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let (mut fused, mut ended) = (0, 0);
        for _ in 0..20_000 {
            let mut ops: Vec<Op> = (0..40)
                .map(|i| {
                    let [dst, other] = [draw(4) as u8, 1 + draw(3) as u8];
                    let src = if draw(2) == 0 { IMMEDIATE } else { other };
                    let ahead = 1 + i + draw(4) as i32;
                    // Mostly within the memory, through the address in r1.
                    let at = if draw(40) == 0 { 60 } else { 8 * draw(7) as i32 };
                    match draw(10) {
                        0 | 4 => op([Does::Move, Does::Move32][draw(2) as usize], dst, src, 0, draw(9)),
                        1 | 2 => op(Does::Add, dst.max(2), src, 0, draw(9)),
                        3 => op(Does::Load64, dst.max(2), 1, at, 0),
                        5 => op(Does::Load32, dst.max(2), 1, at, 0),
                        6 => op(Does::Store64, 1, src, at, draw(9)),
                        7 => op(Does::Jump, 0, IMMEDIATE, ahead, 0),
                        8 => op([Does::Equal, Does::Equal32][draw(2) as usize], dst, src, ahead, draw(9)),
                        _ => op([Does::Less, Does::SignedGreater32][draw(2) as usize], dst, src, ahead, draw(9)),
                    }
                })
                .collect();
            ops.extend(vec![op(Does::Exit, 0, IMMEDIATE, 0, 0); 5]);
            let before = outcome(&ops);
            let plain = ops.clone();
            fuse(&mut ops);
            fused += ops.iter().zip(&plain).filter(|(a, b)| a != b).count();
            ended += usize::from(before.0.is_err());
            assert_eq!(before, outcome(&ops), "{plain:?}");
        }
        assert!(fused > 5_000 && (2000..18_000).contains(&ended), "{fused} {ended}");
    }
}
