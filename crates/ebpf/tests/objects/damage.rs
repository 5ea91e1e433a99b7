//! Random damage to files, drawn always alike.

/// Random numbers (xorshift64*).
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Changes bytes here and there; `likely` are the parts of the file where most of them are.
pub fn damage(bytes: &mut Vec<u8>, likely: &[std::ops::Range<usize>], chance: &mut Chance) {
    for _ in 0..=chance.below(4) {
        let place = match likely.get(chance.below(likely.len() + 1)) {
            Some(part) => part.start + chance.below(part.len()),
            None => chance.below(bytes.len()),
        };
        if place >= bytes.len() {
            continue;
        }
        match chance.below(6) {
            0 => bytes[place] ^= 1 << chance.below(8),
            1 => bytes[place] = chance.next() as u8,
            2 => bytes[place] = [0, 1, 0x7f, 0x80, 0xff][chance.below(5)],
            // A whole word: a small one, a huge one, any.
            3 => {
                let word = match chance.below(4) {
                    0 => chance.below(300) as u32,
                    1 => u32::MAX - chance.below(300) as u32,
                    2 => 1 << chance.below(32),
                    _ => chance.next() as u32,
                };
                let place = place & !3;
                let end = bytes.len().min(place + 4);
                bytes[place..end].copy_from_slice(&word.to_le_bytes()[..end - place]);
            }
            // A part of the file again elsewhere.
            4 => {
                let (from, len) = (chance.below(bytes.len()), 1 + chance.below(24));
                let len = len.min(bytes.len() - from).min(bytes.len() - place);
                bytes.copy_within(from..from + len, place);
            }
            _ if chance.below(20) == 0 => bytes.truncate(place),
            _ => {}
        }
    }
}

/// The parts of an object that are read: headers, code, types, relocations, symbols; found without the reader under
/// test.
pub fn parts(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let headers = word(40);
    let count = usize::from(u16::from_le_bytes(bytes[60..62].try_into().unwrap()));
    let mut list = vec![0..64, headers..headers + 64 * count];
    for i in 1..count {
        let (from, size) = (word(headers + 64 * i + 24), word(headers + 64 * i + 32));
        if size > 0 && from + size <= bytes.len() {
            list.push(from..from + size);
        }
    }
    list
}
