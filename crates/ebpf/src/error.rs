//! Errors in an object, and faults of its programs.
//!
//! Source: none. Every message is one line that begins with the object. If it refers to code, it names the program and the
//! instruction; instructions are counted from the start of the program, as the kernel's verifier does.

use std::fmt::{self, Write as _};

/// Writes a name from a file, which may contain any bytes, as one line of visible characters.
fn plainly(f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>) -> fmt::Result {
    for letter in text.to_string().chars() {
        if letter.is_control() { write!(f, "{}", letter.escape_default())? } else { f.write_char(letter)? }
    }
    Ok(())
}

/// Error of an object that cannot be used. Its text is one line that begins with the object's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    object: String,
    place: Option<(String, usize)>,
    problem: Problem,
}

impl Error {
    pub(crate) fn new(object: &str, problem: Problem) -> Self {
        Self { object: object.into(), place: None, problem }
    }

    pub(crate) fn at(object: &str, program: &str, instruction: usize, problem: Problem) -> Self {
        Self { object: object.into(), place: Some((program.into(), instruction)), problem }
    }

    /// Description of the error, without the place.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The program and the index of the instruction, if the error is in code.
    #[must_use]
    pub fn place(&self) -> Option<(&str, usize)> {
        self.place.as_ref().map(|(program, instruction)| (program.as_str(), *instruction))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, problem, .. } = self;
        match &self.place {
            Some((program, at)) => plainly(f, format_args!("{object}: program {program}, instruction {at}: {problem}")),
            None => plainly(f, format_args!("{object}: {problem}")),
        }
    }
}

impl std::error::Error for Error {}

/// Errors in an object, by the part of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The container: not an ELF file of eBPF, or truncated.
    Elf(String),
    /// The types (sections `.BTF` and `.BTF.ext`).
    Types(String),
    /// A reference without a valid target.
    Relocation(String),
    /// The definition of a map.
    Map(String),
    /// The congestion control: there is none with that name, or the kernel would refuse it.
    Control(String),
    /// An instruction that does not exist or is not allowed in programs.
    Instruction(String),
    /// A size above the limit.
    Size(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elf(text)
            | Self::Types(text)
            | Self::Relocation(text)
            | Self::Map(text)
            | Self::Control(text)
            | Self::Instruction(text)
            | Self::Size(text) => f.write_str(text),
        }
    }
}

/// Fault of a program, with its place. The call then has no result; the socket keeps earlier writes of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    object: String,
    program: String,
    instruction: usize,
    reason: Reason,
}

impl Fault {
    pub(crate) fn new(object: &str, program: &str, instruction: usize, reason: Reason) -> Self {
        Self(Box::new(Inner { object: object.into(), program: program.into(), instruction, reason }))
    }

    /// The program's name.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.0.program
    }

    /// The index of the instruction in the program; one of 16 bytes counts as two.
    #[must_use]
    pub fn instruction(&self) -> usize {
        self.0.instruction
    }

    /// Description of the fault.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { object, program, instruction, reason } = &*self.0;
        plainly(f, format_args!("{object}: program {program}, instruction {instruction}: {reason}"))
    }
}

impl std::error::Error for Fault {}

/// Kinds of faults of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A read outside of the memory.
    Read {
        /// Address of the access.
        address: u64,
        /// Size of the access, in bytes.
        size: usize,
    },
    /// A write outside of the memory.
    Write {
        /// Address of the access.
        address: u64,
        /// Size of the access, in bytes.
        size: usize,
    },
    /// A write to memory that is read-only for programs: a field of the socket, the context, a sample, or constants.
    ReadOnly {
        /// Name of the memory that was written, if it has one.
        what: String,
    },
    /// An atomic operation at an address that is not a multiple of its size.
    Unaligned {
        /// Address of the access.
        address: u64,
        /// Size of the access, in bytes.
        size: usize,
    },
    /// More steps than a call may have; the program probably does not end.
    Steps(u64),
    /// More nested calls than the kernel allows.
    Frames,
    /// A field, type, function or value of the kernel that is not simulated.
    Missing(String),
    /// A helper that is not simulated.
    Helper(u32),
    /// An argument that the helper or function does not accept.
    Argument(String),
    /// The maps exceed this size in bytes.
    Memory(usize),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { address: address @ ..4096, size } => {
                write!(f, "reads {size} bytes through a null pointer (address {address:#x})")
            }
            Self::Read { address, size } => write!(f, "reads {size} bytes at {address:#x}, where nothing is"),
            Self::Write { address: address @ ..4096, size } => {
                write!(f, "writes {size} bytes through a null pointer (address {address:#x})")
            }
            Self::Write { address, size } => write!(f, "writes {size} bytes at {address:#x}, where nothing is"),
            Self::ReadOnly { what } => write!(f, "writes {what}, which no program may write"),
            Self::Unaligned { address, size } => {
                write!(f, "an atomic operation of {size} bytes at {address:#x}, which is no multiple of that")
            }
            Self::Steps(limit) => write!(f, "the call has taken {limit} steps and has not ended"),
            Self::Frames => write!(f, "calls within calls, more than 8 deep"),
            Self::Missing(what) | Self::Argument(what) => f.write_str(what),
            Self::Helper(number) => write!(f, "calls helper {number}, which is not simulated"),
            Self::Memory(limit) => write!(f, "its maps hold more than {limit} bytes"),
        }
    }
}
