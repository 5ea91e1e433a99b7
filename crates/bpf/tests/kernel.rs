//! The laws in the running kernel: what its compiler makes of them gives the bits of this machine's compiler; they come, are counted
//! and go, and so does an object of the user's own. Skipped, with the reason, where this machine cannot load laws.

#![cfg(feature = "load")]

extern crate elephan_bpf as bpf;

mod vectors;

use bpf::loader::{self, Error};
use law::kernel::{LAWS, OBJECT, Params};
use libbpf_rs::{MapCore, MapFlags, ObjectBuilder, ProgramInput};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vectors::{Answer, Vector};

/// Calls in a batch, as in `crates/law/kernel/vectors.bpf.c`.
const BATCH: usize = 256;

/// Laws have one name in the whole kernel, so tests that load them take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Whether laws can be loaded here; says why not.
fn ready() -> Option<MutexGuard<'static, ()>> {
    if let Err(error) = loader::check() {
        eprintln!("skipped: {error}");
        return None;
    }
    Some(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The program that answers calls: the one that `VECTORS` names, else compiled, if there is a compiler for it.
fn compiled() -> Option<PathBuf> {
    if let Some(object) = std::env::var_os("VECTORS") {
        return Some(object.into());
    }
    let folder = vectors::folder();
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("vectors-{}.bpf.o", std::process::id()));
    // In a file of its own, since what is not found is no fault of the program's.
    let probe = object.with_extension("probe.c");
    std::fs::write(&probe, "#include <bpf/bpf_core_read.h>\n").unwrap();
    let headers = Command::new("clang").args(["-target", "bpf", "-E", "-o", "/dev/null"]).arg(&probe).output();
    std::fs::remove_file(&probe).unwrap();
    if headers.is_ok_and(|tried| !tried.status.success()) {
        eprintln!("skipped: the headers of libbpf are not installed");
        return None;
    }
    let built = Command::new("clang")
        .args(["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror", "-c"])
        .arg(folder.join("vectors.bpf.c"))
        .arg("-o")
        .arg(&object)
        .status();
    let Ok(status) = built else {
        eprintln!("skipped: clang is not installed");
        return None;
    };
    assert!(status.success(), "vectors.bpf.c does not compile");
    Some(object)
}

/// Answers of the kernel's machine code.
fn run(object: &Path, params: &Params, list: &[Vector]) -> Vec<Answer> {
    let mut open = ObjectBuilder::default().open_file(object).unwrap();
    for mut map in open.maps_mut() {
        if map.name().to_string_lossy().ends_with(".params") {
            map.set_initial_value(&params.bytes()).unwrap();
        }
    }
    let object = open.load().unwrap();
    let batch = object.maps().find(|map| map.name().to_string_lossy().ends_with(".batch")).unwrap();
    let program = object.progs_mut().find(|program| program.name() == "el_run").unwrap();
    let mut answers = Vec::new();
    let key = 0_u32.to_ne_bytes();
    for part in list.chunks(BATCH) {
        let mut value = batch.lookup(&key, MapFlags::ANY).unwrap().unwrap();
        value[..4].copy_from_slice(&(part.len() as u32).to_ne_bytes());
        let asked: Vec<u8> = part.iter().flat_map(Vector::bytes).collect();
        value[8..8 + asked.len()].copy_from_slice(&asked);
        batch.update(&key, &value, MapFlags::ANY).unwrap();
        let output = program.test_run(ProgramInput::default()).unwrap();
        assert_eq!(output.return_value, 0);
        let value = batch.lookup(&key, MapFlags::ANY).unwrap().unwrap();
        let from = 8 + BATCH * part[0].bytes().len();
        answers.extend(value[from..].chunks_exact(Answer::SIZE).take(part.len()).map(Answer::read));
    }
    answers
}

#[test]
fn the_kernels_code_and_this_machines_agree_in_every_bit() {
    let (Some(_turn), Some(object)) = (ready(), compiled()) else { return };
    let list = vectors::random(100_000);
    for make in [Params::default, vectors::other_params] {
        let params = make();
        let expected = vectors::native(&params, &list);
        vectors::assert_varied(&list, &expected);
        let found = run(&object, &params, &list);
        assert_eq!(found.len(), expected.len());
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "call {i}: {:?}", list[i]);
        }
    }
    if std::env::var_os("VECTORS").is_none() {
        std::fs::remove_file(object).unwrap();
    }
}

/// Whether sockets can choose a law.
fn is_offered(law: &str) -> bool {
    loader::list().unwrap().iter().any(|state| state.name == law && state.offered)
}

#[test]
fn every_law_is_there_as_long_as_it_is_held() {
    let Some(_turn) = ready() else { return };
    for (law, called) in LAWS {
        if is_offered(law) {
            eprintln!("skipped: {called} is loaded by somebody else");
            continue;
        }
        let held = loader::hold(law, &Params::default()).unwrap();
        assert!(is_offered(law), "{law}");
        assert_eq!(held.counters().unwrap(), Some(loader::Counters::default()));
        assert!(matches!(loader::hold(law, &Params::default()), Err(Error::AlreadyLoaded(_))));
        drop(held);
        assert!(!is_offered(law), "{law}");
    }
}

#[test]
fn what_is_kept_stays_until_it_is_taken_out() {
    let Some(_turn) = ready() else { return };
    if is_offered("htcp") {
        eprintln!("skipped: el_htcp is loaded by somebody else");
        return;
    }
    loader::keep("htcp", &Params::default()).unwrap();
    let state = loader::list().unwrap().into_iter().find(|state| state.name == "htcp").unwrap();
    assert!(state.offered && state.kept);
    assert_eq!(loader::show("el_htcp").unwrap().unwrap().connections, 0);
    assert!(matches!(loader::keep("htcp", &Params::default()), Err(Error::AlreadyLoaded(_))));
    loader::take_out("htcp").unwrap();
    assert!(!is_offered("htcp"));
    assert!(matches!(loader::take_out("htcp"), Err(Error::NotLoaded(_))));
    assert!(matches!(loader::show("htcp"), Err(Error::NotLoaded(_))));
}

#[test]
fn a_name_that_is_none_is_told_which_there_are() {
    let error = loader::hold("tahoe", &Params::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "tahoe: is no law of the kernel's, nor kept by elephan; there are highspeed, ghstcp, nr-hstcp, scalable, htcp, and any \
         object (mine.bpf.o)"
    );
}

#[test]
fn an_object_of_somebodys_own_is_kept_under_its_own_name_and_counts_nothing() {
    let Some(_turn) = ready() else { return };
    // One of ours, by another name, as somebody else would have it.
    let mut object = OBJECT.to_vec();
    let (from, to) = (b"el_scalable\0", b"my_scalable\0");
    let at: Vec<usize> = (0..object.len() - from.len()).filter(|&at| object[at..].starts_with(from)).collect();
    for at in at {
        object[at..at + to.len()].copy_from_slice(to);
    }
    let control = loader::Control { object: &object, variable: "scalable", called: "my_scalable", params: None };
    loader::keep_control(&control).unwrap();
    let state = loader::list().unwrap().into_iter().find(|state| state.called == "my_scalable").unwrap();
    assert!(state.offered && state.kept && state.name == "my_scalable");
    assert_eq!(loader::show("my_scalable").unwrap(), None);
    assert!(matches!(loader::keep_control(&control), Err(Error::AlreadyLoaded(_))));
    loader::take_out("my_scalable").unwrap();
    assert!(loader::list().unwrap().iter().all(|state| state.called != "my_scalable"));
    assert!(matches!(loader::take_out("my_scalable"), Err(Error::Unknown(_))));
}
