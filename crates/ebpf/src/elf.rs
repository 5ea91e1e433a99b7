//! ELF files of eBPF: sections, symbols, relocations. Every value of a file is checked before it is used.
//!
//! Source: Tool Interface Standard, ELF specification 1.2, in its 64-bit form (ELF-64 object file format 1.5). The machine is
//! `EM_BPF` of Linux's `elf-em.h`; the relocations are those of the kernel's documentation (`bpf/llvm_reloc.rst`).

use crate::error::Problem;
use std::collections::BTreeMap;

/// Length of the longest name that is accepted, in bytes; the kernel has the same limit.
pub(crate) const LONGEST_NAME: usize = 512;
/// Largest number of sections in a file; compilers make a few dozen.
const MOST_SECTIONS: usize = 4096;
/// Machine number of eBPF in ELF files.
const BPF: u16 = 247;

/// Kinds of sections: `SHT_SYMTAB`, `SHT_NOBITS` and `SHT_REL`.
const SYMBOLS: u32 = 2;
const NO_BITS: u32 = 8;
const RELOCATIONS: u32 = 9;

/// Kinds of symbols: `STT_FUNC` and `STT_SECTION`.
pub(crate) const FUNCTION: u8 = 2;
pub(crate) const SECTION: u8 = 3;
/// Weak binding: the symbol may be missing.
pub(crate) const WEAK: u8 = 2;

/// Address in an instruction of 16 bytes (`R_BPF_64_64`).
pub(crate) const ADDRESS: u32 = 1;
/// Address in a word of data (`R_BPF_64_ABS64`).
pub(crate) const POINTER: u32 = 2;
/// Target of a call (`R_BPF_64_32`).
pub(crate) const CALL: u32 = 10;

#[derive(Clone, Debug)]
pub(crate) struct Section<'a> {
    pub name: &'a str,
    /// Contents of the section in the file.
    pub data: &'a [u8],
    /// Size of the loaded section, in bytes.
    pub size: u64,
    kind: u32,
    link: u32,
    info: u32,
}

impl Section<'_> {
    /// Whether the section consists of zeros that are not in the file.
    pub fn is_empty_in_file(&self) -> bool {
        self.kind == NO_BITS
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Symbol<'a> {
    pub name: &'a str,
    /// Index of its section; 0 if it is defined elsewhere.
    pub section: usize,
    pub value: u64,
    pub size: u64,
    pub kind: u8,
    pub binding: u8,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub offset: u64,
    pub symbol: usize,
    pub kind: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Elf<'a> {
    pub sections: Vec<Section<'a>>,
    pub symbols: Vec<Symbol<'a>>,
    /// The first symbol with each name in each section.
    named: BTreeMap<(usize, &'a str), usize>,
}

/// Unsigned integers of a file, in its byte order (little endian).
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// The name that begins at `at` in a string table, up to its zero byte.
pub(crate) fn name_at(table: &[u8], at: usize) -> Option<&str> {
    let rest = table.get(at..)?;
    let rest = &rest[..rest.len().min(LONGEST_NAME + 1)];
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&rest[..end]).ok()
}

fn cut_off() -> Problem {
    Problem::Elf("the file is cut off, or its headers are damaged".into())
}

impl<'a> Elf<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(Problem::Elf("is no ELF file; must be an object compiled with clang -target bpf".into()));
        }
        if bytes.get(4..6) != Some(&[2, 1]) || u16_at(bytes, 18) != Some(BPF) {
            let right = "is no object of eBPF in little endian; compile it with clang -target bpf";
            return Err(Problem::Elf(right.into()));
        }
        let mut elf = Self { sections: Vec::new(), symbols: Vec::new(), named: BTreeMap::new() };
        elf.read_sections(bytes).ok_or_else(cut_off)?;
        elf.read_symbols()?;
        Ok(elf)
    }

    fn read_sections(&mut self, bytes: &'a [u8]) -> Option<()> {
        let start = usize::try_from(u64_at(bytes, 40)?).ok()?;
        let count = usize::from(u16_at(bytes, 60)?);
        let names = usize::from(u16_at(bytes, 62)?);
        if u16_at(bytes, 58)? != 64 || count > MOST_SECTIONS {
            return None;
        }
        let header = |i: usize| bytes.get(start.checked_add(i * 64)?..start.checked_add(i * 64 + 64)?);
        let data_of = |header: &[u8]| {
            if u32_at(header, 4)? == NO_BITS {
                return Some(&bytes[..0]);
            }
            let from = usize::try_from(u64_at(header, 24)?).ok()?;
            let size = usize::try_from(u64_at(header, 32)?).ok()?;
            bytes.get(from..from.checked_add(size)?)
        };
        let names = data_of(header(names)?)?;
        for i in 0..count {
            let header = header(i)?;
            // The first entry is not a section, and its fields may have other meanings.
            let data = if i == 0 { &bytes[..0] } else { data_of(header)? };
            self.sections.push(Section {
                name: if i == 0 { "" } else { name_at(names, u32_at(header, 0)? as usize)? },
                data,
                size: u64_at(header, 32)?,
                kind: u32_at(header, 4)?,
                link: u32_at(header, 40)?,
                info: u32_at(header, 44)?,
            });
        }
        Some(())
    }

    fn read_symbols(&mut self) -> Result<(), Problem> {
        let Some(table) = self.sections.iter().find(|section| section.kind == SYMBOLS) else {
            return Err(Problem::Elf("has no symbols; do not strip it".into()));
        };
        let names = self.sections.get(table.link as usize).ok_or_else(cut_off)?.data;
        let mut symbols = Vec::with_capacity(table.data.len() / 24);
        for row in table.data.chunks_exact(24) {
            let read = || {
                let section = usize::from(u16_at(row, 6)?);
                Some(Symbol {
                    name: name_at(names, u32_at(row, 0)? as usize)?,
                    // Larger indices mean absolute, common or other symbols without a section.
                    section: if section < self.sections.len() { section } else { 0 },
                    value: u64_at(row, 8)?,
                    size: u64_at(row, 16)?,
                    kind: row[4] & 15,
                    binding: row[4] >> 4,
                })
            };
            symbols.push(read().ok_or_else(cut_off)?);
        }
        self.symbols = symbols;
        for (i, symbol) in self.symbols.iter().enumerate() {
            self.named.entry((symbol.section, symbol.name)).or_insert(i);
        }
        Ok(())
    }

    /// The symbol with this name in a section. Section 0 has the symbols that are defined elsewhere.
    pub fn symbol(&self, section: usize, name: &str) -> Option<&Symbol<'a>> {
        self.symbols.get(*self.named.get(&(section, name))?)
    }

    /// The section with this name.
    pub fn section(&self, name: &str) -> Option<(usize, &Section<'a>)> {
        self.sections.iter().enumerate().find(|(_, section)| section.name == name)
    }

    /// Relocations of a section, in the order of their offsets.
    pub fn relocations(&self, of: usize) -> Result<Vec<Relocation>, Problem> {
        let mut list = Vec::new();
        for section in self.sections.iter().filter(|s| s.kind == RELOCATIONS && s.info as usize == of) {
            for row in section.data.chunks_exact(16) {
                let read = || Some((u64_at(row, 0)?, u64_at(row, 8)?));
                let (offset, info) = read().ok_or_else(cut_off)?;
                let symbol = (info >> 32) as usize;
                if symbol >= self.symbols.len() {
                    return Err(Problem::Relocation("a relocation refers to a symbol that does not exist".into()));
                }
                list.push(Relocation { offset, symbol, kind: info as u32 });
            }
        }
        list.sort_by_key(|relocation| relocation.offset);
        Ok(list)
    }
}
