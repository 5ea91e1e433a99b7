//! The interpreter.
//!
//! Source: RFC 9669. Differs from Linux: nothing is proved beforehand; each access is checked when it is made, and a
//! call ends after a bounded number of steps.

use crate::error::Reason;
use crate::host::{self, Host, LOOP};
use crate::instruction::{Code as Does, Op, atomic};
use crate::maps::Definition;
use crate::memory::{Denied, FRAMES, Memory, PROGRAM};

/// Steps of a call at most, an instruction each: as many as the kernel's verifier looks at.
pub(crate) const STEPS: u64 = 1_000_000;

/// A program, or one that it calls.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    /// Its first instruction in the code.
    pub start: usize,
    pub len: usize,
    /// Bytes of the stack that it may use, from its end.
    pub stack: usize,
}

/// Decoded programs of a control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub ops: Vec<Op>,
    pub functions: Vec<Function>,
    /// Reasons why instructions must not be executed.
    pub reasons: Vec<String>,
    pub maps: Vec<Definition>,
}

impl Code {
    /// The program that has an instruction, and its number there.
    pub fn place(&self, at: usize) -> (&str, usize) {
        let after = self.functions.partition_point(|function| function.start <= at);
        let function = after.checked_sub(1).and_then(|i| self.functions.get(i));
        function.map_or(("", at), |function| (function.name.as_str(), at - function.start))
    }
}

/// End of a run: its place, and the reason.
#[derive(Debug)]
pub(crate) struct Trap {
    pub at: usize,
    pub reason: Reason,
}

pub(crate) struct Machine<'a> {
    code: &'a Code,
    ops: &'a [Op],
    memory: &'a mut Memory,
    host: &'a mut Host,
    /// Number of steps left.
    steps: u64,
    depth: usize,
    trap: Option<Box<Trap>>,
}

macro_rules! memory_reads {
    ($self:ident, $op:ident, $b:expr, $at:ident, $from:ty, $to:ty) => {{
        let address = $b.wrapping_add_signed($op.off.into());
        match $self.memory.read(address) {
            Some(bytes) => <$from>::from_le_bytes(bytes) as $to as u64,
            None => return Err(unread($at, address, size_of::<$from>())),
        }
    }};
}

macro_rules! memory_writes {
    ($self:ident, $op:ident, $a:expr, $b:expr, $at:ident, $type:ty) => {{
        let address = $a.wrapping_add_signed($op.off.into());
        if let Err(denied) = $self.memory.write(address, ($b as $type).to_le_bytes()) {
            return Err(unwritten($at, denied, address, size_of::<$type>()));
        }
    }};
}

/// Never: the loader looks at the last instruction of each program.
#[cold]
fn ends() -> Reason {
    Reason::Missing("runs off its end".into())
}

#[expect(clippy::unnecessary_box_returns, reason = "small, so that results of steps are registers")]
#[cold]
#[inline(never)]
fn unread(at: usize, address: u64, size: usize) -> Box<Trap> {
    trap(at, Reason::Read { address, size })
}

#[expect(clippy::unnecessary_box_returns, reason = "small, so that results of steps are registers")]
#[cold]
#[inline(never)]
fn unwritten(at: usize, why: Denied, address: u64, size: usize) -> Box<Trap> {
    trap(at, Machine::denied(why, address, size))
}

#[expect(clippy::unnecessary_box_returns, reason = "small, so that results of steps are registers")]
#[cold]
fn trap(at: usize, reason: Reason) -> Box<Trap> {
    Box::new(Trap { at, reason })
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a Code, memory: &'a mut Memory, host: &'a mut Host) -> Self {
        Self { code, ops: &code.ops, memory, host, steps: STEPS, depth: 0, trap: None }
    }

    /// Calls the program of a number; returns its `r0`.
    pub fn run(&mut self, number: usize, arguments: [u64; 5], depth: usize) -> Result<u64, Box<Trap>> {
        let Function { start: entry, stack, .. } = self.code.functions[number];
        if depth >= FRAMES {
            return Err(trap(entry, Reason::Frames));
        }
        let ops = &self.code.ops[..];
        let mut r = [0_u64; 16];
        r[1..6].copy_from_slice(&arguments);
        r[10] = self.memory.frame(depth, stack);
        let before = std::mem::replace(&mut self.depth, depth);
        let mut pc = entry;
        loop {
            pc = next(self, &mut r, pc, CHAIN);
            if pc >= ops.len() {
                break;
            }
        }
        self.depth = before;
        match self.trap.take() {
            Some(trap) => Err(trap),
            None if pc == EXIT => Ok(r[0]),
            None => Err(trap(pc, ends())),
        }
    }

    fn charge(&mut self, at: usize, steps: u64) -> Result<(), Box<Trap>> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(trap(at, Reason::Steps(STEPS))),
        }
    }

    #[cold]
    fn denied(why: Denied, address: u64, size: usize) -> Reason {
        match why {
            Denied::Outside => Reason::Write { address, size },
            Denied::ReadOnly => Reason::ReadOnly { what: Memory::name(address) },
        }
    }

    fn called(&mut self, op: &Op, arguments: &[u64; 5]) -> Result<u64, Reason> {
        let mut cost = 1;
        let result = if op.code == Does::Helper {
            self.host.help(op.imm, arguments, &self.code.maps, self.memory, &mut cost)
        } else {
            host::call(op.imm, arguments, self.memory)
        };
        self.steps = self.steps.checked_sub(cost).ok_or(Reason::Steps(STEPS))?;
        result
    }

    /// Helper `bpf_loop`: calls a program so often, with the number of the turn, until it does not return 0.
    fn repeat(&mut self, at: usize, arguments: [u64; 5], depth: usize) -> Result<u64, Box<Trap>> {
        const MOST: u64 = 1 << 23;
        let [times, program, context, flags, _] = arguments;
        let times = times & 0xffff_ffff;
        if flags != 0 {
            return Ok(22_u64.wrapping_neg());
        }
        if times > MOST {
            return Ok(7_u64.wrapping_neg());
        }
        let number = program.checked_sub(PROGRAM).and_then(|i| usize::try_from(i).ok());
        let Some((number, function)) = number.and_then(|i| Some((i, self.code.functions.get(i)?))) else {
            return Err(trap(at, Reason::Argument("bpf_loop: its second argument must be a program".into())));
        };
        let len = function.len as u64;
        for turn in 0..times {
            self.charge(at, len)?;
            if self.run(number, [turn, context, 0, 0, 0], depth)? != 0 {
                return Ok(turn + 1);
            }
        }
        Ok(times)
    }

    #[inline(never)]
    fn atomic(&mut self, op: &Op, r: &mut [u64; 16]) -> Result<(), Reason> {
        let (d, s) = (usize::from(op.dst & 15), usize::from(op.src & 15));
        let address = r[d].wrapping_add_signed(op.off.into());
        let size = if op.code == Does::Atomic32 { 4 } else { 8 };
        if address % size as u64 != 0 {
            return Err(Reason::Unaligned { address, size });
        }
        let mask = if size == 4 { u64::from(u32::MAX) } else { u64::MAX };
        let old = match size {
            4 => self.memory.read(address).map(|bytes| u32::from_le_bytes(bytes).into()),
            _ => self.memory.read(address).map(u64::from_le_bytes),
        };
        let old: u64 = old.ok_or(Reason::Read { address, size })?;
        let source = r[s] & mask;
        let new = match op.imm & !atomic::FETCH {
            _ if op.imm == atomic::EXCHANGE => source,
            _ if op.imm == atomic::COMPARE => {
                if old == r[0] & mask {
                    source
                } else {
                    old
                }
            }
            atomic::ADD => old.wrapping_add(source),
            atomic::OR => old | source,
            atomic::AND => old & source,
            _ => old ^ source,
        };
        let written = match size {
            4 => self.memory.write(address, (new as u32).to_le_bytes()),
            _ => self.memory.write(address, new.to_le_bytes()),
        };
        written.map_err(|denied| Self::denied(denied, address, size))?;
        if op.imm == atomic::COMPARE {
            r[0] = old;
        } else if op.imm & atomic::FETCH != 0 {
            r[s] = old;
        }
        Ok(())
    }
}

/// Executes instructions from one on, and tells where to go on; [`EXIT`] at the end.
type Handler = fn(&mut Machine, &mut [u64; 16], &Op, usize, usize) -> usize;

/// No instruction: the program has ended, well or by a trap.
const EXIT: usize = usize::MAX;
/// Instructions that call each other in a row. The compiler makes jumps of such calls; where it does not, they must not
/// exhaust the stack.
const CHAIN: usize = 128;

macro_rules! handlers {
    ($($number:literal)*) => {
        /// Handlers of operations, by the operation's number and the kind of its second operand. Each ends with a jump
        /// of its own to the next handler, so that the processor can predict it.
        static HANDLERS: [Handler; 2 * Does::ALL.len()] = [$(step::<$number, false>, step::<$number, true>),*];
    };
}

handlers! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19
    20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39
    40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59
    60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79
    80 81 82 83 84
}

#[expect(clippy::inline_always, reason = "a step is one function that ends with a jump")]
#[inline(always)]
fn next(machine: &mut Machine, r: &mut [u64; 16], at: usize, left: usize) -> usize {
    match machine.ops.get(at) {
        Some(op) if left > 0 => HANDLERS[op.handler()](machine, r, op, at, left),
        _ => at,
    }
}

fn step<const CODE: usize, const NUMBER: bool>(
    machine: &mut Machine,
    r: &mut [u64; 16],
    op: &Op,
    at: usize,
    left: usize,
) -> usize {
    match execute::<CODE, NUMBER>(machine, r, op, at) {
        Ok(pc) => next(machine, r, pc, left - 1),
        Err(trap) => ended(machine, trap),
    }
}

#[cold]
#[inline(never)]
fn ended(machine: &mut Machine, trap: Box<Trap>) -> usize {
    machine.trap = Some(trap);
    EXIT
}

/// Executes one instruction, of which the operation is known; returns which comes next.
#[expect(clippy::too_many_lines, reason = "one line for each operation")]
#[expect(clippy::inline_always, reason = "a step is one function that ends with a jump")]
#[inline(always)]
fn execute<const CODE: usize, const NUMBER: bool>(
    machine: &mut Machine,
    r: &mut [u64; 16],
    op: &Op,
    at: usize,
) -> Result<usize, Box<Trap>> {
    let d = usize::from(op.dst & 15);
    let a = r[d];
    let b = if NUMBER { op.imm } else { r[usize::from(op.src & 15)] };
    let (a32, b32) = (a as u32, b as u32);
    let mut pc = at + 1;
    macro_rules! jump {
        ($holds:expr) => {
            if $holds {
                let to = op.off as usize;
                if to <= at {
                    machine.charge(at, (at - to) as u64 + 1)?;
                }
                pc = to;
            }
        };
    }
    match const { Does::ALL[CODE] } {
        Does::Add => r[d] = a.wrapping_add(b),
        Does::Sub => r[d] = a.wrapping_sub(b),
        Does::Mul => r[d] = a.wrapping_mul(b),
        Does::Div => r[d] = a.checked_div(b).unwrap_or(0),
        Does::SignedDiv => r[d] = signed_div(a.cast_signed(), b.cast_signed()).cast_unsigned(),
        Does::Or => r[d] = a | b,
        Does::And => r[d] = a & b,
        Does::Left => r[d] = a.wrapping_shl(b32),
        Does::Right => r[d] = a.wrapping_shr(b32),
        Does::Negate => r[d] = a.wrapping_neg(),
        Does::Mod => r[d] = a.checked_rem(b).unwrap_or(a),
        Does::SignedMod => r[d] = signed_mod(a.cast_signed(), b.cast_signed()).cast_unsigned(),
        Does::Xor => r[d] = a ^ b,
        Does::Move => r[d] = b,
        Does::MoveSigned8 => r[d] = i64::from(b as i8).cast_unsigned(),
        Does::MoveSigned16 => r[d] = i64::from(b as i16).cast_unsigned(),
        Does::MoveSigned32 => r[d] = i64::from(b as i32).cast_unsigned(),
        Does::RightSigned => r[d] = a.cast_signed().wrapping_shr(b32).cast_unsigned(),
        Does::Add32 => r[d] = a32.wrapping_add(b32).into(),
        Does::Sub32 => r[d] = a32.wrapping_sub(b32).into(),
        Does::Mul32 => r[d] = a32.wrapping_mul(b32).into(),
        Does::Div32 => r[d] = a32.checked_div(b32).unwrap_or(0).into(),
        Does::SignedDiv32 => {
            let (a, b) = (i64::from(a32.cast_signed()), i64::from(b32.cast_signed()));
            r[d] = (signed_div(a, b) as u32).into();
        }
        Does::Or32 => r[d] = (a32 | b32).into(),
        Does::And32 => r[d] = (a32 & b32).into(),
        Does::Left32 => r[d] = a32.wrapping_shl(b32).into(),
        Does::Right32 => r[d] = a32.wrapping_shr(b32).into(),
        Does::Negate32 => r[d] = a32.wrapping_neg().into(),
        Does::Mod32 => r[d] = a32.checked_rem(b32).unwrap_or(a32).into(),
        Does::SignedMod32 => {
            let (a, b) = (i64::from(a32.cast_signed()), i64::from(b32.cast_signed()));
            r[d] = (signed_mod(a, b) as u32).into();
        }
        Does::Xor32 => r[d] = (a32 ^ b32).into(),
        Does::Move32 => r[d] = b32.into(),
        Does::Move32Signed8 => r[d] = i32::from(b as i8).cast_unsigned().into(),
        Does::Move32Signed16 => r[d] = i32::from(b as i16).cast_unsigned().into(),
        Does::RightSigned32 => r[d] = a32.cast_signed().wrapping_shr(b32).cast_unsigned().into(),
        Does::Keep16 => r[d] = a & 0xffff,
        Does::Keep32 => r[d] = a & 0xffff_ffff,
        Does::Keep64 => {}
        Does::Swap16 => r[d] = (a as u16).swap_bytes().into(),
        Does::Swap32 => r[d] = a32.swap_bytes().into(),
        Does::Swap64 => r[d] = a.swap_bytes(),
        Does::Wide => {
            r[d] = op.imm;
            pc += 1;
        }
        Does::Load8 => r[d] = memory_reads!(machine, op, b, at, u8, u64),
        Does::Load16 => r[d] = memory_reads!(machine, op, b, at, u16, u64),
        Does::Load32 => r[d] = memory_reads!(machine, op, b, at, u32, u64),
        Does::Load64 => r[d] = memory_reads!(machine, op, b, at, u64, u64),
        Does::LoadSigned8 => r[d] = memory_reads!(machine, op, b, at, i8, i64),
        Does::LoadSigned16 => r[d] = memory_reads!(machine, op, b, at, i16, i64),
        Does::LoadSigned32 => r[d] = memory_reads!(machine, op, b, at, i32, i64),
        Does::Store8 => memory_writes!(machine, op, a, b, at, u8),
        Does::Store16 => memory_writes!(machine, op, a, b, at, u16),
        Does::Store32 => memory_writes!(machine, op, a, b, at, u32),
        Does::Store64 => memory_writes!(machine, op, a, b, at, u64),
        Does::Atomic32 | Does::Atomic64 => machine.atomic(op, r).map_err(|reason| trap(at, reason))?,
        Does::Jump => jump!(true),
        Does::Equal => jump!(a == b),
        Does::NotEqual => jump!(a != b),
        Does::Greater => jump!(a > b),
        Does::GreaterEqual => jump!(a >= b),
        Does::Less => jump!(a < b),
        Does::LessEqual => jump!(a <= b),
        Does::SignedGreater => jump!(a.cast_signed() > b.cast_signed()),
        Does::SignedGreaterEqual => jump!(a.cast_signed() >= b.cast_signed()),
        Does::SignedLess => jump!(a.cast_signed() < b.cast_signed()),
        Does::SignedLessEqual => jump!(a.cast_signed() <= b.cast_signed()),
        Does::AnyBit => jump!(a & b != 0),
        Does::Equal32 => jump!(a32 == b32),
        Does::NotEqual32 => jump!(a32 != b32),
        Does::Greater32 => jump!(a32 > b32),
        Does::GreaterEqual32 => jump!(a32 >= b32),
        Does::Less32 => jump!(a32 < b32),
        Does::LessEqual32 => jump!(a32 <= b32),
        Does::SignedGreater32 => jump!(a32.cast_signed() > b32.cast_signed()),
        Does::SignedGreaterEqual32 => jump!(a32.cast_signed() >= b32.cast_signed()),
        Does::SignedLess32 => jump!(a32.cast_signed() < b32.cast_signed()),
        Does::SignedLessEqual32 => jump!(a32.cast_signed() <= b32.cast_signed()),
        Does::AnyBit32 => jump!(a32 & b32 != 0),
        Does::Call => {
            // As many instructions as it has, so that straight code need not count.
            let number = op.imm as usize;
            machine.charge(at, machine.code.functions[number].len as u64)?;
            r[0] = machine.run(number, [r[1], r[2], r[3], r[4], r[5]], machine.depth + 1)?;
        }
        Does::Exit => pc = EXIT,
        Does::Helper | Does::Function => {
            let arguments = [r[1], r[2], r[3], r[4], r[5]];
            r[0] = if op.code == Does::Helper && op.imm == LOOP {
                machine.repeat(at, arguments, machine.depth + 1)?
            } else {
                machine.called(op, &arguments).map_err(|reason| trap(at, reason))?
            };
        }
        Does::Missing => {
            let reason = machine.code.reasons.get(op.imm as usize).cloned().unwrap_or_default();
            return Err(trap(at, Reason::Missing(reason)));
        }
        Does::MoveJump => {
            r[d] = op.imm;
            pc = op.off as usize;
        }
        Does::Second => return Err(trap(at, Reason::Missing("runs half an instruction".into()))),
    }
    Ok(pc)
}

/// Towards zero; by 0 it is 0, and what does not fit wraps.
fn signed_div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

fn signed_mod(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

#[cfg(test)]
mod tests;
