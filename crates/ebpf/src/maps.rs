//! Maps of a socket: arrays, hash tables and storage of sockets.
//!
//! Source: the kernel's documentation, `bpf/map_array.rst`, `bpf/map_hash.rst`, `bpf/map_sk_storage.rst`.
//! Differs from Linux: every socket has maps of its own; per-CPU maps have a single copy; LRU maps do not evict: an
//! update of a full one fails.

use crate::btf::{Btf, Id, Kind};
use crate::error::{Problem, Reason};
use crate::memory::{Memory, OWN};
use std::collections::BTreeMap;

/// Largest total size of the entries of a socket's maps, in bytes.
pub(crate) const LIMIT: usize = 1 << 20;
/// Size of the largest key or value, in bytes.
const LONGEST: u32 = 1 << 16;

/// Kinds of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Array,
    Hash,
    Storage,
    /// Another kind (`BPF_MAP_TYPE_*`), which is not simulated: an object may define such a map but not use it.
    Other(u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: String,
    pub sort: Sort,
    pub key: usize,
    pub value: usize,
    pub entries: u32,
}

impl Definition {
    /// Reads the definition of a map from the type of its variable in the section `.maps`.
    pub fn read(btf: &Btf, name: &str, id: Id) -> Result<Self, Problem> {
        let wrong = |what: &str| Problem::Map(format!("map {name}: {what}"));
        let id = btf.resolve(id).ok_or_else(|| wrong("has no type"))?;
        let members = btf.members(id).ok_or_else(|| wrong("must be a structure as libbpf's macros make it"))?;
        let mut found = Self { name: name.into(), sort: Sort::Other(0), key: 0, value: 0, entries: 0 };
        let mut kind = 0;
        for member in members {
            // A number is given as the length of an array behind a pointer, a type as the type behind a pointer.
            let Some(Kind::Pointer(to)) = btf.resolve(member.id).and_then(|id| btf.kind(id)) else { continue };
            let number = match btf.resolve(*to).and_then(|id| btf.kind(id)) {
                Some(Kind::Array { count, .. }) => *count,
                _ => 0,
            };
            let size = || btf.size(*to).filter(|size| *size <= LONGEST).map(|size| size as usize);
            match btf.text(member.name) {
                "type" => kind = number,
                "key" => found.key = size().ok_or_else(|| wrong("its key has no size or is too long"))?,
                "value" => found.value = size().ok_or_else(|| wrong("its value has no size or is too long"))?,
                "key_size" if number <= LONGEST => found.key = number as usize,
                "value_size" if number <= LONGEST => found.value = number as usize,
                "max_entries" => found.entries = number,
                _ => {}
            }
        }
        // BPF_MAP_TYPE_HASH 1, PERCPU_HASH 5, LRU_HASH 9, LRU_PERCPU_HASH 10, ARRAY 2, PERCPU_ARRAY 6, SK_STORAGE 24.
        found.sort = match kind {
            1 | 5 | 9 | 10 => Sort::Hash,
            2 | 6 => Sort::Array,
            24 => Sort::Storage,
            _ => Sort::Other(kind),
        };
        let good = match found.sort {
            Sort::Array => found.key == 4 && found.value > 0 && found.entries > 0,
            Sort::Hash => found.key > 0 && found.value > 0 && found.entries > 0,
            Sort::Storage => found.key == 4 && found.value > 0,
            Sort::Other(_) => true,
        };
        if good {
            Ok(found)
        } else {
            Err(wrong("its key, value or number of entries is not one that the kernel takes"))
        }
    }
}

/// Flags of an update: `BPF_ANY`, `BPF_NOEXIST` (only a new entry) and `BPF_EXIST` (only an existing one).
const ANY: u64 = 0;
const NEW: u64 = 1;
const OLD: u64 = 2;

/// The kernel's error numbers: EEXIST, ENOENT, E2BIG and EINVAL.
const EXISTS: u64 = 17_u64.wrapping_neg();
const ABSENT: u64 = 2_u64.wrapping_neg();
const TOO_MANY: u64 = 7_u64.wrapping_neg();
const INVALID: u64 = 22_u64.wrapping_neg();

/// Entries of a socket's maps. Their values are in the socket's memory, where programs write them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maps {
    tables: Vec<Table>,
    /// Memory allocated for entries, in bytes, including deleted ones and overhead.
    used: usize,
}

#[derive(Clone, Debug, Default)]
struct Table {
    /// Slot of each key's value.
    places: BTreeMap<Box<[u8]>, usize>,
    /// Slots of deleted values.
    spare: Vec<usize>,
}

impl Maps {
    pub fn new(count: usize) -> Self {
        Self { tables: vec![Table::default(); count], used: 0 }
    }

    fn place(&self, map: usize, key: &[u8]) -> Option<usize> {
        self.tables[map].places.get(key).copied()
    }

    /// Creates an entry with a value of zeros.
    fn insert(&mut self, map: usize, of: &Definition, key: &[u8], memory: &mut Memory) -> Result<usize, Reason> {
        let size = of.value.next_multiple_of(8);
        let at = if let Some(at) = self.tables[map].spare.pop() {
            at
        } else {
            // The cost includes the key and the tree's memory for it.
            let cost = size + key.len() + 64;
            if self.used + cost > LIMIT {
                return Err(Reason::Memory(LIMIT));
            }
            self.used += cost;
            let at = memory.own.len().next_multiple_of(8);
            memory.own.resize(at + size, 0);
            at
        };
        memory.own[at..at + size].fill(0);
        self.tables[map].places.insert(Box::from(key), at);
        Ok(at)
    }

    /// The address of a key's value; 0 if there is none. Creates a missing entry of an array.
    pub fn lookup(&mut self, map: usize, of: &Definition, key: &[u8], memory: &mut Memory) -> Result<u64, Reason> {
        if let Some(at) = self.place(map, key) {
            return Ok(OWN + at as u64);
        }
        let inside = of.sort == Sort::Array && number(key) < of.entries;
        if inside { Ok(OWN + self.insert(map, of, key, memory)? as u64) } else { Ok(0) }
    }

    /// Sets the value of a key; returns 0 or the kernel's error number.
    pub fn update(
        &mut self,
        map: usize,
        of: &Definition,
        key: &[u8],
        value: &[u8],
        flags: u64,
        memory: &mut Memory,
    ) -> Result<u64, Reason> {
        let found = self.place(map, key);
        let is_array = of.sort == Sort::Array;
        match flags {
            _ if is_array && number(key) >= of.entries => return Ok(TOO_MANY),
            ANY | OLD if is_array => {}
            NEW if is_array || found.is_some() => return Ok(EXISTS),
            OLD if found.is_none() => return Ok(ABSENT),
            ANY | NEW | OLD => {}
            _ => return Ok(INVALID),
        }
        let at = match found {
            Some(at) => at,
            None if !is_array && self.tables[map].places.len() >= of.entries as usize => return Ok(TOO_MANY),
            None => self.insert(map, of, key, memory)?,
        };
        memory.own[at..at + of.value].copy_from_slice(value);
        Ok(0)
    }

    /// Deletes an entry; returns 0 or the kernel's error number.
    pub fn delete(&mut self, map: usize, of: &Definition, key: &[u8]) -> u64 {
        if of.sort == Sort::Array {
            return INVALID;
        }
        let table = &mut self.tables[map];
        let Some(at) = table.places.remove(key) else { return ABSENT };
        table.spare.push(at);
        0
    }

    /// The address of the socket's storage. If there is none and `create` is set, creates it with the initial value `first`;
    /// without `create`, returns 0.
    pub fn storage(
        &mut self,
        map: usize,
        of: &Definition,
        first: &[u8],
        create: bool,
        memory: &mut Memory,
    ) -> Result<u64, Reason> {
        let at = match self.place(map, &[]) {
            Some(at) => at,
            None if !create => return Ok(0),
            None => {
                let at = self.insert(map, of, &[], memory)?;
                memory.own[at..at + first.len()].copy_from_slice(first);
                at
            }
        };
        Ok(OWN + at as u64)
    }
}

fn number(key: &[u8]) -> u32 {
    key.try_into().map_or(u32::MAX, u32::from_le_bytes)
}
