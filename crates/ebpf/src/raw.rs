//! A program without an object, for tests of instructions.
//!
//! Source: RFC 9669.

use crate::error::{Error, Fault, Problem};
use crate::host::Host;
use crate::instruction::{Code as Does, HELPER, IMMEDIATE, Op, Raw, decode};
use crate::machine::{Code, Function, Machine};
use crate::maps::Maps;
use crate::memory::{FRAME, Memory, OWN};

/// Runs instructions with `context`, which they may read and write; its address is in `r1`. Returns `r0`. Helpers that use
/// no maps may be called, but no programs.
///
/// # Errors
/// A description of an invalid instruction.
pub fn execute(instructions: &[u8], context: &mut [u8]) -> Result<Result<u64, Fault>, Error> {
    const NAME: &str = "instructions";
    let failed = |at, text| Error::at(NAME, "main", at, Problem::Instruction(text));
    let len = instructions.len() / 8;
    let mut ops: Vec<Op> = Vec::new();
    let mut raws = instructions.chunks_exact(8).filter_map(Raw::read).enumerate();
    while let Some((at, raw)) = raws.next() {
        let op = match raw {
            _ if raw.is_wide() => {
                let (_, second) = raws.next().ok_or_else(|| failed(at, "is cut off".into()))?;
                let imm = u64::from(raw.imm.cast_unsigned()) | u64::from(second.imm.cast_unsigned()) << 32;
                ops.push(Op { code: Does::Wide, dst: raw.dst, src: IMMEDIATE, off: 0, imm });
                Op::SECOND
            }
            Raw { src: HELPER, imm, .. } if raw.is_call() => {
                Op { code: Does::Helper, imm: imm.cast_unsigned().into(), ..Op::SECOND }
            }
            _ => decode(&raw, at, len).map_err(|text| failed(at, text))?,
        };
        ops.push(op);
    }
    let functions = vec![Function { name: "main".into(), start: 0, len, stack: FRAME }];
    let code = Code { ops, functions, ..Code::default() };
    let mut memory = Memory::bare(context.to_vec());
    let mut host = Host { maps: Maps::new(0), now: 0, random: 0 };
    let mut machine = Machine::new(&code, &mut memory, &mut host);
    let result = machine.run(0, [OWN, 0, 0, 0, 0], 0);
    context.copy_from_slice(&memory.own[..context.len()]);
    Ok(result.map_err(|trap| {
        let (program, at) = code.place(trap.at);
        Fault::new(NAME, program, at, trap.reason)
    }))
}
