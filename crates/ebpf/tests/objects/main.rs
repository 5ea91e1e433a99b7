//! Objects of eBPF: those of this project, and others that are built byte by byte.

extern crate elephan_ebpf as ebpf;

mod build;
mod control;
mod damage;
mod faults;
mod features;
mod files;
mod instructions;
mod isa;
mod mutants;
mod our_laws;
mod selftests;
