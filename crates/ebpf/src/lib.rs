//! Runs congestion controls that were compiled to eBPF for the Linux kernel, without a kernel.
//!
//! Source: RFC 9669 (instructions), and the kernel's documentation of BTF, CO-RE and `struct_ops`. [`Object::read`] reads a
//! file, [`Object::load`] decodes one of its controls, and [`Loaded::socket`] makes a socket with that control. A simulator
//! sets the socket's fields and makes the kernel's calls. Any content of a file leads at most to an [`Error`] or a
//! [`Fault`] with a message of one line.

mod btf;
mod core_relocation;
mod elf;
mod error;
mod fuse;
mod host;
mod instruction;
mod load;
mod machine;
mod maps;
mod memory;
mod object;
mod raw;
mod socket;
mod target;
#[cfg(test)]
mod target_tests;

pub use error::{Error, Fault, Problem, Reason};
pub use host::{FIRST_JIFFY, HZ};
pub use object::{Callback, Control, LARGEST_OBJECT, Object};
pub use raw::execute;
pub use socket::{AckSample, Loaded, RateSample, Socket};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
