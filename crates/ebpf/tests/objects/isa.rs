//! Programs of one instruction each, and what RFC 9669 says comes of it, written down by itself: in numbers of 128
//! bits, without a look at the interpreter.

#![expect(clippy::cast_possible_wrap, reason = "that numbers wrap is the matter here")]

/// A program that reads two numbers at its context (0 and 8), and writes what comes of them (at 16).
pub struct Case {
    pub name: String,
    pub program: Vec<u8>,
    pub expected: Box<dyn Fn(u64, u64) -> u64>,
}

/// An instruction's 8 bytes.
pub fn insn(code: u8, dst: u8, src: u8, off: i16, imm: i32) -> [u8; 8] {
    let mut bytes = [code, src << 4 | dst, 0, 0, 0, 0, 0, 0];
    bytes[2..4].copy_from_slice(&off.to_le_bytes());
    bytes[4..].copy_from_slice(&imm.to_le_bytes());
    bytes
}

/// Program around `middle`, with `a` in r7, `b` in r8, the context in r6; the result is in r7.
fn around(middle: &[[u8; 8]]) -> Vec<u8> {
    let mut list = vec![insn(0xbf, 6, 1, 0, 0), insn(0x79, 7, 6, 0, 0), insn(0x79, 8, 6, 8, 0)];
    list.extend(middle);
    list.extend([insn(0x7b, 6, 7, 16, 0), insn(0xb7, 0, 0, 0, 0), insn(0x95, 0, 0, 0, 0)]);
    list.concat()
}

fn sign(x: u128, bits: u32) -> i128 {
    let x = x & ((1 << bits) - 1);
    if x >> (bits - 1) & 1 == 1 { x as i128 - (1_i128 << bits) } else { x as i128 }
}

/// Section 4.1, "Arithmetic instructions".
fn arithmetic(op: u8, bits: u32, signed: bool, a: u64, b: u64) -> u64 {
    let modulus = 1_u128 << bits;
    let (x, y) = (u128::from(a) % modulus, u128::from(b) % modulus);
    let (sx, sy) = (sign(x, bits), sign(y, bits));
    let shift = (y % u128::from(bits)) as u32;
    let wrapped = |value: i128| value.rem_euclid(modulus as i128) as u128;
    let result = match op {
        0x00 => x + y,
        0x10 => x + modulus - y,
        0x20 => x * y,
        0x30 if y == 0 => 0,
        0x30 if signed => wrapped(sx / sy),
        0x30 => x / y,
        0x40 => x | y,
        0x50 => x & y,
        0x60 => x << shift,
        0x70 => x >> shift,
        0x80 => modulus - x,
        0x90 if y == 0 => x,
        0x90 if signed => wrapped(sx % sy),
        0x90 => x % y,
        0xa0 => x ^ y,
        0xb0 => y,
        0xc0 => wrapped(sx >> shift),
        _ => unreachable!(),
    };
    (result % modulus) as u64
}

/// Section 4.3, "Jump instructions".
fn holds(op: u8, bits: u32, a: u64, b: u64) -> bool {
    let (x, y) = (u128::from(a) % (1 << bits), u128::from(b) % (1 << bits));
    let (sx, sy) = (sign(x, bits), sign(y, bits));
    match op {
        0x10 => x == y,
        0x20 => x > y,
        0x30 => x >= y,
        0x40 => x & y != 0,
        0x50 => x != y,
        0x60 => sx > sy,
        0x70 => sx >= sy,
        0xa0 => x < y,
        0xb0 => x <= y,
        0xc0 => sx < sy,
        0xd0 => sx <= sy,
        _ => unreachable!(),
    }
}

fn extended(imm: i32) -> u64 {
    i64::from(imm) as u64
}

const NUMBERS: [i32; 9] = [0, 1, 2, 7, 31, -1, i32::MAX, i32::MIN, 0x1234_5678];

/// All instructions that compute, jump, load, store or change memory atomically. `newest` adds what kernels before 6.6
/// lack.
pub fn cases(newest: bool) -> Vec<Case> {
    let mut list = Vec::new();
    let mut add = |name: String, middle: &[[u8; 8]], expected: Box<dyn Fn(u64, u64) -> u64>| {
        list.push(Case { name, program: around(middle), expected });
    };
    for (class, bits) in [(7, 64), (4, 32)] {
        for op in (0x00..=0xc0).step_by(0x10) {
            if op == 0x80 {
                let name = format!("neg{bits}");
                add(name, &[insn(op | class, 7, 0, 0, 0)], Box::new(move |a, b| arithmetic(op, bits, false, a, b)));
                continue;
            }
            for signed in [false, true] {
                if signed && !(newest && matches!(op, 0x30 | 0x90)) {
                    continue;
                }
                let off = i16::from(signed);
                let name = format!("{op:#04x} of {bits} bits, signed {signed}");
                let with = [insn(op | class | 8, 7, 8, off, 0)];
                add(name.clone(), &with, Box::new(move |a, b| arithmetic(op, bits, signed, a, b)));
                for imm in NUMBERS {
                    // The kernel refuses a division by 0, and shifts by more than there is.
                    let refused = (matches!(op, 0x30 | 0x90) && imm == 0)
                        || (matches!(op, 0x60 | 0x70 | 0xc0) && !(0..bits as i32).contains(&imm));
                    if !refused {
                        let with = [insn(op | class, 7, 0, off, imm)];
                        let expected = move |a, _| arithmetic(op, bits, signed, a, extended(imm));
                        add(format!("{name}, {imm}"), &with, Box::new(expected));
                    }
                }
            }
        }
    }
    for width in [8_u32, 16, 32] {
        for (class, bits) in [(7, 64), (4, 32)] {
            if newest && width < bits {
                let with = [insn(0xb8 | class, 7, 8, width as i16, 0)];
                let expected = move |_, b: u64| (sign(b.into(), width) as u64) & (u64::MAX >> (64 - bits));
                add(format!("movsx{bits} of {width} bits"), &with, Box::new(expected));
            }
        }
    }
    for width in [16_u32, 32, 64] {
        let swapped = move |a: u64, _| {
            let bytes = (0..width / 8).map(|i| (a >> (8 * i) & 0xff) << (width - 8 - 8 * i));
            bytes.sum::<u64>()
        };
        let kept = move |a: u64, _| (u128::from(a) % (1 << width)) as u64;
        add(format!("to little endian, {width}"), &[insn(0xd4, 7, 0, 0, width as i32)], Box::new(kept));
        add(format!("to big endian, {width}"), &[insn(0xdc, 7, 0, 0, width as i32)], Box::new(swapped));
        if newest {
            add(format!("swap {width}"), &[insn(0xd7, 7, 0, 0, width as i32)], Box::new(swapped));
        }
    }
    for (class, bits) in [(5, 64), (6, 32)] {
        for op in [0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0xa0, 0xb0, 0xc0, 0xd0] {
            let after = [insn(0xb7, 9, 0, 0, 0), insn(0xbf, 7, 9, 0, 0)];
            let with = [insn(0xb7, 9, 0, 0, 1), insn(op | class | 8, 7, 8, 1, 0), after[0], after[1]];
            let name = format!("jump {op:#04x} of {bits} bits");
            add(name.clone(), &with, Box::new(move |a, b| holds(op, bits, a, b).into()));
            for imm in NUMBERS {
                let with = [insn(0xb7, 9, 0, 0, 1), insn(op | class, 7, 0, 1, imm), after[0], after[1]];
                let expected = move |a, _| holds(op, bits, a, extended(imm)).into();
                add(format!("{name}, {imm}"), &with, Box::new(expected));
            }
        }
    }
    let mut skips = vec![("jump", insn(0x05, 0, 0, 1, 0))];
    if newest {
        skips.push(("long jump", insn(0x06, 0, 0, 0, 1)));
    }
    for (name, skip) in skips {
        // What is jumped over is reached from before, since the kernel wants that of all instructions.
        let with = [insn(0x15, 7, 0, 1, 5), skip, insn(0xb7, 7, 0, 0, 5)];
        add(name.into(), &with, Box::new(|a, _| a));
    }
    let wide = [insn(0x18, 7, 0, 0, -2), insn(0, 0, 0, 0, 0x7654_3210)];
    add("a number of 64 bits".into(), &wide, Box::new(|_, _| 0x7654_3210_ffff_fffe));
    memory(newest, &mut add);
    list
}

type Add<'a> = &'a mut dyn FnMut(String, &[[u8; 8]], Box<dyn Fn(u64, u64) -> u64>);

/// Sections 5.2 to 5.4: loads, stores, atomic operations, on the stack.
fn memory(newest: bool, add: Add) {
    for (size, width) in [(0x10_u8, 8_u32), (0x08, 16), (0x00, 32), (0x18, 64)] {
        let low = move |x: u64| (u128::from(x) % (1 << width)) as u64;
        let rest = move |x: u64| if width == 64 { 0 } else { x >> width << width };
        // The first bytes of a word that holds `a` are those of `b` afterwards.
        let with = [insn(0x7b, 10, 7, -8, 0), insn(0x63 | size, 10, 8, -8, 0), insn(0x79, 7, 10, -8, 0)];
        add(format!("store {width}"), &with, Box::new(move |a, b| rest(a) | low(b)));
        for imm in [-2, 0x1234_5678] {
            let with = [insn(0x7b, 10, 7, -8, 0), insn(0x62 | size, 10, 0, -8, imm), insn(0x79, 7, 10, -8, 0)];
            add(format!("store {width}, {imm}"), &with, Box::new(move |a, _| rest(a) | low(extended(imm))));
        }
        for at in (0..64 / width).map(|i| (i * width / 8) as i16) {
            let with = [insn(0x7b, 10, 7, -8, 0), insn(0x61 | size, 7, 10, at - 8, 0)];
            add(format!("load {width} at {at}"), &with, Box::new(move |a, _| low(a >> (8 * at))));
            if newest && width < 64 {
                let with = [insn(0x7b, 10, 7, -8, 0), insn(0x81 | size, 7, 10, at - 8, 0)];
                let expected = move |a: u64, _| sign((a >> (8 * at)).into(), width) as u64;
                add(format!("load {width} at {at} with its sign"), &with, Box::new(expected));
            }
        }
    }
    for (code, bits) in [(0xc3_u8, 32_u32), (0xdb, 64)] {
        let low = move |x: u64| (u128::from(x) % (1 << bits)) as u64;
        let rest = move |x: u64| if bits == 64 { 0 } else { x >> bits << bits };
        for (op, of) in [(0x00, 0x00_u8), (0x40, 0x40), (0x50, 0x50), (0xa0, 0xa0)] {
            let put = insn(0x7b, 10, 7, -8, 0);
            let get = insn(0x79, 7, 10, -8, 0);
            let change = move |a, b| rest(a) | arithmetic(of, bits, false, a, b);
            add(format!("atomic {op:#x} of {bits}"), &[put, insn(code, 10, 8, -8, op), get], Box::new(change));
            add(
                format!("atomic {op:#x} of {bits}, changed"),
                &[put, insn(code, 10, 8, -8, op | 1), get],
                Box::new(change),
            );
            let with = [put, insn(code, 10, 8, -8, op | 1), insn(0xbf, 7, 8, 0, 0)];
            add(format!("atomic {op:#x} of {bits}, fetched"), &with, Box::new(move |a, _| low(a)));
        }
        let put = insn(0x7b, 10, 7, -8, 0);
        let get = insn(0x79, 7, 10, -8, 0);
        add(
            format!("exchange {bits}"),
            &[put, insn(code, 10, 8, -8, 0xe1), get],
            Box::new(move |a, b| rest(a) | low(b)),
        );
        let with = [put, insn(code, 10, 8, -8, 0xe1), insn(0xbf, 7, 8, 0, 0)];
        add(format!("exchange {bits}, fetched"), &with, Box::new(move |a, _| low(a)));
        // What is compared with is what is there, or one more.
        for more in [0, 1] {
            let set = [put, insn(0xbf, 0, 7, 0, 0), insn(0x07, 0, 0, 0, more), insn(code, 10, 8, -8, 0xf1)];
            let expected = move |a, b| if more == 0 { rest(a) | low(b) } else { a };
            add(format!("compare {bits}, {more}"), &[&set[..], &[get]].concat(), Box::new(expected));
            let with = [&set[..], &[insn(0xbf, 7, 0, 0, 0)]].concat();
            add(format!("compare {bits}, {more}, fetched"), &with, Box::new(move |a, _| low(a)));
        }
    }
}

/// Pairs of numbers: corners, and others of every length.
pub fn operands() -> Vec<(u64, u64)> {
    let corners = [0, 1, 2, 31, 32, 63, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, u64::MAX, i64::MAX as u64];
    let mut list: Vec<(u64, u64)> = corners.iter().flat_map(|a| corners.iter().map(|b| (*a, *b))).collect();
    let mut state = 1_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    for _ in 0..200 {
        let (shifts, a, b) = (draw(), draw(), draw());
        list.push((a >> (shifts % 64), b >> (shifts >> 8 & 63)));
    }
    list
}
