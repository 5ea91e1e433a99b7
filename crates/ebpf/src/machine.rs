//! The interpreter.
//!
//! Source: RFC 9669. Differs from Linux: nothing is proved beforehand; each access is checked when it is made, and a call
//! ends after so many steps.

use crate::error::Reason;
use crate::host::{self, Host, LOOP};
use crate::instruction::{Code as Does, IMMEDIATE, Op, atomic};
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
}

/// Decoded programs of a control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub ops: Vec<Op>,
    pub functions: Vec<Function>,
    /// Why instructions must not be executed.
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

/// Where a run ended, and why.
#[derive(Debug)]
pub(crate) struct Trap {
    pub at: usize,
    pub reason: Reason,
}

pub(crate) struct Machine<'a> {
    pub code: &'a Code,
    pub memory: &'a mut Memory,
    pub host: &'a mut Host,
    /// That are left.
    pub steps: u64,
}

macro_rules! memory_reads {
    ($self:ident, $op:ident, $b:ident, $at:ident, $from:ty, $to:ty) => {{
        let address = $b.wrapping_add_signed($op.off.into());
        match $self.memory.read(address) {
            Some(bytes) => <$from>::from_le_bytes(bytes) as $to as u64,
            None => return Err(trap($at, Reason::Read { address, size: size_of::<$from>() })),
        }
    }};
}

macro_rules! memory_writes {
    ($self:ident, $op:ident, $a:ident, $b:ident, $at:ident, $type:ty) => {{
        let address = $a.wrapping_add_signed($op.off.into());
        if let Err(denied) = $self.memory.write(address, ($b as $type).to_le_bytes()) {
            return Err(trap($at, Self::denied(denied, address, size_of::<$type>())));
        }
    }};
}

#[cold]
fn trap(at: usize, reason: Reason) -> Trap {
    Trap { at, reason }
}

impl Machine<'_> {
    /// Calls the program that begins at an instruction; returns its `r0`.
    #[expect(clippy::too_many_lines, reason = "one line for each operation")]
    pub fn run(&mut self, entry: usize, arguments: [u64; 5], depth: usize) -> Result<u64, Trap> {
        if depth >= FRAMES {
            return Err(trap(entry, Reason::Frames));
        }
        let code = self.code;
        let ops = &code.ops[..];
        let mut r = [0_u64; 16];
        r[1..6].copy_from_slice(&arguments);
        r[10] = self.memory.frame(depth);
        let mut pc = entry;
        loop {
            let at = pc;
            let Some(op) = ops.get(at) else { return Err(trap(at, Reason::Missing("runs off its end".into()))) };
            let d = usize::from(op.dst & 15);
            let a = r[d];
            let b = if op.src == IMMEDIATE { op.imm } else { r[usize::from(op.src & 15)] };
            let (a32, b32) = (a as u32, b as u32);
            pc += 1;
            macro_rules! jump {
                ($holds:expr) => {
                    if $holds {
                        let to = op.off as usize;
                        if to <= at {
                            self.charge(at, (at - to) as u64 + 1)?;
                        }
                        pc = to;
                    }
                };
            }
            match op.code {
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
                Does::Load8 => r[d] = memory_reads!(self, op, b, at, u8, u64),
                Does::Load16 => r[d] = memory_reads!(self, op, b, at, u16, u64),
                Does::Load32 => r[d] = memory_reads!(self, op, b, at, u32, u64),
                Does::Load64 => r[d] = memory_reads!(self, op, b, at, u64, u64),
                Does::LoadSigned8 => r[d] = memory_reads!(self, op, b, at, i8, i64),
                Does::LoadSigned16 => r[d] = memory_reads!(self, op, b, at, i16, i64),
                Does::LoadSigned32 => r[d] = memory_reads!(self, op, b, at, i32, i64),
                Does::Store8 => memory_writes!(self, op, a, b, at, u8),
                Does::Store16 => memory_writes!(self, op, a, b, at, u16),
                Does::Store32 => memory_writes!(self, op, a, b, at, u32),
                Does::Store64 => memory_writes!(self, op, a, b, at, u64),
                Does::Atomic32 | Does::Atomic64 => self.atomic(op, &mut r).map_err(|reason| trap(at, reason))?,
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
                    self.charge(at, op.imm)?;
                    r[0] = self.run(op.off as usize, [r[1], r[2], r[3], r[4], r[5]], depth + 1)?;
                }
                Does::Exit => return Ok(r[0]),
                Does::Helper | Does::Function => {
                    let arguments = [r[1], r[2], r[3], r[4], r[5]];
                    r[0] = if op.code == Does::Helper && op.imm == LOOP {
                        self.repeat(at, arguments, depth + 1)?
                    } else {
                        self.called(op, &arguments).map_err(|reason| trap(at, reason))?
                    };
                }
                Does::Missing => {
                    let reason = code.reasons.get(op.imm as usize).cloned().unwrap_or_default();
                    return Err(trap(at, Reason::Missing(reason)));
                }
                Does::Second => return Err(trap(at, Reason::Missing("runs half an instruction".into()))),
            }
        }
    }

    fn charge(&mut self, at: usize, steps: u64) -> Result<(), Trap> {
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
    fn repeat(&mut self, at: usize, arguments: [u64; 5], depth: usize) -> Result<u64, Trap> {
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
        let Some(function) = number.and_then(|i| self.code.functions.get(i)) else {
            return Err(trap(at, Reason::Argument("bpf_loop: its second argument must be a program".into())));
        };
        let (start, len) = (function.start, function.len as u64);
        for turn in 0..times {
            self.charge(at, len)?;
            if self.run(start, [turn, context, 0, 0, 0], depth)? != 0 {
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

/// Towards zero; by 0 it is 0, and what does not fit wraps.
fn signed_div(a: i64, b: i64) -> i64 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

fn signed_mod(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}
