//! Loads laws into the running kernel and unloads them.
//!
//! Source: libbpf's documentation of `struct_ops` links and of pinning. A law that is *held* is unloaded when this process
//! ends, even if it is killed; a law that is *kept* is pinned below `/sys/fs/bpf/elephan` and stays until it is unloaded.

use law::kernel::{LAWS, OBJECT, Params};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder};
use std::ffi::CStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder in which kept laws are pinned.
const PINS: &str = "/sys/fs/bpf/elephan";
/// The laws that sockets can choose.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// The BTF of the kernel: descriptions of its types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";

/// A type in that description that registers a law as long as a process holds the link; it exists since Linux 6.4.
const LINK: &[u8] = b"\0bpf_struct_ops_link\0";

/// Largest number of checks, one every 10 ms, whether a law is unregistered.
const WAITS: u32 = 300;

/// Error of the loader.
#[derive(Debug)]
pub enum Error {
    /// There is no law with that name.
    Unknown(String),
    /// The kernel has this law already.
    AlreadyLoaded(String),
    /// elephan has not loaded this law.
    NotLoaded(String),
    /// Missing feature of the kernel or missing right of the user, and its remedy.
    Unsupported(&'static str, &'static str),
    /// Failed operation, and the error of libbpf or the system.
    Refused(String, String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => {
                let names: Vec<_> = LAWS.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                write!(
                    f,
                    "{name}: is no law of the kernel's, nor kept by elephan; there are {names}, and any object (mine.bpf.o)"
                )
            }
            Self::AlreadyLoaded(name) => {
                write!(f, "{name}: is loaded already; elephan kernel unload {name} takes it out")
            }
            Self::NotLoaded(name) => write!(f, "{name}: is not loaded by elephan; elephan kernel list says what is"),
            Self::Unsupported(what, mend) => write!(f, "{what}; {mend}"),
            Self::Refused(doing, said) => write!(f, "{doing}: {said}"),
        }
    }
}

impl std::error::Error for Error {}

/// A law that stays in the kernel as long as this value exists.
pub struct Held {
    link: Option<Link>,
    object: Object,
    /// The law's name for sockets.
    called: String,
}

impl Held {
    /// Counters of the law's sockets; `None` for an object without elephan's counters.
    ///
    /// # Errors
    /// Returns an error if the kernel does not answer.
    pub fn counters(&self) -> Result<Option<Counters>, Error> {
        let Ok(number) = number(&self.called) else { return Ok(None) };
        let map = self.object.maps().find(|map| is(map.name(), "counters"));
        counters(&map.ok_or_else(|| refused("counters", &"the object has none"))?, number).map(Some)
    }
}

/// A congestion control and the object that contains it.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a> {
    /// The object's bytes.
    pub object: &'a [u8],
    /// The variable that holds its operations.
    pub variable: &'a str,
    /// The name for sockets.
    pub called: &'a str,
    /// Contents of the section `.rodata.params`; if `None`, as compiled.
    pub params: Option<&'a [u8]>,
}

/// Counters of a law's sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of connections.
    pub connections: u64,
    /// Losses, including timeouts.
    pub losses: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Tests of round-trip times (gHSTCP).
    pub tests: u64,
    /// Number of those tests that found increasing round-trip times.
    pub rising: u64,
    /// Number of cases in which a threshold was above twice the highest window: the kernel did not use those of the law.
    pub strays: u64,
}

/// State of a law: whether the kernel offers it, and whether elephan keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Name in scenarios; for a user's own object, its name in the kernel.
    pub name: String,
    /// Name in the kernel.
    pub called: String,
    /// Whether sockets can choose it.
    pub offered: bool,
    /// Whether it is pinned.
    pub kept: bool,
}

/// Checks whether the kernel can load laws.
///
/// # Errors
/// The first missing requirement, and how to remedy it.
pub fn check() -> Result<(), Error> {
    let Ok(types) = fs::read(TYPES) else {
        return Err(Error::Unsupported(
            "the kernel does not describe its types (BTF)",
            "use one built with CONFIG_DEBUG_INFO_BTF=y, as those of the distributions are",
        ));
    };
    if !types.windows(LINK.len()).any(|here| here == LINK) {
        return Err(Error::Unsupported("the kernel cannot hold a law", "use Linux 6.4 or newer"));
    }
    // SAFETY: the function takes no arguments and returns a number.
    #[expect(unsafe_code, reason = "a call of the C library")]
    let user = unsafe { libc::geteuid() };
    if user != 0 {
        return Err(Error::Unsupported("loading a law needs root", "run the command with sudo"));
    }
    Ok(())
}

/// Loads a built-in law into the kernel for as long as this process holds it.
///
/// # Errors
/// The reason why it cannot be loaded.
pub fn hold(name: &str, params: &Params) -> Result<Held, Error> {
    let called = LAWS[number(name)?].1;
    let (variable, params) = (ops_of(called), params.bytes());
    hold_control(&Control { object: OBJECT, variable: &variable, called, params: Some(&params) })
}

/// Loads a congestion control into the kernel for as long as this process holds it.
///
/// # Errors
/// The reason why it cannot be loaded. For an object that the kernel refuses, libbpf writes the kernel's messages to
/// standard error.
pub fn hold_control(control: &Control) -> Result<Held, Error> {
    check()?;
    let Control { object, variable, called, params } = *control;
    if offered()?.iter().any(|other| other == called) {
        return Err(Error::AlreadyLoaded(name_of(called).into()));
    }
    let mut open = ObjectBuilder::default().open_memory(object).map_err(|e| refused("opening the object", &e))?;
    for mut map in open.maps_mut() {
        if let Some(params) = params.filter(|_| is(map.name(), "params")) {
            map.set_initial_value(params).map_err(|e| refused("setting parameters", &e))?;
        }
        // If a map is not created, libbpf does not load its programs either.
        if map.map_type() == MapType::StructOps && map.name() != variable {
            map.set_autocreate(false).map_err(|e| refused("leaving out a law", &e))?;
        }
    }
    if object == OBJECT {
        for mut program in open.progs_mut() {
            let name = program.name().to_string_lossy().into_owned();
            program.set_autoload(name.starts_with(&format!("el_{variable}_")));
        }
    }
    let mut object = open.load().map_err(|e| refused("loading into the kernel", &e))?;
    let link = object
        .maps_mut()
        .find(|map| map.name() == variable)
        .ok_or_else(|| refused("loading into the kernel", &"the object lacks the law"))?
        .attach_struct_ops()
        .map_err(|e| refused("registering the law", &e))?;
    Ok(Held { link: Some(link), object, called: called.into() })
}

/// Loads a built-in law into the kernel until [`take_out`].
///
/// # Errors
/// The reason why it cannot be loaded; nothing stays pinned then.
pub fn keep(name: &str, params: &Params) -> Result<(), Error> {
    keep_held(hold(name, params)?)
}

/// Loads a congestion control into the kernel until [`take_out`].
///
/// # Errors
/// The reason why it cannot be loaded; nothing stays pinned then.
pub fn keep_control(control: &Control) -> Result<(), Error> {
    keep_held(hold_control(control)?)
}

fn keep_held(mut held: Held) -> Result<(), Error> {
    let folder = pins(name_of(&held.called));
    let kept = pin(&mut held, &folder);
    if kept.is_err() {
        let _ = remove(&folder);
    }
    kept
}

fn pin(held: &mut Held, folder: &Path) -> Result<(), Error> {
    mount()?;
    fs::create_dir_all(folder).map_err(|e| refused("making a place in /sys/fs/bpf", &e))?;
    let ours = number(&held.called).is_ok();
    for mut map in held.object.maps_mut() {
        for what in ["params", "counters"] {
            if ours && is(map.name(), what) {
                map.pin(folder.join(what)).map_err(|e| refused("pinning", &e))?;
            }
        }
    }
    if let Some(link) = &mut held.link {
        link.pin(folder.join("link")).map_err(|e| refused("pinning the law", &e))?;
    }
    Ok(())
}

/// Unloads a kept law: new sockets cannot choose it, existing sockets keep it until they close.
///
/// # Errors
/// If it is not kept, or the system refuses.
pub fn take_out(name: &str) -> Result<(), Error> {
    let (folder, called) = kept(name)?;
    check()?;
    remove(&folder).map_err(|e| refused("unloading the law", &e))?;
    // The kernel unregisters the law a moment later.
    for _ in 0..WAITS {
        if !offered()?.contains(&called) {
            return Ok(());
        }
        wait();
    }
    Err(refused("unloading the law", &"the kernel still offers it, so another process holds it"))
}

#[expect(clippy::disallowed_methods, reason = "the kernel tells nobody when a law is unregistered")]
fn wait() {
    std::thread::sleep(Duration::from_millis(10));
}

fn remove(folder: &Path) -> io::Result<()> {
    // The link first, because it registers the law.
    for what in ["link", "params", "counters"] {
        match fs::remove_file(folder.join(what)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::remove_dir(folder)?;
    // Removes the folder with the last law.
    let _ = fs::remove_dir(PINS);
    Ok(())
}

/// The laws and their states: first the built-in ones, then other laws that elephan keeps.
///
/// # Errors
/// If the kernel does not answer.
pub fn list() -> Result<Vec<State>, Error> {
    let offered = offered()?;
    let others =
        fs::read_dir(PINS).into_iter().flatten().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut others: Vec<String> = others.filter(|name| number(name).is_err()).collect();
    others.sort();
    let ours = LAWS.iter().map(|&(name, called)| (name.to_owned(), called.to_owned()));
    let state = |(name, called): (String, String)| State {
        offered: offered.contains(&called),
        kept: pins(&name).join("link").exists(),
        name,
        called,
    };
    Ok(ours.chain(others.into_iter().map(|name| (name.clone(), name))).map(state).collect())
}

/// Counters of a kept law's sockets since it was loaded; `None` for an object without elephan's counters.
///
/// # Errors
/// Returns an error if the law is not kept, or the kernel does not answer.
pub fn show(name: &str) -> Result<Option<Counters>, Error> {
    let (folder, called) = kept(name)?;
    check()?;
    let Ok(number) = number(&called) else { return Ok(None) };
    let place = folder.join("counters");
    counters(&MapHandle::from_pinned_path(&place).map_err(|e| refused("reading counters", &e))?, number).map(Some)
}

/// Folder in which a law is pinned, and its name for sockets.
fn kept(name: &str) -> Result<(PathBuf, String), Error> {
    let (name, called) = number(name).map_or((name, name), |number| LAWS[number]);
    let folder = pins(name);
    if folder.join("link").exists() {
        return Ok((folder, called.into()));
    }
    Err(if number(name).is_ok() { Error::NotLoaded(name.into()) } else { Error::Unknown(name.into()) })
}

fn counters(map: &impl MapCore, number: usize) -> Result<Counters, Error> {
    const WORDS: usize = 6;
    let found = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| refused("reading counters", &e))?;
    let bytes = found.ok_or_else(|| refused("reading counters", &"the law has none"))?;
    let mut words = bytes.chunks_exact(8).skip(WORDS * number).map(|word| {
        let mut copy = [0; 8];
        copy.copy_from_slice(word);
        u64::from_ne_bytes(copy)
    });
    let mut next = || words.next().unwrap_or(0);
    Ok(Counters {
        connections: next(),
        losses: next(),
        timeouts: next(),
        tests: next(),
        rising: next(),
        strays: next(),
    })
}

/// Whether `name` is that of the map `what`; names of maps begin with the name of the object.
fn is(name: &std::ffi::OsStr, what: &str) -> bool {
    name.to_string_lossy().ends_with(&format!(".{what}"))
}

/// Name of the variable with the law's operations in the object.
fn ops_of(called: &str) -> String {
    called.trim_start_matches("el_").replace("nrhstcp", "nr_hstcp")
}

fn number(name: &str) -> Result<usize, Error> {
    let found = LAWS.iter().position(|(law, called)| *law == name || *called == name);
    found.ok_or_else(|| Error::Unknown(name.into()))
}

/// Scenario name of the law with this name for sockets.
fn name_of(called: &str) -> &str {
    number(called).map_or(called, |number| LAWS[number].0)
}

fn pins(name: &str) -> PathBuf {
    Path::new(PINS).join(name)
}

fn offered() -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(AVAILABLE).map_err(|e| refused("asking for the kernel's laws", &e))?;
    Ok(text.split_whitespace().map(Into::into).collect())
}

/// Mounts the file system for pinned objects if the system has not done so, as other tools do.
fn mount() -> Result<(), Error> {
    const PLACE: &CStr = c"/sys/fs/bpf";
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| refused("asking what is mounted", &e))?;
    if mounts.lines().any(|line| line.split(' ').skip(1).take(2).eq(["/sys/fs/bpf", "bpf"])) {
        return Ok(());
    }
    // SAFETY: the strings end with a zero byte, and there is no data.
    #[expect(unsafe_code, reason = "a call of the C library")]
    let failed = unsafe { libc::mount(c"bpf".as_ptr(), PLACE.as_ptr(), c"bpf".as_ptr(), 0, std::ptr::null()) } != 0;
    if failed {
        return Err(refused("mounting /sys/fs/bpf", &io::Error::last_os_error()));
    }
    Ok(())
}

fn refused(doing: &str, said: &impl fmt::Display) -> Error {
    Error::Refused(doing.into(), said.to_string())
}
