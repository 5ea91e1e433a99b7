//! CO-RE: values that a program was compiled with from the kernel's types are replaced by the values that are valid here.
//!
//! Source: the kernel's documentation, `bpf/llvm_reloc.rst`, "CO-RE Relocations", and `bpf/libbpf/libbpf_overview.rst`.
//! Differs from libbpf: a structure that the simulated kernel does not have keeps its layout in the object.

use crate::btf::{Adaptation, Btf, Id, Kind, Member};
use crate::error::Problem;

/// Kinds of relocations.
const FIELD_OFFSET: u32 = 0;
const FIELD_SIZE: u32 = 1;
const FIELD_EXISTS: u32 = 2;
const FIELD_SIGNED: u32 = 3;
const FIELD_LEFT: u32 = 4;
const FIELD_RIGHT: u32 = 5;
const TYPE_ID_LOCAL: u32 = 6;
const TYPE_ID_TARGET: u32 = 7;
const TYPE_EXISTS: u32 = 8;
const TYPE_SIZE: u32 = 9;
const VALUE_EXISTS: u32 = 10;
const VALUE: u32 = 11;
const TYPE_MATCHES: u32 = 12;

/// Largest number of steps of a path that is followed.
const LONGEST_PATH: usize = 64;
/// Largest depth of nested unnamed structures that is followed.
const DEEPEST: usize = 8;

/// Result of adapting an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Adapted {
    /// The instruction stays as compiled.
    Keep,
    /// A new value; for an offset, also the size of the field in the object and here, in bytes, if they may differ.
    Value { value: u64, sizes: Option<(u32, u32)> },
    /// Executing the instruction is an error.
    Missing(String),
}

/// A field, relative to the start of the type at which the path begins.
#[derive(Clone, Copy, Debug)]
struct Field {
    id: Id,
    /// Offset in bits.
    offset: u64,
    /// Width of a bit field in bits, otherwise 0.
    bits: u8,
}

/// A step of a path: to a member, or to an element of an array.
enum Step<'a> {
    Name(&'a str, Id),
    Element(u32),
}

fn damaged(what: &str) -> Problem {
    Problem::Relocation(format!("a CO-RE relocation is damaged: {what}"))
}

/// The part of a name before `___`; the part after it distinguishes versions of a kernel type in objects.
fn essential(name: &str) -> &str {
    match name.rfind("___") {
        Some(at) if at > 0 => &name[..at],
        _ => name,
    }
}

/// The type of the simulated kernel that corresponds to a type of the object.
fn counterpart(local: &Btf, target: &Btf, id: Id) -> Option<Id> {
    let name = essential(local.name(local.unmodified(id)?));
    let kind = std::mem::discriminant(local.kind(local.resolve(id)?)?);
    if name.is_empty() {
        return None;
    }
    let all = target.types.iter().enumerate();
    let mut named = all.filter(|(_, found)| target.text(found.name) == name).map(|(id, _)| id as Id);
    named.find(|id| {
        let found = target.resolve(*id).and_then(|id| target.kind(id));
        found.is_some_and(|found| std::mem::discriminant(found) == kind)
    })
}

/// Finds the value of one relocation.
pub(crate) fn adapt(local: &Btf, target: &Btf, one: &Adaptation) -> Result<Adapted, Problem> {
    let id = local.resolve(one.id).ok_or_else(|| damaged("its type"))?;
    let there = counterpart(local, target, one.id);
    let value = |value: u64| Ok(Adapted::Value { value, sizes: None });
    let of_bool = |holds: bool| value(holds.into());
    match one.kind {
        TYPE_ID_LOCAL => value(one.id.into()),
        TYPE_ID_TARGET => Ok(there.map_or_else(
            || Adapted::Missing(format!("needs the type {}, which is not simulated", local.name(one.id))),
            |id| Adapted::Value { value: id.into(), sizes: None },
        )),
        TYPE_EXISTS | TYPE_MATCHES => of_bool(there.is_some()),
        TYPE_SIZE => match there.and_then(|id| target.size(id)) {
            Some(size) => value(size.into()),
            None => Ok(Adapted::Keep),
        },
        VALUE_EXISTS | VALUE => enum_value(local, target, one, id, there),
        FIELD_OFFSET..=FIELD_RIGHT => field(local, target, one, id, there),
        kind => Err(damaged(&format!("there is no kind {kind}"))),
    }
}

fn path_of(local: &Btf, one: &Adaptation) -> Result<Vec<u32>, Problem> {
    let text = local.text(one.path);
    let steps = text.split(':').take(LONGEST_PATH + 1).map(str::parse).collect::<Result<Vec<u32>, _>>();
    steps.ok().filter(|steps| steps.len() <= LONGEST_PATH).ok_or_else(|| damaged("its path"))
}

fn enum_value(local: &Btf, target: &Btf, one: &Adaptation, id: Id, there: Option<Id>) -> Result<Adapted, Problem> {
    let at = path_of(local, one)?[0];
    let Some(Kind::Enum { values, .. }) = local.kind(id) else { return Err(damaged("its type is no enum")) };
    let name = values.get(at as usize).map(|(name, _)| local.text(*name)).ok_or_else(|| damaged("its value"))?;
    let found = there.and_then(|id| {
        let Some(Kind::Enum { values, .. }) = target.kind(target.resolve(id)?) else { return None };
        values.iter().find(|(there, _)| target.text(*there) == essential(name)).map(|(_, value)| *value)
    });
    Ok(match found {
        _ if one.kind == VALUE_EXISTS => Adapted::Value { value: found.is_some().into(), sizes: None },
        Some(value) => Adapted::Value { value, sizes: None },
        None if there.is_none() => Adapted::Keep,
        None => Adapted::Missing(format!("needs the value {name}, which is not simulated")),
    })
}

/// The field that the path of a relocation reaches in the object's own types, and the named steps of the path.
fn walk<'a>(local: &'a Btf, id: Id, path: &[u32]) -> Option<(Field, Vec<Step<'a>>)> {
    let mut steps = Vec::new();
    let mut at = Field { id, offset: scaled(local, id, path[0])?, bits: 0 };
    for step in &path[1..] {
        at = match local.kind(at.id)? {
            Kind::Array { element, .. } => {
                steps.push(Step::Element(*step));
                let element = local.resolve(*element)?;
                Field { id: element, offset: at.offset + scaled(local, element, *step)?, bits: 0 }
            }
            Kind::Struct { members, .. } | Kind::Union { members, .. } => {
                let member = members.get(*step as usize)?;
                let inner = inside(local, at, member)?;
                let name = local.text(member.name);
                if !name.is_empty() {
                    steps.push(Step::Name(name, inner.id));
                }
                inner
            }
            _ => return None,
        };
    }
    Some((at, steps))
}

/// Number of bits of `times` values of a type.
fn scaled(btf: &Btf, id: Id, times: u32) -> Option<u64> {
    if times == 0 {
        return Some(0);
    }
    Some(8 * u64::from(btf.size(id)?) * u64::from(times)).filter(|bits| *bits < 1 << 40)
}

fn inside(btf: &Btf, of: Field, member: &Member) -> Option<Field> {
    Some(Field { id: btf.resolve(member.id)?, offset: of.offset + u64::from(member.offset), bits: member.bits })
}

/// The member with this name, also inside unnamed structures.
fn member(target: &Btf, of: Field, name: &str, depth: usize) -> Option<Field> {
    for member_of in target.members(of.id)? {
        let found = inside(target, of, member_of)?;
        let called = target.text(member_of.name);
        if called == name {
            return Some(found);
        }
        if called.is_empty()
            && depth < DEEPEST
            && let Some(found) = member(target, found, name, depth + 1)
        {
            return Some(found);
        }
    }
    None
}

/// Whether a field of the object can correspond to a field of the simulated kernel.
fn compatible(local: &Btf, mut mine: Id, target: &Btf, mut theirs: Id) -> bool {
    for _ in 0..DEEPEST {
        let (Some(a), Some(b)) = (local.resolve(mine), target.resolve(theirs)) else { return false };
        let composite = |kind: Option<&Kind>| matches!(kind, Some(Kind::Struct { .. } | Kind::Union { .. }));
        if composite(local.kind(a)) && composite(target.kind(b)) {
            return true;
        }
        match (local.kind(a), target.kind(b)) {
            (Some(Kind::Array { element: a, .. }), Some(Kind::Array { element: b, .. })) => {
                (mine, theirs) = (*a, *b);
            }
            (Some(a), Some(b)) => {
                let number = |kind: &Kind| matches!(kind, Kind::Int { .. } | Kind::Enum { .. });
                return (number(a) && number(b)) || std::mem::discriminant(a) == std::mem::discriminant(b);
            }
            _ => return false,
        }
    }
    false
}

/// Follows a path by the names of its steps.
fn follow(local: &Btf, steps: &[Step], target: &Btf, from: Id, times: u32) -> Option<Field> {
    let id = target.resolve(from)?;
    let mut at = Field { id, offset: scaled(target, id, times)?, bits: 0 };
    for step in steps {
        at = match step {
            Step::Name(name, mine) => {
                let found = member(target, at, name, 0)?;
                if !compatible(local, *mine, target, found.id) {
                    return None;
                }
                found
            }
            Step::Element(number) => {
                let Some(Kind::Array { element, count }) = target.kind(at.id) else { return None };
                if number >= count && *count > 0 {
                    return None;
                }
                let element = target.resolve(*element)?;
                Field { id: element, offset: at.offset + scaled(target, element, *number)?, bits: 0 }
            }
        };
    }
    Some(at)
}

fn field(local: &Btf, target: &Btf, one: &Adaptation, id: Id, there: Option<Id>) -> Result<Adapted, Problem> {
    let path = path_of(local, one)?;
    let (mine, steps) = walk(local, id, &path).ok_or_else(|| damaged("its path leads nowhere"))?;
    let found = there.and_then(|there| follow(local, &steps, target, there, path[0]));
    if one.kind == FIELD_EXISTS {
        return Ok(Adapted::Value { value: found.is_some().into(), sizes: None });
    }
    if there.is_none() {
        return Ok(Adapted::Keep);
    }
    let Some(found) = found else {
        let names: Vec<&str> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Name(name, _) => Some(*name),
                Step::Element(_) => None,
            })
            .collect();
        let name = essential(local.name(one.id));
        return Ok(Adapted::Missing(format!("needs {name}.{}, which is not simulated", names.join("."))));
    };
    let wrong = || damaged("a field of no size");
    let (value, sizes) = match one.kind {
        FIELD_OFFSET => {
            let (at, size) = storage(target, found).ok_or_else(wrong)?;
            let sizes = (found.bits == 0).then(|| sizes(local, mine, target, found, size)).flatten();
            (at, sizes)
        }
        FIELD_SIZE => (storage(target, found).ok_or_else(wrong)?.1.into(), None),
        FIELD_SIGNED => (signed(target, found.id).into(), None),
        kind => {
            let (at, _) = storage(target, found).ok_or_else(wrong)?;
            let width = bits(target, found).ok_or_else(wrong)?;
            let right = 64_u64.saturating_sub(width);
            // From the last bit of the field to the last bit of the word.
            let left = 64_u64.saturating_sub(found.offset + width - 8 * at);
            (if kind == FIELD_LEFT { left } else { right }, None)
        }
    };
    Ok(Adapted::Value { value, sizes })
}

fn bits(btf: &Btf, of: Field) -> Option<u64> {
    Some(if of.bits > 0 { of.bits.into() } else { 8 * u64::from(btf.size(of.id)?) })
}

/// The first byte to load for a field, and the number of bytes; for a bit field, those of a word that contains it.
fn storage(btf: &Btf, of: Field) -> Option<(u64, u32)> {
    let mut size = btf.size(of.id).filter(|size| *size > 0)?;
    if of.bits == 0 {
        return Some((of.offset / 8, size));
    }
    loop {
        let at = of.offset / 8 / u64::from(size) * u64::from(size);
        if of.offset + u64::from(of.bits) - 8 * at <= 8 * u64::from(size) {
            return Some((at, size));
        }
        size = size.checked_mul(2).filter(|size| *size <= 8)?;
    }
}

fn signed(btf: &Btf, id: Id) -> bool {
    matches!(btf.kind(id), Some(Kind::Int { signed: true, .. } | Kind::Enum { signed: true, .. }))
}

/// The sizes of a number or pointer in the object and here, if loads of one can be changed into loads of the other.
fn sizes(local: &Btf, mine: Field, target: &Btf, found: Field, size: u32) -> Option<(u32, u32)> {
    let number = |btf: &Btf, id| matches!(btf.kind(id), Some(Kind::Int { .. } | Kind::Enum { .. } | Kind::Pointer(_)));
    let fits = number(local, mine.id) && number(target, found.id) && mine.bits == 0;
    fits.then(|| Some((local.size(mine.id)?, size))).flatten()
}
