//! Instructions, decoded once into checked operations with absolute jump targets.
//!
//! Source: RFC 9669 (versions 1 to 4 of the instruction set), and the kernel's documentation of load-acquire and
//! store-release (`bpf/standardization/instruction-set.rst`). Packet loads, which are obsolete, are not supported.

use crate::elf::u32_at;

/// An instruction in the form of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    pub code: u8,
    pub dst: u8,
    pub src: u8,
    pub off: i16,
    pub imm: i32,
}

impl Raw {
    /// Decodes an instruction of 8 bytes.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let registers = *bytes.get(1)?;
        Some(Self {
            code: bytes[0],
            dst: registers & 15,
            src: registers >> 4,
            off: i16::from_le_bytes([*bytes.get(2)?, *bytes.get(3)?]),
            imm: u32_at(bytes, 4)?.cast_signed(),
        })
    }

    /// Whether it is the first half of an instruction of 16 bytes.
    pub fn is_wide(&self) -> bool {
        self.code == WIDE
    }

    /// Whether it is a call; `src` is the kind of its target.
    pub fn is_call(&self) -> bool {
        self.code == CALL
    }
}

/// First byte of the load of a 64-bit constant into a register.
pub(crate) const WIDE: u8 = 0x18;
const CALL: u8 = 0x85;

/// Kinds of call targets.
pub(crate) const HELPER: u8 = 0;
pub(crate) const LOCAL: u8 = 1;
/// `src` of a 64-bit load whose constant is the address of a program (`BPF_PSEUDO_FUNC`).
pub(crate) const PROGRAM: u8 = 4;

/// Source register number that means the immediate value of the instruction.
pub(crate) const IMMEDIATE: u8 = 16;

/// Operation of an instruction. `b` is the source register or the immediate value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
    Add,
    Sub,
    Mul,
    Div,
    SignedDiv,
    Or,
    And,
    Left,
    Right,
    Negate,
    Mod,
    SignedMod,
    Xor,
    Move,
    MoveSigned8,
    MoveSigned16,
    MoveSigned32,
    RightSigned,
    Add32,
    Sub32,
    Mul32,
    Div32,
    SignedDiv32,
    Or32,
    And32,
    Left32,
    Right32,
    Negate32,
    Mod32,
    SignedMod32,
    Xor32,
    Move32,
    Move32Signed8,
    Move32Signed16,
    RightSigned32,
    Keep16,
    Keep32,
    Keep64,
    Swap16,
    Swap32,
    Swap64,
    /// Load of a 64-bit constant; the instruction takes two places.
    Wide,
    Load8,
    Load16,
    Load32,
    Load64,
    LoadSigned8,
    LoadSigned16,
    LoadSigned32,
    Store8,
    Store16,
    Store32,
    Store64,
    /// Atomic operation; `imm` selects it.
    Atomic32,
    Atomic64,
    /// Jump to `target`.
    Jump,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    SignedGreater,
    SignedGreaterEqual,
    SignedLess,
    SignedLessEqual,
    AnyBit,
    Equal32,
    NotEqual32,
    Greater32,
    GreaterEqual32,
    Less32,
    LessEqual32,
    SignedGreater32,
    SignedGreaterEqual32,
    SignedLess32,
    SignedLessEqual32,
    AnyBit32,
    /// Call of a program at `target`; `imm` is its length.
    Call,
    /// Call of the helper with the number `imm`.
    Helper,
    /// Call of the kernel function with the number `imm` in the list of the code.
    Function,
    Exit,
    /// Causes a fault; `imm` is the index of the reason in the list of the code.
    Missing,
    /// The second half of a 16-byte instruction, which is never a jump target.
    Second,
    /// A load of a constant and a jump that compares with it ([`crate::fuse`]).
    MoveJump,
}

impl Code {
    /// All operations, by number.
    pub const ALL: [Self; 85] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::SignedDiv,
        Self::Or,
        Self::And,
        Self::Left,
        Self::Right,
        Self::Negate,
        Self::Mod,
        Self::SignedMod,
        Self::Xor,
        Self::Move,
        Self::MoveSigned8,
        Self::MoveSigned16,
        Self::MoveSigned32,
        Self::RightSigned,
        Self::Add32,
        Self::Sub32,
        Self::Mul32,
        Self::Div32,
        Self::SignedDiv32,
        Self::Or32,
        Self::And32,
        Self::Left32,
        Self::Right32,
        Self::Negate32,
        Self::Mod32,
        Self::SignedMod32,
        Self::Xor32,
        Self::Move32,
        Self::Move32Signed8,
        Self::Move32Signed16,
        Self::RightSigned32,
        Self::Keep16,
        Self::Keep32,
        Self::Keep64,
        Self::Swap16,
        Self::Swap32,
        Self::Swap64,
        Self::Wide,
        Self::Load8,
        Self::Load16,
        Self::Load32,
        Self::Load64,
        Self::LoadSigned8,
        Self::LoadSigned16,
        Self::LoadSigned32,
        Self::Store8,
        Self::Store16,
        Self::Store32,
        Self::Store64,
        Self::Atomic32,
        Self::Atomic64,
        Self::Jump,
        Self::Equal,
        Self::NotEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Less,
        Self::LessEqual,
        Self::SignedGreater,
        Self::SignedGreaterEqual,
        Self::SignedLess,
        Self::SignedLessEqual,
        Self::AnyBit,
        Self::Equal32,
        Self::NotEqual32,
        Self::Greater32,
        Self::GreaterEqual32,
        Self::Less32,
        Self::LessEqual32,
        Self::SignedGreater32,
        Self::SignedGreaterEqual32,
        Self::SignedLess32,
        Self::SignedLessEqual32,
        Self::AnyBit32,
        Self::Call,
        Self::Helper,
        Self::Function,
        Self::Exit,
        Self::Missing,
        Self::Second,
        Self::MoveJump,
    ];
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub code: Code,
    pub dst: u8,
    /// A register, or [`IMMEDIATE`].
    pub src: u8,
    /// Offset of a memory access; for a jump, its target from the code's first instruction.
    pub off: i32,
    pub imm: u64,
}

impl Op {
    pub const SECOND: Self = Self { code: Code::Second, dst: 0, src: 0, off: 0, imm: 0 };

    /// Index of its handler: two for each operation, for a register and for an immediate value.
    #[inline]
    pub fn handler(&self) -> usize {
        2 * self.code as usize + usize::from(self.src == IMMEDIATE)
    }

    /// An instruction that causes a fault; `reason` is the index of the reason.
    pub fn missing(reason: usize) -> Self {
        Self { code: Code::Missing, imm: reason as u64, ..Self::SECOND }
    }
}

/// Bit masks of the first byte: the class of the instruction, and whether the source is a register.
const CLASS: u8 = 7;
const REGISTER: u8 = 8;

fn unknown(raw: &Raw) -> String {
    format!("there is no instruction {:#04x} with these fields", raw.code)
}

/// Decodes the instruction at `at` of a program of `len` instructions; jump targets count from the start of the program.
/// The loader completes calls and 64-bit loads, because it knows what they refer to.
pub(crate) fn decode(raw: &Raw, at: usize, len: usize) -> Result<Op, String> {
    if raw.dst > 10 || raw.src > 10 {
        return Err("there are registers r0 to r10 only".into());
    }
    let op = match raw.code & CLASS {
        4 | 7 => arithmetic(raw),
        5 | 6 => jump(raw, at, len)?,
        1 => load(raw),
        2 | 3 => store(raw),
        _ => None,
    };
    let op = op.ok_or_else(|| unknown(raw))?;
    let writes = matches!(raw.code & CLASS, 1 | 4 | 7);
    if writes && raw.dst == 10 {
        return Err("writes r10, the frame pointer, which no program may".into());
    }
    Ok(op)
}

fn arithmetic(raw: &Raw) -> Option<Op> {
    use Code::{
        Add, Add32, And, And32, Div, Div32, Keep16, Keep32, Keep64, Left, Left32, Mod, Mod32, Move, Move32,
        Move32Signed8, Move32Signed16, MoveSigned8, MoveSigned16, MoveSigned32, Mul, Mul32, Negate, Negate32, Or, Or32,
        Right, Right32, RightSigned, RightSigned32, SignedDiv, SignedDiv32, SignedMod, SignedMod32, Sub, Sub32, Swap16,
        Swap32, Swap64, Xor, Xor32,
    };
    let wide = raw.code & CLASS == 7;
    let from_register = raw.code & REGISTER != 0;
    let of = |code64, code32| Some(if wide { code64 } else { code32 });
    let code = match (raw.code & 0xf0, raw.off) {
        (0x00, 0) => of(Add, Add32),
        (0x10, 0) => of(Sub, Sub32),
        (0x20, 0) => of(Mul, Mul32),
        (0x30, 0) => of(Div, Div32),
        (0x30, 1) => of(SignedDiv, SignedDiv32),
        (0x40, 0) => of(Or, Or32),
        (0x50, 0) => of(And, And32),
        (0x60, 0) => of(Left, Left32),
        (0x70, 0) => of(Right, Right32),
        (0x80, 0) if !from_register && raw.src == 0 && raw.imm == 0 => of(Negate, Negate32),
        (0x90, 0) => of(Mod, Mod32),
        (0x90, 1) => of(SignedMod, SignedMod32),
        (0xa0, 0) => of(Xor, Xor32),
        (0xb0, 0) => of(Move, Move32),
        (0xb0, 8) if from_register => of(MoveSigned8, Move32Signed8),
        (0xb0, 16) if from_register => of(MoveSigned16, Move32Signed16),
        (0xb0, 32) if from_register && wide => Some(MoveSigned32),
        (0xc0, 0) => of(RightSigned, RightSigned32),
        (0xd0, 0) if raw.src == 0 => {
            let list = match (wide, from_register) {
                (false, false) => [Keep16, Keep32, Keep64],
                (true, false) | (false, true) => [Swap16, Swap32, Swap64],
                (true, true) => return None,
            };
            return match raw.imm {
                16 => Some(list[0]),
                32 => Some(list[1]),
                64 => Some(list[2]),
                _ => None,
            }
            .map(|code| Op { code, dst: raw.dst, src: IMMEDIATE, off: 0, imm: 0 });
        }
        _ => None,
    }?;
    if if from_register { raw.imm != 0 } else { raw.src != 0 } {
        return None;
    }
    let imm = i64::from(raw.imm).cast_unsigned();
    // Refuses shifts by a constant that is not less than the width.
    if matches!(raw.code & 0xf0, 0x60 | 0x70 | 0xc0) && !from_register && imm >= if wide { 64 } else { 32 } {
        return None;
    }
    Some(Op { code, dst: raw.dst, src: if from_register { raw.src } else { IMMEDIATE }, off: 0, imm })
}

fn jump(raw: &Raw, at: usize, len: usize) -> Result<Option<Op>, String> {
    use Code::{
        AnyBit, AnyBit32, Equal, Equal32, Exit, Greater, Greater32, GreaterEqual, GreaterEqual32, Jump, Less, Less32,
        LessEqual, LessEqual32, NotEqual, NotEqual32, SignedGreater, SignedGreater32, SignedGreaterEqual,
        SignedGreaterEqual32, SignedLess, SignedLess32, SignedLessEqual, SignedLessEqual32,
    };
    let wide = raw.code & CLASS == 5;
    let from_register = raw.code & REGISTER != 0;
    let of = |code64, code32| if wide { code64 } else { code32 };
    let code = match raw.code & 0xf0 {
        0x00 => Jump,
        0x10 => of(Equal, Equal32),
        0x20 => of(Greater, Greater32),
        0x30 => of(GreaterEqual, GreaterEqual32),
        0x40 => of(AnyBit, AnyBit32),
        0x50 => of(NotEqual, NotEqual32),
        0x60 => of(SignedGreater, SignedGreater32),
        0x70 => of(SignedGreaterEqual, SignedGreaterEqual32),
        0x90 if raw.code == 0x95 => Exit,
        0xa0 => of(Less, Less32),
        0xb0 => of(LessEqual, LessEqual32),
        0xc0 => of(SignedLess, SignedLess32),
        0xd0 => of(SignedLessEqual, SignedLessEqual32),
        // "may_goto" does nothing here: the limit of steps ends loops.
        0xe0 if raw.code == 0xe5 && raw.src == 0 && raw.dst == 0 && raw.imm == 0 => {
            return Ok(Some(Op { code: Code::Move, dst: 0, src: 0, off: 0, imm: 0 }));
        }
        _ => return Ok(None),
    };
    let empty = raw.dst == 0 && raw.src == 0;
    let (clean, distance) = match code {
        Exit => (empty && raw.off == 0 && raw.imm == 0, 0),
        Jump if from_register => (false, 0),
        Jump if wide => (empty && raw.imm == 0, i64::from(raw.off)),
        Jump => (empty && raw.off == 0, i64::from(raw.imm)),
        _ if from_register => (raw.imm == 0, i64::from(raw.off)),
        _ => (raw.src == 0, i64::from(raw.off)),
    };
    if !clean {
        return Ok(None);
    }
    let target = (at as u64).cast_signed() + 1 + distance;
    if code != Exit && !(0..(len as u64).cast_signed()).contains(&target) {
        return Err(format!("jumps to instruction {target}, which is not in the program"));
    }
    Ok(Some(Op {
        code,
        dst: raw.dst,
        src: if from_register { raw.src } else { IMMEDIATE },
        off: target as i32,
        imm: i64::from(raw.imm).cast_unsigned(),
    }))
}

fn load(raw: &Raw) -> Option<Op> {
    use Code::{Load8, Load16, Load32, Load64, LoadSigned8, LoadSigned16, LoadSigned32};
    let code = match raw.code {
        0x61 => Load32,
        0x69 => Load16,
        0x71 => Load8,
        0x79 => Load64,
        0x81 => LoadSigned32,
        0x89 => LoadSigned16,
        0x91 => LoadSigned8,
        _ => return None,
    };
    (raw.imm == 0).then_some(Op { code, dst: raw.dst, src: raw.src, off: raw.off.into(), imm: 0 })
}

/// Atomic operations, by their value in `imm`.
pub(crate) mod atomic {
    pub const ADD: u64 = 0x00;
    pub const OR: u64 = 0x40;
    pub const AND: u64 = 0x50;
    pub const XOR: u64 = 0xa0;
    pub const FETCH: u64 = 1;
    pub const EXCHANGE: u64 = 0xe1;
    pub const COMPARE: u64 = 0xf1;
    pub const LOAD: i32 = 0x100;
    pub const STORE: i32 = 0x110;
}

fn store(raw: &Raw) -> Option<Op> {
    use Code::{Atomic32, Atomic64, Load8, Load16, Load32, Load64, Store8, Store16, Store32, Store64};
    let from_register = raw.code & CLASS == 3;
    let size = match raw.code & 0x18 {
        0x00 => 2,
        0x08 => 1,
        0x10 => 0,
        _ => 3,
    };
    let op = |code, dst, src, imm| Some(Op { code, dst, src, off: raw.off.into(), imm });
    match raw.code & 0xe0 {
        0x60 if from_register && raw.imm == 0 => op([Store8, Store16, Store32, Store64][size], raw.dst, raw.src, 0),
        0x60 if !from_register && raw.src == 0 => {
            let imm = i64::from(raw.imm).cast_unsigned();
            op([Store8, Store16, Store32, Store64][size], raw.dst, IMMEDIATE, imm)
        }
        0xc0 if from_register && raw.imm == atomic::LOAD && raw.dst != 10 => {
            op([Load8, Load16, Load32, Load64][size], raw.dst, raw.src, 0)
        }
        0xc0 if from_register && raw.imm == atomic::STORE => {
            op([Store8, Store16, Store32, Store64][size], raw.dst, raw.src, 0)
        }
        0xc0 if from_register && size >= 2 => {
            use atomic::{ADD, AND, COMPARE, EXCHANGE, FETCH, OR, XOR};
            let imm = u64::from(raw.imm.cast_unsigned());
            let known = matches!(imm, EXCHANGE | COMPARE) || matches!(imm & !FETCH, ADD | OR | AND | XOR);
            // The old value goes to the source register.
            let fetches = imm & FETCH != 0;
            let good = known && !(fetches && imm != COMPARE && raw.src == 10);
            good.then(|| op(if size == 3 { Atomic64 } else { Atomic32 }, raw.dst, raw.src, imm)).flatten()
        }
        _ => None,
    }
}
