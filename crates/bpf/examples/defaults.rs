//! Writes `bpf/defaults.h`: the laws' parameters in C, from the laws of the simulator.

fn main() {
    print!("{}", bpf::header(&bpf::Params::default()));
}
