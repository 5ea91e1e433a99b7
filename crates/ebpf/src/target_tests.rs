//! The simulated kernel's types equal those of the running kernel, if it describes its types.

use crate::btf::{Btf, Id, Kind};
use crate::target::TYPES;

/// The member with this name, also inside unnamed members: its type, and the width of a bit field.
fn member(btf: &Btf, id: Id, name: &str) -> Option<(Id, u8)> {
    let list = btf.members(id)?;
    let direct = list.iter().find(|one| btf.text(one.name) == name).map(|one| (one.id, one.bits));
    let unnamed = || list.iter().filter(|one| one.name == 0).filter_map(|one| btf.resolve(one.id));
    direct.or_else(|| unnamed().find_map(|id| member(btf, id, name)))
}

fn same(ours: &Btf, id: Id, theirs: &Btf, there: Id, differ: &mut Vec<String>) -> bool {
    let (Some(id), Some(there)) = (ours.resolve(id), theirs.resolve(there)) else { return false };
    match (ours.kind(id), theirs.kind(there)) {
        (Some(Kind::Int { size, signed, .. }), Some(Kind::Int { size: other, signed: as_well, .. })) => {
            size == other && (signed == as_well || *size == 1)
        }
        // The types behind pointers are not simulated.
        (Some(Kind::Pointer(_)), Some(Kind::Pointer(_))) => true,
        (Some(Kind::Int { size, .. }), Some(Kind::Enum { size: other, .. })) => size == other,
        (Some(Kind::Array { element, count }), Some(Kind::Array { element: other, count: as_many })) => {
            count == as_many && same(ours, *element, theirs, *other, differ)
        }
        (Some(Kind::Struct { members, .. }), Some(Kind::Struct { .. })) => {
            for one in members {
                let name = ours.text(one.name);
                let found = member(theirs, there, name);
                // A flag may be a bit or a byte.
                let alike = found.is_some_and(|(of, bits)| match (one.bits, bits) {
                    (0, 0) => same(ours, one.id, theirs, of, differ),
                    (ours, theirs) => ours == theirs || ours.max(theirs) == 1,
                });
                if !alike {
                    differ.push(format!("{}.{name}: {found:?}", ours.name(id)));
                }
            }
            true
        }
        (Some(Kind::Enum { values, .. }), Some(Kind::Enum { values: others, .. })) => {
            for (name, value) in values {
                let name = ours.text(*name);
                let found = others.iter().find(|(other, _)| theirs.text(*other) == name).map(|(_, value)| *value);
                if found != Some(*value) {
                    differ.push(format!("{name}: {found:?}"));
                }
            }
            true
        }
        _ => false,
    }
}

#[test]
fn fields_and_values_are_those_of_the_running_kernel() {
    let Ok(bytes) = std::fs::read("/sys/kernel/btf/vmlinux") else {
        eprintln!("skipped: this kernel does not describe its types");
        return;
    };
    let theirs = Btf::read(&bytes).unwrap();
    // Older kernels have other fields; the table is for one version.
    if !theirs.types.iter().any(|one| theirs.text(one.name) == "tcp_ca_ack_event_flags") {
        eprintln!("skipped: an old kernel");
        return;
    }
    let (mut compared, mut differ) = (0, Vec::new());
    for (id, one) in TYPES.types.iter().enumerate() {
        let name = TYPES.text(one.name);
        if name.is_empty() || !matches!(one.kind, Kind::Struct { .. } | Kind::Enum { .. }) {
            continue;
        }
        let kind = std::mem::discriminant(&one.kind);
        let all = theirs.types.iter().enumerate();
        let mut found =
            all.filter(|(_, other)| theirs.text(other.name) == name && std::mem::discriminant(&other.kind) == kind);
        // The kernel may have no separate type for a structure, or another name for an enumeration.
        let Some((there, _)) = found.next() else { continue };
        assert!(same(&TYPES, id as Id, &theirs, there as Id, &mut differ), "{name}");
        compared += 1;
    }
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(compared >= 12, "{compared}");
}
