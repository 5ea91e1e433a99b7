//! Writes `crates/law/kernel/defaults.h`: the laws' parameters in C, from the laws of the simulator.

fn main() {
    print!("{}", elephan_bpf::header(&law::kernel::Params::default()));
}
