//! Runs congestion controls that were compiled to eBPF for the Linux kernel, without a kernel.
//!
//! Source: RFC 9669 (instructions), the kernel's documentation of BTF, of CO-RE and of `struct_ops`.
//! [`Object::read`] takes a file, [`Object::load`] decodes one of its controls, [`Loaded::socket`] makes a socket under
//! it, whose fields a simulator fills and whose calls are the kernel's. Whatever a file holds, there is an [`Error`] or
//! a [`Fault`] of one line, and nothing else.

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
