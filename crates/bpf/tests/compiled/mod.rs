//! The C of `crates/bpf/kernel/` compiled for this machine, and what it answers to calls.

use super::vectors::{Answer, Vector};
use bpf::Params;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel")
}

/// What the C says, compiled with whatever links Rust's programs.
pub fn answers(params: &Params, list: &[Vector]) -> Vec<Answer> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "native-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"];
    let built = Command::new("cc").args(flags).arg(folder().join("native.c")).arg("-o").arg(&program).status();
    assert!(built.expect("cc, which links Rust's programs, is there").success(), "native.c does not compile");
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it has just been made");
    let mut asked = params.bytes().to_vec();
    asked.extend(list.iter().flat_map(Vector::bytes));
    let mut stdin = child.stdin.take().expect("is piped");
    let writer = std::thread::spawn(move || stdin.write_all(&asked));
    let output = child.wait_with_output().expect("it ends when its input does");
    writer.join().expect("does not panic").expect("it reads all");
    std::fs::remove_file(&program).expect("it has just been made");
    assert!(output.status.success(), "native.c failed");
    let answers: Vec<Answer> = output.stdout.chunks_exact(Answer::SIZE).map(Answer::read).collect();
    assert_eq!(answers.len(), list.len());
    answers
}
