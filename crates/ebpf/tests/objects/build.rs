//! Builds objects byte by byte, as a compiler would, for tests.

use std::collections::BTreeMap;

/// A section with its relocations: offset, symbol, kind.
#[derive(Clone, Default)]
pub struct Section {
    pub name: String,
    pub data: Vec<u8>,
    pub relocations: Vec<(u64, String, u32)>,
    /// Number of zeros of a section without contents in the file (`SHT_NOBITS`).
    pub zeros: u64,
}

/// A file of sections and symbols.
#[derive(Clone, Default)]
pub struct Elf {
    pub sections: Vec<Section>,
    /// Name, section (`None` if the symbol is defined elsewhere), value, size, kind, binding.
    pub symbols: Vec<(String, Option<String>, u64, u64, u8, u8)>,
}

pub const OBJECT: u8 = 1;
pub const FUNCTION: u8 = 2;
pub const GLOBAL: u8 = 1;
pub const WEAK: u8 = 2;

fn text(table: &mut Vec<u8>, name: &str) -> u32 {
    let at = table.len() as u32;
    table.extend(name.as_bytes());
    table.push(0);
    at
}

impl Elf {
    pub fn section(&mut self, name: &str, data: Vec<u8>) -> &mut Section {
        self.sections.push(Section { name: name.into(), data, ..Section::default() });
        self.sections.last_mut().unwrap()
    }

    pub fn symbol(&mut self, name: &str, section: Option<&str>, value: u64, size: u64, kind: u8, binding: u8) {
        self.symbols.push((name.into(), section.map(Into::into), value, size, kind, binding));
    }

    #[expect(clippy::type_complexity, reason = "a row of a table")]
    pub fn bytes(&self) -> Vec<u8> {
        let mut names = vec![0];
        let mut strings = vec![0];
        let number = |name: &str| 1 + self.sections.iter().position(|one| one.name == name).unwrap();
        let mut symbols = vec![0; 24];
        let mut by_name = BTreeMap::new();
        for (i, (name, section, value, size, kind, binding)) in self.symbols.iter().enumerate() {
            by_name.insert(name.as_str(), i as u64 + 1);
            symbols.extend(text(&mut strings, name).to_le_bytes());
            symbols.extend([binding << 4 | kind, 0]);
            symbols.extend((section.as_ref().map_or(0, |one| number(one)) as u16).to_le_bytes());
            symbols.extend(value.to_le_bytes());
            symbols.extend(size.to_le_bytes());
        }
        // Name, kind, data, size, link, info, bytes of an entry.
        let symbols_at = self.sections.len() as u32 + 1;
        let mut rows: Vec<(String, u32, Vec<u8>, u64, u32, u32, u64, u64)> = Vec::new();
        for one in &self.sections {
            let (kind, size) = if one.zeros > 0 { (8, one.zeros) } else { (1, one.data.len() as u64) };
            let flags = if one.name == "programs" || one.name == "syscall" { 6 } else { 3 };
            rows.push((one.name.clone(), kind, one.data.clone(), size, 0, 0, 0, flags));
        }
        rows.push((".symtab".into(), 2, symbols.clone(), symbols.len() as u64, symbols_at + 1, 1, 24, 0));
        rows.push((".strtab".into(), 3, strings.clone(), strings.len() as u64, 0, 0, 0, 0));
        for one in self.sections.iter().filter(|one| !one.relocations.is_empty()) {
            let mut data = Vec::new();
            for (offset, symbol, kind) in &one.relocations {
                data.extend(offset.to_le_bytes());
                data.extend((by_name[symbol.as_str()] << 32 | u64::from(*kind)).to_le_bytes());
            }
            let (size, of) = (data.len() as u64, number(&one.name) as u32);
            rows.push((format!(".rel{}", one.name), 9, data, size, symbols_at, of, 16, 0));
        }
        let mut file = vec![0; 64];
        let mut headers = vec![0; 64];
        let count = rows.len() + 2;
        let names_at: Vec<u32> = rows.iter().map(|row| text(&mut names, &row.0)).collect();
        let own = text(&mut names, ".shstrtab");
        let size = names.len() as u64;
        rows.push((".shstrtab".into(), 3, names, size, 0, 0, 0, 0));
        for ((_, kind, data, size, link, info, entry, flags), name) in rows.iter().zip(names_at.iter().chain([&own])) {
            file.resize(file.len().next_multiple_of(8), 0);
            for word in [*name, *kind] {
                headers.extend(word.to_le_bytes());
            }
            for word in [*flags, 0, file.len() as u64, *size] {
                headers.extend(word.to_le_bytes());
            }
            headers.extend(link.to_le_bytes());
            headers.extend(info.to_le_bytes());
            headers.extend(8_u64.to_le_bytes());
            headers.extend(entry.to_le_bytes());
            file.extend(data);
        }
        file.resize(file.len().next_multiple_of(8), 0);
        let at = file.len() as u64;
        file[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
        file[16..20].copy_from_slice(&[1, 0, 247, 0]);
        file[20..24].copy_from_slice(&1_u32.to_le_bytes());
        file[40..48].copy_from_slice(&at.to_le_bytes());
        file[52..54].copy_from_slice(&64_u16.to_le_bytes());
        file[58..60].copy_from_slice(&64_u16.to_le_bytes());
        file[60..62].copy_from_slice(&(count as u16).to_le_bytes());
        file[62..64].copy_from_slice(&(count as u16 - 1).to_le_bytes());
        file.extend(headers);
        file
    }
}

/// Types (BTF), in the order of their numbers, which begin at 1.
pub struct Types {
    rows: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
    /// Relocations of fields (CO-RE): section, offset of the instruction in bytes, type, path, kind.
    pub adaptations: Vec<(String, u32, u32, String, u32)>,
}

impl Types {
    pub fn new() -> Self {
        Self { rows: Vec::new(), strings: vec![0], count: 0, adaptations: Vec::new() }
    }

    fn add(&mut self, name: &str, kind: u32, count: usize, word: u32, rest: &[u32]) -> u32 {
        let name = if name.is_empty() { 0 } else { text(&mut self.strings, name) };
        let flag = kind & 0x8000_0000;
        for one in [&[name, flag | ((kind & 31) << 24) | count as u32, word][..], rest].concat() {
            self.rows.extend(one.to_le_bytes());
        }
        self.count += 1;
        self.count
    }

    pub fn int(&mut self, name: &str, size: u32, signed: bool) -> u32 {
        self.add(name, 1, 0, size, &[(u32::from(signed) << 24) | (8 * size)])
    }

    pub fn pointer(&mut self, to: u32) -> u32 {
        self.add("", 2, 0, to, &[])
    }

    pub fn array(&mut self, of: u32, count: u32) -> u32 {
        self.add("", 3, 0, 0, &[of, of, count])
    }

    /// Members: name, type, offset in bits.
    pub fn structure(&mut self, name: &str, size: u32, members: &[(&str, u32, u32)]) -> u32 {
        let mut rest = Vec::new();
        for (name, id, place) in members {
            let name = if name.is_empty() { 0 } else { text(&mut self.strings, name) };
            rest.extend([name, *id, *place]);
        }
        self.add(name, 4, members.len(), size, &rest)
    }

    /// The same with bit fields: name, type, offset and width in bits.
    pub fn bits(&mut self, name: &str, size: u32, members: &[(&str, u32, u32, u32)]) -> u32 {
        let mut rest = Vec::new();
        for (name, id, place, width) in members {
            rest.extend([text(&mut self.strings, name), *id, width << 24 | place]);
        }
        self.add(name, 0x8000_0004, members.len(), size, &rest)
    }

    pub fn enumeration(&mut self, name: &str, values: &[(&str, u32)]) -> u32 {
        let mut rest = Vec::new();
        for (name, value) in values {
            rest.extend([text(&mut self.strings, name), *value]);
        }
        self.add(name, 6, values.len(), 4, &rest)
    }

    pub fn prototype(&mut self, parameters: &[u32]) -> u32 {
        let rest: Vec<u32> = parameters.iter().flat_map(|id| [0, *id]).collect();
        self.add("", 13, parameters.len(), 0, &rest)
    }

    pub fn variable(&mut self, name: &str, id: u32) -> u32 {
        self.add(name, 14, 0, id, &[1])
    }

    pub fn section(&mut self, name: &str, variables: &[u32]) -> u32 {
        // Offsets and sizes are 0, as some compilers write them.
        let rest: Vec<u32> = variables.iter().flat_map(|id| [*id, 0, 0]).collect();
        self.add(name, 15, variables.len(), 0, &rest)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut list = vec![0x9f, 0xeb, 1, 0];
        let (types, strings) = (self.rows.len() as u32, self.strings.len() as u32);
        for word in [24, 0, types, types, strings] {
            list.extend(word.to_le_bytes());
        }
        list.extend(&self.rows);
        list.extend(&self.strings);
        list
    }

    /// The section `.BTF.ext`. Must be called before `bytes`, because it adds its names to the strings.
    pub fn more(&mut self) -> Vec<u8> {
        let mut rows: Vec<u8> = 16_u32.to_le_bytes().into();
        for (section, at, id, path, kind) in self.adaptations.clone() {
            let section = text(&mut self.strings, &section);
            let path = text(&mut self.strings, &path);
            for word in [section, 1, at, id, path, kind] {
                rows.extend(word.to_le_bytes());
            }
        }
        let mut list = vec![0x9f, 0xeb, 1, 0];
        for word in [32, 0, 0, 0, 0, 0, rows.len() as u32] {
            list.extend(word.to_le_bytes());
        }
        list.extend(rows);
        list
    }
}
