//! The laws of `crates/bpf/kernel/` compiled for this machine give the same bits as their twins in Rust, and close to
//! what the laws of the simulator say.

extern crate elephan_bpf as bpf;

mod compiled;
mod vectors;

use bpf::Params;

#[test]
fn c_and_rust_agree_in_every_bit() {
    let list = vectors::random(200_000);
    for make in [Params::default, vectors::other_params] {
        let params = make();
        let expected = vectors::twins(&params, &list);
        for (i, (found, expected)) in compiled::answers(&params, &list).iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "call {i}: {:?}", list[i]);
        }
    }
}

#[test]
fn the_calls_reach_every_corner() {
    let list = vectors::random(200_000);
    let answers = vectors::twins(&Params::default(), &list);
    vectors::assert_varied(&list, &answers);
}
