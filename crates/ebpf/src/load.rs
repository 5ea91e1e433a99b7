//! Loader of objects: collects functions from the sections, resolves addresses and fields, and produces runnable code.
//!
//! Source: the kernel's documentation of relocations (`bpf/llvm_reloc.rst`) and of libbpf. Programs share only the data in
//! the sections.

use crate::btf::Adaptation;
use crate::core_relocation::{Adapted, adapt};
use crate::elf::{ADDRESS, CALL, Elf, FUNCTION, Relocation, SECTION, WEAK};
use crate::error::{Error, Problem};
use crate::fuse::fuse;
use crate::host;
use crate::instruction::{Code as Does, HELPER, IMMEDIATE, LOCAL, Op, PROGRAM as OF_PROGRAM, Raw, decode};
use crate::machine::{Code, Function};
use crate::maps::Definition;
use crate::memory::{FRAME, FREE_AT, MAP, OWN, PROGRAM, SHARED};
use crate::object::{Callback, Control, Object, Place};
use crate::socket::Loaded;
use crate::target::TYPES;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest total size of variables, and of constants, in bytes.
const MOST_DATA: usize = 1 << 20;
/// Largest number of instructions of a control: the limit of the kernel's verifier.
const MOST_CODE: usize = 1_000_000;

/// Largest number of maps in an object.
const MOST_MAPS: usize = 256;

/// Address given to a kernel function that is only tested for existence.
const NOT_CALLED: u64 = PROGRAM + (1 << 31);

impl Object {
    /// Decodes the programs of a control, which is found by its name or the name of its variable. `sections` gives names
    /// and bytes of data sections to replace, such as parameters; the sizes must be equal.
    ///
    /// # Errors
    /// If there is no such control or section, if the kernel would refuse the control, or if a program is damaged.
    pub fn load(&self, control: &str, sections: &[(&str, &[u8])]) -> Result<Arc<Loaded>, Error> {
        load(self, self.loadable(control)?, sections).map(Arc::new)
    }
}

fn load(object: &Object, control: &Control, sections: &[(&str, &[u8])]) -> Result<Loaded, Error> {
    let plain = |problem| Error::new(&object.name, problem);
    let elf = Elf::read(&object.bytes).map_err(plain)?;
    let mut loader = Loader::new(object, &elf, sections).map_err(plain)?;
    let mut entries = [None; Callback::ALL.len()];
    for (entry, place) in entries.iter_mut().zip(control.programs) {
        *entry = place.map(|place| loader.function(place)).transpose().map_err(plain)?;
    }
    let mut done = 0;
    while done < loader.code.functions.len() {
        loader.decode(done)?;
        done += 1;
    }
    loader.connect();
    fuse(&mut loader.code.ops);
    Ok(Loaded {
        object: object.name.clone(),
        name: control.name().into(),
        flags: control.flags(),
        long_form: control.long_form,
        entries,
        code: loader.code,
        shared: Arc::from(loader.shared),
        own: loader.own,
    })
}

/// Referent of a name in the object.
enum Meaning {
    Address(u64),
    Program(Place),
    /// A kernel symbol that does not exist here.
    Missing(String),
}

struct Loader<'a> {
    object: &'a Object,
    elf: &'a Elf<'a>,
    code: Code,
    shared: Vec<u8>,
    own: Vec<u8>,
    /// Addresses of data sections.
    addresses: BTreeMap<usize, u64>,
    /// The map at each offset of the section of maps.
    maps: BTreeMap<Place, usize>,
    /// Values of the kernel's configuration.
    configuration: BTreeMap<String, u64>,
    /// Functions of the object by place: name and size in bytes.
    symbols: BTreeMap<Place, (&'a str, u64)>,
    numbers: BTreeMap<Place, usize>,
    places: Vec<Place>,
    relocations: BTreeMap<usize, Vec<Relocation>>,
    /// Indices of the reasons why instructions must not be executed.
    reasons: BTreeMap<String, usize>,
    /// Calls and loads of program addresses to complete: index of the instruction, and index of the function.
    open: Vec<(usize, usize)>,
}

impl<'a> Loader<'a> {
    fn new(object: &'a Object, elf: &'a Elf<'a>, sections: &[(&str, &[u8])]) -> Result<Self, Problem> {
        let mut loader = Self {
            object,
            elf,
            code: Code::default(),
            shared: Vec::new(),
            own: vec![0; FREE_AT],
            addresses: BTreeMap::new(),
            maps: BTreeMap::new(),
            configuration: BTreeMap::new(),
            symbols: BTreeMap::new(),
            numbers: BTreeMap::new(),
            places: Vec::new(),
            relocations: BTreeMap::new(),
            reasons: BTreeMap::new(),
            open: Vec::new(),
        };
        for symbol in elf.symbols.iter().filter(|symbol| symbol.kind == FUNCTION && symbol.section != 0) {
            loader.symbols.entry((symbol.section, symbol.value)).or_insert((symbol.name, symbol.size));
        }
        loader.lay_out(sections)?;
        loader.read_maps()?;
        loader.configure()?;
        Ok(loader)
    }

    /// Assigns addresses to the data sections.
    fn lay_out(&mut self, sections: &[(&str, &[u8])]) -> Result<(), Problem> {
        for (name, _) in sections {
            if self.elf.section(name).is_none_or(|(_, section)| !is_data(section.name)) {
                return Err(Problem::Size(format!("has no section of data {name}")));
            }
        }
        for (number, section) in self.elf.sections.iter().enumerate().filter(|(_, one)| is_data(one.name)) {
            let too_much = || Problem::Size(format!("has more than {MOST_DATA} bytes of variables or constants"));
            let size = usize::try_from(section.size).ok().filter(|size| *size <= MOST_DATA).ok_or_else(too_much)?;
            let (memory, base) =
                if is_constant(section.name) { (&mut self.shared, SHARED) } else { (&mut self.own, OWN) };
            let at = memory.len().next_multiple_of(16);
            if at + size > MOST_DATA {
                return Err(too_much());
            }
            memory.resize(at + size, 0);
            let mut bytes = section.data;
            if let Some((_, given)) = sections.iter().find(|(name, _)| *name == section.name) {
                if given.len() != size {
                    let right = format!("section {} has {size} bytes, and is given {}", section.name, given.len());
                    return Err(Problem::Size(right));
                }
                bytes = given;
            }
            memory[at..at + bytes.len().min(size)].copy_from_slice(&bytes[..bytes.len().min(size)]);
            self.addresses.insert(number, base + at as u64);
        }
        Ok(())
    }

    fn read_maps(&mut self) -> Result<(), Problem> {
        let Some((number, _)) = self.elf.section(".maps") else { return Ok(()) };
        for (name, id) in self.object.btf.section(".maps") {
            if self.code.maps.len() == MOST_MAPS {
                return Err(Problem::Size(format!("has more than {MOST_MAPS} maps")));
            }
            let symbol =
                self.elf.symbol(number, name).ok_or_else(|| Problem::Map(format!("map {name}: has no symbol")))?;
            self.maps.insert((number, symbol.value), self.code.maps.len());
            self.code.maps.push(Definition::read(&self.object.btf, name, id)?);
        }
        Ok(())
    }

    /// Stores values of the kernel's configuration as constants.
    fn configure(&mut self) -> Result<(), Problem> {
        let btf = &self.object.btf;
        for (name, id) in btf.section(".kconfig") {
            let weak = self.elf.symbol(0, name).is_some_and(|symbol| symbol.binding == WEAK);
            let value = match host::configuration(name) {
                Some(value) => value,
                None if weak => 0,
                None => {
                    let text = format!("needs {name} of the kernel's configuration, which is not simulated");
                    return Err(Problem::Relocation(text));
                }
            };
            let size = btf.size(id).filter(|size| *size <= 8).unwrap_or(8) as usize;
            let at = self.shared.len().next_multiple_of(8);
            if at >= MOST_DATA {
                return Err(Problem::Size(format!("has more than {MOST_DATA} bytes of variables or constants")));
            }
            self.shared.resize(at + 8, 0);
            self.shared[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            self.configuration.insert(name.into(), SHARED + at as u64);
        }
        Ok(())
    }

    /// The index of the function at a place; a new function is added to the list.
    fn function(&mut self, place: Place) -> Result<usize, Problem> {
        if let Some(number) = self.numbers.get(&place) {
            return Ok(*number);
        }
        let Some((name, size)) = self.symbols.get(&place) else {
            return Err(Problem::Relocation("a call leads to where no program begins".into()));
        };
        let number = self.places.len();
        self.numbers.insert(place, number);
        self.places.push(place);
        let len = usize::try_from(size / 8).unwrap_or(usize::MAX);
        let start = self.code.functions.last().map_or(0, |last| last.start.saturating_add(last.len));
        if start.saturating_add(len) > MOST_CODE {
            return Err(Problem::Size(format!("has more than {MOST_CODE} instructions for one control")));
        }
        self.code.functions.push(Function { name: (*name).into(), start, len, stack: FRAME });
        Ok(number)
    }

    fn decode(&mut self, number: usize) -> Result<(), Error> {
        let (section, value) = self.places[number];
        let Function { name, start, len, .. } = self.code.functions[number].clone();
        let failed = |at: usize, problem| Error::at(&self.object.name, &name, at, problem);
        let data = self.elf.sections[section].data;
        let bytes = usize::try_from(value).ok().and_then(|from| data.get(from..from.checked_add(8 * len)?));
        let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty() && value % 8 == 0) else {
            return Err(failed(0, Problem::Elf("the program is empty or lies outside of its section".into())));
        };
        if let std::collections::btree_map::Entry::Vacant(entry) = self.relocations.entry(section) {
            entry.insert(self.elf.relocations(section).map_err(|problem| failed(0, problem))?);
        }
        let of_section = self.elf.sections[section].name;
        let object = self.object;
        let adaptations = object.adaptations.get(of_section).map_or(&[][..], |list| list);
        let mut at = 0;
        while at < len {
            let offset = value + 8 * at as u64;
            let mut raws = bytes[8 * at..].chunks_exact(8).filter_map(Raw::read);
            let (first, second) = (raws.next(), raws.next());
            let failed = |problem| Error::at(&object.name, &name, at, problem);
            let Some(first) = first else { return Err(failed(Problem::Elf("the program is cut off".into()))) };
            let second = second.filter(|_| first.is_wide() && at + 1 < len);
            let relocations = &self.relocations[&section];
            let from = relocations.partition_point(|one| one.offset < offset);
            let relocation = relocations.get(from).filter(|one| one.offset == offset).copied();
            let from = adaptations.partition_point(|one| u64::from(one.offset) < offset);
            let adaptation = adaptations.get(from).filter(|one| u64::from(one.offset) == offset);
            let op = self.instruction((section, offset), (at, len), (first, second), relocation, adaptation);
            let op = op.map_err(failed)?;
            self.code.ops.push(op);
            at += 1;
            if first.is_wide() {
                self.code.ops.push(Op::SECOND);
                at += 1;
            }
        }
        self.check(number, start, len).map_err(|(at, problem)| Error::at(&object.name, &name, at, problem))?;
        self.code.functions[number].stack = stack_of(&self.code.ops[start..]);
        Ok(())
    }

    /// Checks that jumps lead to instructions and that the program does not run past its last instruction.
    fn check(&self, number: usize, start: usize, len: usize) -> Result<(), (usize, Problem)> {
        let ops = &self.code.ops[start..start + len];
        debug_assert_eq!(self.code.ops.len(), self.code.functions[number].start + len);
        for (at, op) in ops.iter().enumerate() {
            if is_jump(op.code) && ops[op.off as usize - start].code == Does::Second {
                return Err((at, Problem::Instruction("jumps into the middle of an instruction".into())));
            }
        }
        let last = ops.iter().rposition(|op| op.code != Does::Second).unwrap_or(0);
        if matches!(ops[last].code, Does::Exit | Does::Jump | Does::Missing) {
            Ok(())
        } else {
            Err((last, Problem::Instruction("the program goes on behind its last instruction".into())))
        }
    }

    fn missing(&mut self, reason: String) -> Op {
        let next = self.reasons.len();
        let number = *self.reasons.entry(reason).or_insert_with_key(|reason| {
            self.code.reasons.push(reason.clone());
            next
        });
        Op::missing(number)
    }

    fn instruction(
        &mut self,
        (section, offset): Place,
        (at, len): (usize, usize),
        (mut raw, second): (Raw, Option<Raw>),
        relocation: Option<Relocation>,
        adaptation: Option<&Adaptation>,
    ) -> Result<Op, Problem> {
        let mut changed = None;
        if let Some(adaptation) = adaptation {
            match adapt(&self.object.btf, &TYPES, adaptation)? {
                Adapted::Keep => {}
                Adapted::Missing(what) => return Ok(self.missing(what)),
                Adapted::Value { value, .. } if raw.is_wide() => changed = Some(value),
                Adapted::Value { value, sizes } => {
                    if let Err(what) = patch(&mut raw, value, sizes) {
                        return Ok(self.missing(what));
                    }
                }
            }
        }
        if raw.is_wide() {
            let Some(second) = second else {
                return Err(Problem::Instruction("an instruction of 16 bytes is cut off".into()));
            };
            let wrong = second.code != 0 || second.dst != 0 || second.src != 0 || second.off != 0 || raw.off != 0;
            if wrong || raw.dst > 9 {
                return Err(Problem::Instruction("an instruction of 16 bytes is damaged".into()));
            }
            let low = u64::from(raw.imm.cast_unsigned());
            let value = low | u64::from(second.imm.cast_unsigned()) << 32;
            let wide = |imm| Op { code: Does::Wide, dst: raw.dst, src: IMMEDIATE, off: 0, imm };
            return match relocation {
                Some(one) if one.kind == ADDRESS => match self.meaning(one.symbol, low)? {
                    Meaning::Address(address) => Ok(wide(address)),
                    Meaning::Program(place) => self.leads_to(place, start_of(&self.code), wide(0)),
                    Meaning::Missing(what) => Ok(self.missing(what)),
                },
                Some(_) => Err(Problem::Relocation("an address has a relocation of another kind".into())),
                None if raw.src == 0 => Ok(wide(changed.unwrap_or(value))),
                None if raw.src == OF_PROGRAM => {
                    let place = relative(section, offset, raw.imm)?;
                    self.leads_to(place, start_of(&self.code), wide(0))
                }
                None => Err(Problem::Relocation("an address refers to nothing in the object".into())),
            };
        }
        if raw.is_call() {
            return self.call((section, offset), &raw, relocation);
        }
        let start = start_of(&self.code) - at;
        let mut op = decode(&raw, at, len).map_err(Problem::Instruction)?;
        if is_jump(op.code) {
            op.off += (start as u32).cast_signed();
        }
        Ok(op)
    }

    /// Registers an instruction that is completed when the places of all functions are known.
    fn leads_to(&mut self, place: Place, at: usize, op: Op) -> Result<Op, Problem> {
        let number = self.function(place)?;
        self.open.push((at, number));
        Ok(op)
    }

    fn call(&mut self, place: Place, raw: &Raw, relocation: Option<Relocation>) -> Result<Op, Problem> {
        if raw.dst != 0 || raw.off != 0 {
            return Err(Problem::Instruction("a call is damaged".into()));
        }
        let local = Op { code: Does::Call, ..Op::SECOND };
        let at = start_of(&self.code);
        let Some(one) = relocation else {
            return match raw.src {
                HELPER => Ok(Op { code: Does::Helper, imm: raw.imm.cast_unsigned().into(), ..Op::SECOND }),
                LOCAL => self.leads_to(relative(place.0, place.1, raw.imm)?, at, local),
                _ => Err(Problem::Relocation("a call refers to nothing in the object".into())),
            };
        };
        let symbol = self.elf.symbols[one.symbol];
        if one.kind != CALL {
            return Err(Problem::Relocation("a call has a relocation of another kind".into()));
        }
        if symbol.section == 0 {
            return Ok(match host::function(symbol.name) {
                Some(number) => Op { code: Does::Function, imm: number as u64, ..Op::SECOND },
                None => self.missing(format!("calls {}, a function of the kernel that is not simulated", symbol.name)),
            });
        }
        let addend = 8 * (i64::from(raw.imm) + 1);
        let to = symbol.value.checked_add_signed(addend);
        let to = to.ok_or_else(|| Problem::Relocation("a call leads outside of its section".into()))?;
        self.leads_to((symbol.section, to), at, local)
    }

    /// Returns the referent of a symbol, for an instruction that needs an address.
    fn meaning(&self, symbol: usize, addend: u64) -> Result<Meaning, Problem> {
        let symbol = self.elf.symbols[symbol];
        if symbol.section == 0 {
            if let Some(address) = self.configuration.get(symbol.name) {
                return Ok(Meaning::Address(*address));
            }
            return Ok(match host::function(symbol.name) {
                Some(number) => Meaning::Address(NOT_CALLED + number as u64),
                None if symbol.binding == WEAK => Meaning::Address(0),
                None => Meaning::Missing(format!("needs {} of the kernel, which is not simulated", symbol.name)),
            });
        }
        let at = symbol.value.wrapping_add(addend);
        if let Some(number) = self.maps.get(&(symbol.section, at)) {
            return Ok(Meaning::Address(MAP + *number as u64));
        }
        if let Some(base) = self.addresses.get(&symbol.section) {
            // The offset is limited so that it cannot reach another memory; accesses past the end are refused when
            // executed.
            return Ok(Meaning::Address(base + (at & 0x7fff_ffff)));
        }
        if symbol.kind == FUNCTION || symbol.kind == SECTION {
            return Ok(Meaning::Program((symbol.section, at)));
        }
        Err(Problem::Relocation(format!("{} is neither data nor a program", symbol.name)))
    }

    /// Sets the starts of functions in calls and loads.
    fn connect(&mut self) {
        for (at, number) in &self.open {
            let start = self.code.functions[*number].start;
            let op = &mut self.code.ops[*at];
            if op.code == Does::Call {
                op.off = (start as u32).cast_signed();
                op.imm = *number as u64;
            } else {
                op.imm = PROGRAM + *number as u64;
            }
        }
    }
}

/// Stack size that a program uses; the whole frame if it uses the frame pointer for more than loads and stores relative to
/// it.
fn stack_of(ops: &[Op]) -> usize {
    let mut lowest = 0;
    for op in ops {
        let loads = (Does::Load8 as u8..=Does::LoadSigned32 as u8).contains(&(op.code as u8));
        let stores = (Does::Store8 as u8..=Does::Atomic64 as u8).contains(&(op.code as u8));
        if (op.src == 10 && !loads) || (op.dst == 10 && !stores) {
            return FRAME;
        }
        if op.src == 10 || op.dst == 10 {
            lowest = lowest.min(op.off);
        }
    }
    (lowest.unsigned_abs() as usize).next_multiple_of(8).min(FRAME)
}

/// Index of the next instruction.
fn start_of(code: &Code) -> usize {
    code.ops.len()
}

/// Target of a call within a section.
fn relative(section: usize, offset: u64, imm: i32) -> Result<Place, Problem> {
    let to = offset.checked_add_signed(8 * (i64::from(imm) + 1));
    Ok((section, to.ok_or_else(|| Problem::Relocation("a call leads outside of its section".into()))?))
}

fn is_data(name: &str) -> bool {
    [".rodata", ".data", ".bss"]
        .iter()
        .any(|known| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

fn is_constant(name: &str) -> bool {
    name.starts_with(".rodata")
}

fn is_jump(code: Does) -> bool {
    (Does::Jump as u8..=Does::AnyBit32 as u8).contains(&(code as u8))
}

/// Writes a value that CO-RE found into an instruction.
fn patch(raw: &mut Raw, value: u64, sizes: Option<(u32, u32)>) -> Result<(), String> {
    const SIZES: [(u32, u8); 4] = [(1, 0x10), (2, 0x08), (4, 0x00), (8, 0x18)];
    match raw.code & 7 {
        4 | 7 if raw.code & 8 == 0 => {
            let fits = i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(u32::cast_signed));
            raw.imm = fits.ok_or("needs a number that does not fit into the instruction")?;
            Ok(())
        }
        1..=3 => {
            raw.off = i16::try_from(value).map_err(|_| "needs a field that lies too far off".to_string())?;
            let Some((mine, theirs)) = sizes.filter(|(mine, theirs)| mine != theirs) else { return Ok(()) };
            let loads = SIZES.iter().find(|(_, bits)| *bits == raw.code & 0x18).map(|(size, _)| *size);
            let fits = SIZES.iter().find(|(size, _)| *size == theirs);
            // Loads the size that the field has here, if the program loads the whole field.
            match (loads, fits) {
                (Some(loads), Some((_, bits))) if loads == mine => {
                    raw.code = raw.code & !0x18 | bits;
                    Ok(())
                }
                _ => Err(format!("needs a field of {mine} bytes that has {theirs}")),
            }
        }
        _ => Err("has a CO-RE relocation where none can be".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_data_are_known_by_their_names() {
        assert!(is_data(".rodata.params") && is_data(".bss") && is_data(".data.counters"));
        assert!(!is_data(".database") && !is_data("license") && !is_data(".BTF"));
        assert!(is_constant(".rodata") && !is_constant(".data"));
    }
}
