//! Builds objects of one congestion control.

use super::build::{Elf, FUNCTION, GLOBAL, OBJECT, Types, WEAK};
use super::isa::insn;

pub const EXIT: [u8; 8] = [0x95, 0, 0, 0, 0, 0, 0, 0];

/// A control `mine` whose callbacks run these programs.
pub struct Built {
    pub types: Types,
    pub elf: Elf,
    /// Callback, or name of a program that none is, and its instructions.
    pub programs: Vec<(String, Vec<[u8; 8]>)>,
    /// Relocations in programs: program, instruction, symbol, kind.
    pub relocations: Vec<(String, usize, String, u32)>,
    /// Adaptations in programs: program, instruction, type, path, kind.
    pub adaptations: Vec<(String, usize, u32, String, u32)>,
    /// Functions of the kernel, and whether they may be missing.
    pub outside: Vec<(String, bool)>,
    pub parameters: usize,
    pub beside: Vec<Beside>,
}

/// A control that stands beside it: variable, name, and programs by callback.
pub type Beside = (String, String, Vec<(String, String)>);

impl Built {
    /// Control with this `cong_avoid`; the other programs that must exist return 7.
    pub fn new(cong_avoid: &[[u8; 8]]) -> Self {
        let seven = vec![insn(0xb7, 0, 0, 0, 7), EXIT];
        Self {
            types: Types::new(),
            elf: Elf::default(),
            programs: vec![
                ("cong_avoid".into(), cong_avoid.to_vec()),
                ("ssthresh".into(), seven.clone()),
                ("undo_cwnd".into(), seven),
            ],
            relocations: Vec::new(),
            adaptations: Vec::new(),
            outside: Vec::new(),
            parameters: 2,
            beside: Vec::new(),
        }
    }

    /// Another program.
    pub fn with(mut self, name: &str, program: &[[u8; 8]]) -> Self {
        self.programs.retain(|(known, _)| known != name);
        self.programs.push((name.into(), program.to_vec()));
        self
    }

    /// Another control, before the first in the types; its programs are those of the first.
    pub fn beside(mut self, variable: &str, name: &str, programs: &[(&str, &str)]) -> Self {
        let programs = programs.iter().map(|(callback, program)| ((*callback).into(), (*program).into())).collect();
        self.beside.push((variable.into(), name.into(), programs));
        self
    }

    /// `cong_avoid` calls or loads something at an instruction.
    pub fn refers(mut self, at: usize, symbol: &str, kind: u32) -> Self {
        self.relocations.push(("cong_avoid".into(), at, symbol.into(), kind));
        self
    }

    pub fn outside(mut self, name: &str, may_be_missing: bool) -> Self {
        self.outside.push((name.into(), may_be_missing));
        self
    }

    /// A section of data with one variable `name`.
    pub fn data(mut self, section: &str, name: &str, data: Vec<u8>) -> Self {
        let size = data.len() as u64;
        self.elf.section(section, data);
        self.elf.symbol(name, Some(section), 0, size, OBJECT, GLOBAL);
        self
    }

    /// A map with a key of 4 bytes and a value of 8.
    pub fn map(mut self, name: &str, kind: u32, entries: u32) -> Self {
        let t = &mut self.types;
        let (int, long) = (t.int("unsigned int", 4, false), t.int("unsigned long long", 8, false));
        let number = |t: &mut Types, n| {
            let array = t.array(int, n);
            t.pointer(array)
        };
        let (kind, entries) = (number(t, kind), number(t, entries));
        let (key, value) = (t.pointer(int), t.pointer(long));
        let members = [("type", kind, 0), ("key", key, 64), ("value", value, 128), ("max_entries", entries, 192)];
        let id = t.structure("", 32, &members);
        let variable = t.variable(name, id);
        t.section(".maps", &[variable]);
        self.elf.section(".maps", vec![0; 32]);
        self.elf.symbol(name, Some(".maps"), 0, 32, OBJECT, GLOBAL);
        self
    }

    /// The file.
    pub fn bytes(mut self) -> Vec<u8> {
        let callbacks = [
            "init",
            "release",
            "ssthresh",
            "cong_avoid",
            "set_state",
            "cwnd_event",
            "in_ack_event",
            "undo_cwnd",
            "pkts_acked",
            "min_tso_segs",
            "cong_control",
            "sndbuf_expand",
            "get_info",
        ];
        let t = &mut self.types;
        let byte = t.int("char", 1, true);
        let name = t.array(byte, 16);
        let plain = t.prototype(&vec![byte; self.parameters]);
        let function = t.pointer(plain);
        let mut members: Vec<(&str, u32, u32)> = vec![("name", name, 0)];
        members.extend(callbacks.iter().enumerate().map(|(i, name)| (*name, function, 64 * (i as u32 + 2))));
        let ops = t.structure("tcp_congestion_ops", 16 + 8 * callbacks.len() as u32, &members);
        let others: Vec<u32> = self.beside.iter().map(|(variable, ..)| t.variable(variable, ops)).collect();
        let variable = t.variable("ops", ops);
        t.section(".struct_ops", &[others, vec![variable]].concat());
        let mut code = Vec::new();
        let mut starts = Vec::new();
        for (name, program) in &self.programs {
            starts.push((name.clone(), code.len() as u64, 8 * program.len() as u64));
            code.extend(program.concat());
        }
        let start = |name: &str| starts.iter().find(|(known, ..)| known == name).unwrap().1;
        let mut relocations: Vec<_> = self
            .relocations
            .iter()
            .map(|(program, at, symbol, kind)| (start(program) + 8 * *at as u64, symbol.clone(), *kind))
            .collect();
        relocations.sort();
        self.elf.section("programs", code).relocations = relocations;
        let mut data = vec![0; 16 + 8 * callbacks.len()];
        data[..4].copy_from_slice(b"mine");
        let mut pointers = Vec::new();
        for (name, at, size) in &starts {
            self.elf.symbol(name, Some("programs"), *at, *size, FUNCTION, GLOBAL);
            if let Some(i) = callbacks.iter().position(|callback| callback == name) {
                pointers.push((16 + 8 * i as u64, name.clone(), 2));
            }
        }
        for (variable, name, programs) in &self.beside {
            let at = data.len();
            data.resize(at + 16 + 8 * callbacks.len(), 0);
            data[at..at + name.len()].copy_from_slice(name.as_bytes());
            self.elf.symbol(variable, Some(".struct_ops"), at as u64, 16 + 8 * callbacks.len() as u64, OBJECT, GLOBAL);
            for (callback, program) in programs {
                let i = callbacks.iter().position(|known| known == callback).unwrap();
                pointers.push(((at + 16 + 8 * i) as u64, program.clone(), 2));
            }
        }
        pointers.sort();
        self.elf.section(".struct_ops", data).relocations = pointers;
        self.elf.symbol("ops", Some(".struct_ops"), 0, 16 + 8 * callbacks.len() as u64, OBJECT, GLOBAL);
        for (name, may_be_missing) in &self.outside {
            self.elf.symbol(name, None, 0, 0, 0, if *may_be_missing { WEAK } else { GLOBAL });
        }
        for (program, at, id, path, kind) in &self.adaptations {
            let at = (start(program) + 8 * *at as u64) as u32;
            t.adaptations.push(("programs".into(), at, *id, path.clone(), *kind));
        }
        let more = t.more();
        self.elf.section(".BTF", t.bytes());
        self.elf.section(".BTF.ext", more);
        self.elf.bytes()
    }
}
