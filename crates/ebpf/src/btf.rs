//! Types of an object, and CO-RE relocations of its instructions (BTF).
//!
//! Source: the kernel's documentation, `bpf/btf.rst`: sections `.BTF` and `.BTF.ext`.

use crate::elf::{name_at, u16_at, u32_at};
use crate::error::Problem;
use std::collections::BTreeMap;

const MAGIC: u16 = 0xeb9f;
/// Largest depth of nested types that is followed.
const DEEPEST: usize = 32;

/// Number of a type; 0 is `void`.
pub(crate) type Id = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub name: u32,
    pub id: Id,
    /// Offset from the start of the structure, in bits.
    pub offset: u32,
    /// Width of a bit field in bits, otherwise 0.
    pub bits: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Void,
    /// Size in bytes; for a smaller integer, its width in bits, from bit `offset` on.
    Int {
        size: u32,
        bits: u8,
        offset: u8,
        signed: bool,
    },
    Pointer(Id),
    Array {
        element: Id,
        count: u32,
    },
    Struct {
        size: u32,
        members: Vec<Member>,
    },
    Union {
        size: u32,
        members: Vec<Member>,
    },
    /// Names and values.
    Enum {
        size: u32,
        values: Vec<(u32, u64)>,
        signed: bool,
    },
    Forward,
    Typedef(Id),
    /// `const`, `volatile`, `restrict`, or a tag of a type.
    Modifier(Id),
    Function(Id),
    /// A function type with this number of parameters.
    Prototype(u32),
    Variable(Id),
    /// Types of variables, with their places.
    Section(Vec<Placed>),
    Float(u32),
    /// Tag of a declaration.
    Tag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub id: Id,
    pub offset: u32,
    pub size: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub name: u32,
    pub kind: Kind,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Btf {
    pub types: Vec<Type>,
    pub strings: Vec<u8>,
}

fn damaged(what: &str) -> Problem {
    Problem::Types(format!("the types (BTF) are damaged: {what}"))
}

/// Checks the start of a header, which is the same in both sections. Returns the offset of the data behind the header.
fn header(bytes: &[u8]) -> Option<usize> {
    let right = u16_at(bytes, 0)? == MAGIC && *bytes.get(2)? == 1;
    right.then_some(u32_at(bytes, 4)? as usize)
}

/// A part of a section; its offset and length are at `at` in the header.
fn part(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let start = header(bytes)?.checked_add(u32_at(bytes, at)? as usize)?;
    bytes.get(start..start.checked_add(u32_at(bytes, at + 4)? as usize)?)
}

impl Btf {
    /// Reads a section `.BTF`.
    pub fn read(bytes: &[u8]) -> Result<Self, Problem> {
        let rows = part(bytes, 8).ok_or_else(|| damaged("its header"))?;
        let strings = part(bytes, 16).ok_or_else(|| damaged("its header"))?.to_vec();
        let mut btf = Self { types: vec![Type { name: 0, kind: Kind::Void }], strings };
        let mut at = 0;
        while at < rows.len() {
            let read = Self::read_type(rows, &mut at);
            btf.types.push(read.ok_or_else(|| damaged(&format!("type {}", btf.types.len())))?);
        }
        Ok(btf)
    }

    fn read_type(rows: &[u8], at: &mut usize) -> Option<Type> {
        let (name, info, word) = (u32_at(rows, *at)?, u32_at(rows, *at + 4)?, u32_at(rows, *at + 8)?);
        let count = (info & 0xffff) as usize;
        let flag = info >> 31 != 0;
        let start = *at + 12;
        let number = info >> 24 & 0x1f;
        let rest = match number {
            1 | 14 | 17 => 4,
            3 => 12,
            4 | 5 | 15 | 19 => 12 * count,
            6 | 13 => 8 * count,
            _ => 0,
        };
        *at = start + rest;
        let more = rows.get(start..*at)?;
        let members = || {
            let one = |row: &[u8]| {
                let place = u32_at(row, 8)?;
                let (offset, bits) = if flag { (place & 0xff_ffff, (place >> 24) as u8) } else { (place, 0) };
                Some(Member { name: u32_at(row, 0)?, id: u32_at(row, 4)?, offset, bits })
            };
            more.chunks_exact(12).map(one).collect::<Option<Vec<_>>>()
        };
        let kind = match number {
            1 => {
                let word_of = u32_at(more, 0)?;
                let (signed, offset, bits) = (word_of >> 24 & 1 != 0, (word_of >> 16) as u8, word_of as u8);
                Kind::Int { size: word, bits, offset, signed }
            }
            2 => Kind::Pointer(word),
            3 => Kind::Array { element: u32_at(more, 0)?, count: u32_at(more, 8)? },
            4 => Kind::Struct { size: word, members: members()? },
            5 => Kind::Union { size: word, members: members()? },
            6 => {
                let value = |raw: u32| if flag { i64::from(raw.cast_signed()).cast_unsigned() } else { u64::from(raw) };
                let one = |row: &[u8]| Some((u32_at(row, 0)?, value(u32_at(row, 4)?)));
                Kind::Enum { size: word, values: more.chunks_exact(8).map(one).collect::<Option<_>>()?, signed: flag }
            }
            7 => Kind::Forward,
            8 => Kind::Typedef(word),
            9..=11 | 18 => Kind::Modifier(word),
            12 => Kind::Function(word),
            13 => Kind::Prototype(count as u32),
            14 => Kind::Variable(word),
            15 => {
                let one =
                    |row: &[u8]| Some(Placed { id: u32_at(row, 0)?, offset: u32_at(row, 4)?, size: u32_at(row, 8)? });
                Kind::Section(more.chunks_exact(12).map(one).collect::<Option<_>>()?)
            }
            16 => Kind::Float(word),
            17 => Kind::Tag,
            19 => {
                let one =
                    |row: &[u8]| Some((u32_at(row, 0)?, u64::from(u32_at(row, 4)?) | u64::from(u32_at(row, 8)?) << 32));
                Kind::Enum { size: word, values: more.chunks_exact(12).map(one).collect::<Option<_>>()?, signed: flag }
            }
            _ => return None,
        };
        Some(Type { name, kind })
    }

    /// The text at an offset in the table of strings; empty if there is none.
    pub fn text(&self, at: u32) -> &str {
        name_at(&self.strings, at as usize).unwrap_or("")
    }

    pub fn kind(&self, id: Id) -> Option<&Kind> {
        Some(&self.types.get(id as usize)?.kind)
    }

    pub fn name(&self, id: Id) -> &str {
        self.types.get(id as usize).map_or("", |found| self.text(found.name))
    }

    /// The type behind typedefs and modifiers.
    pub fn resolve(&self, mut id: Id) -> Option<Id> {
        for _ in 0..DEEPEST {
            match self.kind(id)? {
                Kind::Typedef(next) | Kind::Modifier(next) | Kind::Variable(next) => id = *next,
                _ => return Some(id),
            }
        }
        None
    }

    /// The type behind modifiers, but not behind typedefs.
    pub fn unmodified(&self, mut id: Id) -> Option<Id> {
        for _ in 0..DEEPEST {
            match self.kind(id)? {
                Kind::Modifier(next) => id = *next,
                _ => return Some(id),
            }
        }
        None
    }

    /// Size of a type in bytes.
    pub fn size(&self, id: Id) -> Option<u32> {
        let mut id = id;
        let mut times = 1_u32;
        for _ in 0..DEEPEST {
            id = self.resolve(id)?;
            match self.kind(id)? {
                Kind::Int { size, .. }
                | Kind::Struct { size, .. }
                | Kind::Union { size, .. }
                | Kind::Enum { size, .. }
                | Kind::Float(size) => return times.checked_mul(*size),
                Kind::Pointer(_) => return times.checked_mul(8),
                Kind::Array { element, count } => {
                    times = times.checked_mul(*count)?;
                    id = *element;
                }
                _ => return None,
            }
        }
        None
    }

    /// Members of a structure or union.
    pub fn members(&self, id: Id) -> Option<&[Member]> {
        match self.kind(id)? {
            Kind::Struct { members, .. } | Kind::Union { members, .. } => Some(members),
            _ => None,
        }
    }

    /// Variables of a section, with their names.
    pub fn section(&self, name: &str) -> impl Iterator<Item = (&str, Id)> {
        let of_name = |found: &&Type| matches!(found.kind, Kind::Section(_)) && self.text(found.name) == name;
        let list = self.types.iter().find(of_name).map_or(&[][..], |found| match &found.kind {
            Kind::Section(list) => list,
            _ => &[],
        });
        list.iter().map(|placed| (self.name(placed.id), placed.id))
    }
}

/// A change to an instruction that is needed because the compiler saw another layout of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adaptation {
    /// Offset of the instruction in the section, in bytes.
    pub offset: u32,
    pub id: Id,
    /// Offset of the string with the path to a field: `0:3:1`.
    pub path: u32,
    pub kind: u32,
}

/// Reads the CO-RE relocations of a section `.BTF.ext`: by section, in the order of their offsets.
pub(crate) fn adaptations(bytes: &[u8], btf: &Btf) -> Result<BTreeMap<String, Vec<Adaptation>>, Problem> {
    let start = header(bytes).ok_or_else(|| damaged("the header of .BTF.ext"))?;
    // Older headers end before these fields.
    if start < 32 || u32_at(bytes, 28) == Some(0) {
        return Ok(BTreeMap::new());
    }
    read_adaptations(bytes, btf).ok_or_else(|| damaged("the relocations of .BTF.ext"))
}

fn read_adaptations(bytes: &[u8], btf: &Btf) -> Option<BTreeMap<String, Vec<Adaptation>>> {
    let rows = part(bytes, 24)?;
    let size = u32_at(rows, 0)? as usize;
    if size < 16 {
        return None;
    }
    let mut all: BTreeMap<String, Vec<Adaptation>> = BTreeMap::new();
    let mut at = 4;
    while at < rows.len() {
        let (section, count) = (u32_at(rows, at)?, u32_at(rows, at + 4)? as usize);
        at += 8;
        let end = at.checked_add(count.checked_mul(size)?)?;
        let list = rows.get(at..end)?;
        at = end;
        let one = |row: &[u8]| {
            let (offset, id, path, kind) = (u32_at(row, 0)?, u32_at(row, 4)?, u32_at(row, 8)?, u32_at(row, 12)?);
            Some(Adaptation { offset, id, path, kind })
        };
        let mut list = list.chunks_exact(size).map(one).collect::<Option<Vec<_>>>()?;
        all.entry(btf.text(section).into()).or_default().append(&mut list);
    }
    for list in all.values_mut() {
        list.sort_by_key(|one| one.offset);
    }
    Some(all)
}
