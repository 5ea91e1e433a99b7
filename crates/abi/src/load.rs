//! Opening of libraries. A library stays open until the process ends.

use crate::control::{LibraryControl, Report};
use crate::wire::{Law, Library, Parameter, SYMBOL, Site, VERSION};
use std::ffi::{CStr, c_char};

/// A law of an open library.
#[derive(Clone, Debug)]
pub struct LoadedLaw {
    /// Its name.
    pub name: String,
    /// Its parameters and their defaults.
    pub parameters: Vec<(String, f64)>,
    law: &'static Law,
}

/// An open library.
#[derive(Clone, Debug)]
pub struct LawLibrary {
    /// Its laws, in the order of the library.
    pub laws: Vec<LoadedLaw>,
}

impl LoadedLaw {
    /// Creates the control of a flow; `parameters` are in the order of the law's. The first fault is passed to `report`.
    ///
    /// # Panics
    /// If there are not as many parameters as the law has.
    #[must_use]
    pub fn control<'a>(&self, site: &law::LawSite<'_>, parameters: &[f64], report: Report<'a>) -> LibraryControl<'a> {
        assert_eq!(parameters.len(), self.parameters.len(), "one number for each parameter");
        let group = site.group.as_bytes();
        let site = Site {
            group: group.as_ptr(),
            group_len: group.len(),
            index: site.index,
            replication: site.replication,
            base_rtt: site.base_rtt.0,
            start: site.start.0,
            packet: site.packet.0,
            mss: site.mss.0,
            initial_window: site.initial_window,
            ssthresh: site.ssthresh,
            seed: site.seed,
        };
        LibraryControl::new(self.law, &site, parameters, report)
    }
}

impl LawLibrary {
    /// The laws of a table, from a library or from the program itself.
    ///
    /// # Errors
    /// The reason why the table cannot be used.
    #[doc(hidden)]
    pub fn of(table: &'static Library) -> Result<Self, String> {
        if table.version != VERSION || table.law_size as usize != size_of::<Law>() {
            let (theirs, with) = (table.version, text((table.built_with)()));
            return Err(format!(
                "was compiled with {with}, version {theirs} of the interface of laws; this elephan has version {VERSION}: \
                 compile it again with the crates of elephan {}",
                env!("CARGO_PKG_VERSION")
            ));
        }
        if table.unwinds == 0 {
            return Err(
                "was compiled with panic = \"abort\", which would end elephan; leave that out of its profile".into()
            );
        }
        let laws = all(table.law).map(|law| {
            let parameters = all(law.parameter).map(|Parameter { name, default }| (text(*name), *default)).collect();
            LoadedLaw { name: text(law.name), parameters, law }
        });
        Ok(Self { laws: laws.collect() })
    }
}

fn all<T: 'static>(get: extern "C" fn(u32) -> Option<&'static T>) -> impl Iterator<Item = &'static T> {
    (0..).map_while(move |index| get(index))
}

#[expect(unsafe_code, reason = "constant text of the library")]
fn text(start: *const c_char) -> String {
    // SAFETY: as the interface requires, the text ends with a zero byte.
    unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned()
}

/// Opens a library given by its bytes. Exactly these bytes are loaded, even if the file that they were read from has
/// changed, so the code that runs is the code that was identified. Loading runs code of the library.
///
/// # Errors
/// The reason in one line: not a library, for another processor, or with another version of the interface.
#[cfg(target_os = "linux")]
pub fn open(bytes: &[u8]) -> Result<LawLibrary, String> {
    linux::open(bytes)
}

/// Returns an error, because libraries can only be loaded on Linux.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub fn open(_bytes: &[u8]) -> Result<LawLibrary, String> {
    Err("laws in shared libraries need Linux".into())
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{CStr, LawLibrary, Library, SYMBOL};
    use std::ffi::CString;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

    pub(super) fn open(bytes: &[u8]) -> Result<LawLibrary, String> {
        check_header(bytes)?;
        let place = hold(bytes).map_err(|error| format!("cannot be held in memory: {error}"))?;
        let path = CString::new(place.clone()).expect("no zero in it");
        #[expect(unsafe_code, reason = "calls of the C library")]
        // SAFETY: loading runs the library's initialisation code, which the user trusts.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(format!("cannot be loaded: {}", error().replace(&format!("{place}: "), "")));
        }
        #[expect(unsafe_code, reason = "a call of the C library")]
        // SAFETY: the handle is open.
        let table = unsafe { libc::dlsym(handle, SYMBOL.as_ptr()) }.cast::<Library>();
        #[expect(unsafe_code, reason = "the symbol is that of `export_laws!` and stays")]
        // SAFETY: the version is read first; it has the same place in all versions.
        let table = unsafe { table.as_ref() };
        let table = table.ok_or("exports no laws; elephan::export_laws! does")?;
        let library = LawLibrary::of(table)?;
        (table.begin)();
        Ok(library)
    }

    /// Writes the bytes to a file in memory. Its name is never used again, because the linker identifies libraries by name.
    fn hold(bytes: &[u8]) -> std::io::Result<String> {
        // A system call by number, because some C libraries that wheels must support have no function for it.
        #[expect(unsafe_code, reason = "a system call")]
        // SAFETY: the arguments are a name and a flag.
        let found = unsafe { libc::syscall(libc::SYS_memfd_create, c"law".as_ptr(), libc::MFD_CLOEXEC) };
        if found < 0 {
            return Err(std::io::Error::last_os_error());
        }
        #[expect(unsafe_code, reason = "a descriptor that was just made")]
        // SAFETY: nothing else owns the file descriptor.
        let mut file = unsafe { File::from_raw_fd(found as i32) };
        file.write_all(bytes)?;
        let place = format!("/proc/self/fd/{}", file.as_raw_fd());
        // The file stays open.
        let _ = file.into_raw_fd();
        Ok(place)
    }

    fn error() -> String {
        #[expect(unsafe_code, reason = "a call of the C library")]
        // SAFETY: the text is valid until the next call.
        let text = unsafe {
            let text = libc::dlerror();
            if text.is_null() { c"no reason given".to_owned() } else { CStr::from_ptr(text).to_owned() }
        };
        text.to_string_lossy().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The first bytes of an ELF file, up to the processor.
    type Head = [u8; 20];

    /// Compares the ELF header with that of the running program.
    fn check_header(bytes: &[u8]) -> Result<(), String> {
        let Some(head) = bytes.first_chunk::<20>().filter(|head| head.starts_with(b"\x7fELF")) else {
            return Err("is no shared library".into());
        };
        let mut own: Head = [0; 20];
        let read = File::open("/proc/self/exe").and_then(|mut file| file.read_exact(&mut own));
        // Word size, byte order, processor.
        let kind = |head: &Head| (head[4], head[5], head[18], head[19]);
        if read.is_ok() && kind(head) != kind(&own) {
            let (theirs, ours) = (machine(head), machine(&own));
            return Err(format!("is compiled for {theirs}; elephan runs here on {ours}"));
        }
        Ok(())
    }

    fn machine(head: &Head) -> String {
        let bits = if head[4] == 1 { 32 } else { 64 };
        let number = [head[18], head[19]];
        let number = if head[5] == 2 { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) };
        let name = match number {
            3 => "x86",
            21 => "ppc64",
            22 => "s390x",
            40 => "arm",
            62 => "x86_64",
            183 => "aarch64",
            243 => "riscv",
            _ => return format!("processor {number} ({bits} bits)"),
        };
        format!("{name} ({bits} bits)")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_no_library_or_of_another_machine_is_refused() {
            let own = std::fs::read("/proc/self/exe").unwrap();
            let mut other = own[..64].to_vec();
            (other[18], other[19]) = if own[18] == 183 { (62, 0) } else { (183, 0) };
            for (bytes, said) in [
                (&b"hello"[..], "is no shared library"),
                (&[][..], "is no shared library"),
                (&other[..], "is compiled for "),
                (&own[..64], "cannot be loaded: "),
                // A program is not a library.
                (&own[..], "cannot be loaded: "),
            ] {
                let error = open(bytes).unwrap_err();
                assert!(error.starts_with(said) && error.lines().count() == 1, "{error}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glue;

    extern "C" fn no_law(_index: u32) -> Option<&'static Law> {
        None
    }

    extern "C" fn nothing() {}

    #[test]
    fn another_version_and_one_that_aborts_are_refused() {
        let table = |version, unwinds| -> &'static Library {
            let law_size = size_of::<Law>() as u32;
            let (built_with, begin, law) = (glue::built_with as _, nothing as _, no_law as _);
            Box::leak(Box::new(Library { version, law_size, built_with, unwinds, begin, law }))
        };
        let error = LawLibrary::of(table(VERSION + 1, 1)).unwrap_err();
        assert!(error.contains(", version 4 of the interface of laws; this elephan has version 3"), "{error}");
        assert!(LawLibrary::of(table(VERSION, 0)).unwrap_err().contains("panic = \"abort\""));
        assert!(LawLibrary::of(table(VERSION, 1)).unwrap().laws.is_empty());
    }
}
