//! An object file: its congestion controls, and the programs that belong to them.
//!
//! Source: the kernel's documentation of BTF and of libbpf; Linux's `tcp_congestion_ops`. Programs are found by the
//! relocations of `.struct_ops`, and structures by their symbols, because some compilers leave the offsets in the types
//! empty.

use crate::btf::{self, Adaptation, Btf, Id, Kind, Member};
use crate::elf::{Elf, FUNCTION, POINTER, SECTION, Symbol, u32_at, u64_at};
use crate::error::{Error, Problem};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Size of the largest file that is read, in bytes.
pub const LARGEST_OBJECT: usize = 16 << 20;
/// Largest number of congestion controls in an object.
const MOST_CONTROLS: usize = 64;

/// Callbacks of Linux's congestion controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callback {
    /// A connection begins.
    Init,
    /// A connection ends, or changes to another control.
    Release,
    /// Returns the threshold after a loss; every control has it.
    Ssthresh,
    /// An ACK of new data outside recovery.
    CongAvoid,
    /// The recovery state changes.
    SetState,
    /// An event that concerns the window.
    CwndEvent,
    /// Any ACK, before all other calls.
    InAckEvent,
    /// Returns the window after a spurious loss; every control has it.
    UndoCwnd,
    /// An ACK with the number of segments that it acknowledges and their round-trip time.
    PktsAcked,
    /// Returns the smallest number of segments in a burst.
    MinTsoSegs,
    /// An ACK with its delivery-rate sample; replaces `CongAvoid`.
    CongControl,
    /// Returns the factor by which the send buffer grows.
    SndbufExpand,
}

impl Callback {
    /// All callbacks.
    pub const ALL: [Self; 12] = [
        Self::Init,
        Self::Release,
        Self::Ssthresh,
        Self::CongAvoid,
        Self::SetState,
        Self::CwndEvent,
        Self::InAckEvent,
        Self::UndoCwnd,
        Self::PktsAcked,
        Self::MinTsoSegs,
        Self::CongControl,
        Self::SndbufExpand,
    ];

    /// The callback's name in the kernel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Release => "release",
            Self::Ssthresh => "ssthresh",
            Self::CongAvoid => "cong_avoid",
            Self::SetState => "set_state",
            Self::CwndEvent => "cwnd_event",
            Self::InAckEvent => "in_ack_event",
            Self::UndoCwnd => "undo_cwnd",
            Self::PktsAcked => "pkts_acked",
            Self::MinTsoSegs => "min_tso_segs",
            Self::CongControl => "cong_control",
            Self::SndbufExpand => "sndbuf_expand",
        }
    }
}

/// Start of a program: index of the section, and offset in bytes.
pub(crate) type Place = (usize, u64);

/// A congestion control of an object.
#[derive(Clone, Debug)]
pub struct Control {
    name: String,
    variable: String,
    flags: u32,
    /// Whether `cong_control` has parameters for the ACK and its flags, as in newer kernels.
    pub(crate) long_form: bool,
    /// Program of each [`Callback`].
    pub(crate) programs: [Option<Place>; Callback::ALL.len()],
    /// Reason why the kernel would refuse the control, or why it is not simulated; an error only if the control is chosen.
    problem: Option<Problem>,
}

impl Control {
    /// The name by which sockets choose it; empty if it cannot be chosen.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of its variable in the source.
    #[must_use]
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Its flags in the kernel: 1, any user may choose it; 2, it wants ECN.
    #[must_use]
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Whether it has a program for this callback.
    #[must_use]
    pub fn implements(&self, callback: Callback) -> bool {
        self.programs[callback as usize].is_some()
    }
}

/// An object file, read and checked; its programs are decoded by [`Object::load`].
#[derive(Clone, Debug)]
pub struct Object {
    pub(crate) name: String,
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) btf: Btf,
    pub(crate) adaptations: BTreeMap<String, Vec<Adaptation>>,
    controls: Vec<Control>,
}

impl Object {
    /// Reads an object; `name` is its name in messages.
    ///
    /// # Errors
    /// A description of the error in one line that begins with `name`.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        Self::parse(name, bytes).map_err(|problem| Error::new(name, problem))
    }

    fn parse(name: &str, bytes: &[u8]) -> Result<Self, Problem> {
        if bytes.len() > LARGEST_OBJECT {
            let right = format!("has {} bytes; must have at most {LARGEST_OBJECT}", bytes.len());
            return Err(Problem::Size(right));
        }
        let elf = Elf::read(bytes)?;
        let Some((_, types)) = elf.section(".BTF") else {
            return Err(Problem::Types("has no types (section .BTF); compile it with -g".into()));
        };
        let btf = Btf::read(types.data)?;
        let adaptations = match elf.section(".BTF.ext") {
            Some((_, section)) => btf::adaptations(section.data, &btf)?,
            None => BTreeMap::new(),
        };
        let controls = controls(&elf, &btf)?;
        if controls.is_empty() {
            let right = "has no congestion control: must have a struct tcp_congestion_ops in the section .struct_ops";
            return Err(Problem::Control(right.into()));
        }
        Ok(Self { name: name.into(), bytes: Arc::from(bytes), btf, adaptations, controls })
    }

    /// Name of the object in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Its congestion controls.
    #[must_use]
    pub fn controls(&self) -> &[Control] {
        &self.controls
    }

    /// Contents of a section of the file, such as the defaults of parameters in `.rodata.params`.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<Vec<u8>> {
        let elf = Elf::read(&self.bytes).ok()?;
        elf.section(name).filter(|(_, section)| !section.is_empty_in_file()).map(|(_, section)| section.data.to_vec())
    }

    /// The control with this name, or with a variable of this name, if the kernel would accept it.
    pub(crate) fn loadable(&self, control: &str) -> Result<&Control, Error> {
        let mut all = self.controls.iter().filter(|one| one.name == control && !control.is_empty());
        let found = all.next();
        if all.next().is_some() {
            return Err(Error::new(&self.name, Problem::Control(format!("has two controls of the name {control}"))));
        }
        let found = found.or_else(|| self.controls.iter().find(|one| one.variable == control));
        let Some(found) = found else {
            let names: Vec<&str> = self.controls.iter().map(Control::name).filter(|name| !name.is_empty()).collect();
            let right = format!("has no congestion control {control:?}; there are {}", names.join(", "));
            return Err(Error::new(&self.name, Problem::Control(right)));
        };
        if let Some(problem) = &found.problem {
            return Err(Error::new(&self.name, problem.clone()));
        }
        for needed in [Callback::Ssthresh, Callback::UndoCwnd] {
            if !found.implements(needed) {
                return Err(self.incomplete(found, needed.name()));
            }
        }
        if !found.implements(Callback::CongAvoid) && !found.implements(Callback::CongControl) {
            return Err(self.incomplete(found, "cong_avoid and no cong_control"));
        }
        Ok(found)
    }

    fn incomplete(&self, control: &Control, what: &str) -> Error {
        let text = format!("control {}: has no {what}, without which the kernel takes none", control.name);
        Error::new(&self.name, Problem::Control(text))
    }
}

fn controls(elf: &Elf, btf: &Btf) -> Result<Vec<Control>, Problem> {
    let mut list = Vec::new();
    for (number, section) in [".struct_ops", ".struct_ops.link"].into_iter().filter_map(|name| elf.section(name)) {
        let relocations = elf.relocations(number)?;
        let program = |at: u64| {
            let from = relocations.partition_point(|one| one.offset < at);
            let one = relocations.get(from).filter(|one| one.offset == at)?;
            let symbol = elf.symbols[one.symbol];
            let addend = usize::try_from(at).ok().and_then(|at| u64_at(section.data, at)).unwrap_or(0);
            (one.kind == POINTER).then_some((symbol, addend))
        };
        for (variable, id) in btf.section(section.name) {
            let Some(symbol) = elf.symbol(number, variable) else { continue };
            let Some(id) = btf.resolve(id) else { continue };
            let of = btf.name(id);
            if of.split("___").next() != Some("tcp_congestion_ops") {
                continue;
            }
            if list.len() == MOST_CONTROLS {
                return Err(Problem::Size(format!("has more than {MOST_CONTROLS} congestion controls")));
            }
            let mut found = Control {
                name: String::new(),
                variable: symbol.name.into(),
                flags: 0,
                long_form: false,
                programs: [None; Callback::ALL.len()],
                problem: None,
            };
            found.problem = found.fill(btf, id, symbol, section.data, &program).err();
            list.push(found);
        }
    }
    Ok(list)
}

impl Control {
    /// Copies the fields of the structure at `symbol`. The name comes first, so that it is known even if another field is wrong.
    fn fill<'a>(
        &mut self,
        btf: &Btf,
        id: Id,
        symbol: &Symbol,
        data: &[u8],
        program: &dyn Fn(u64) -> Option<(Symbol<'a>, u64)>,
    ) -> Result<(), Problem> {
        let wrong = |what: &str| Problem::Control(format!("control {}: {what}", symbol.name));
        let members = btf.members(id).ok_or_else(|| wrong("is no structure"))?;
        let place = |member: &Member| symbol.value.checked_add(u64::from(member.offset / 8));
        if let Some(member) = members.iter().find(|member| btf.text(member.name) == "name") {
            let from = place(member).and_then(|at| usize::try_from(at).ok());
            let text = from.and_then(|from| data.get(from..from.checked_add(16)?));
            let text = text.and_then(|text| text.split(|byte| *byte == 0).next());
            let text = text.and_then(|text| std::str::from_utf8(text).ok());
            self.name = text.ok_or_else(|| wrong("its name is no text"))?.into();
        }
        if self.name.is_empty() {
            return Err(wrong("has no name by which sockets could choose it"));
        }
        for member in members {
            let at = place(member).ok_or_else(|| wrong("lies nowhere"))?;
            let name = btf.text(member.name);
            if name == "flags" {
                self.flags = usize::try_from(at).ok().and_then(|from| u32_at(data, from)).unwrap_or(0);
                continue;
            }
            let Some((to, addend)) = program(at) else { continue };
            let place = match to.kind {
                FUNCTION => to.value,
                SECTION => to.value.wrapping_add(addend),
                _ => return Err(wrong(&format!("its {name} is no program"))),
            };
            let Some(callback) = Callback::ALL.into_iter().find(|callback| callback.name() == name) else {
                return Err(wrong(&format!("its {name} is not simulated")));
            };
            self.programs[callback as usize] = Some((to.section, place));
            if callback == Callback::CongControl {
                self.long_form = parameters(btf, member.id) > 2;
            }
        }
        Ok(())
    }
}

/// Number of parameters of the function that a pointer type refers to.
fn parameters(btf: &Btf, id: Id) -> u32 {
    let Some(Kind::Pointer(to)) = btf.resolve(id).and_then(|id| btf.kind(id)) else { return 0 };
    match btf.resolve(*to).and_then(|id| btf.kind(id)) {
        Some(Kind::Prototype(count)) => *count,
        _ => 0,
    }
}
