//! A TUN device in a network namespace: each read returns one packet that the namespace sends through the device, and
//! each written packet arrives in the namespace.
//!
//! Source: Linux, Documentation/networking/tuntap.rst. Without `IFF_VNET_HDR` the kernel splits large segments and
//! computes checksums before the device, so that each read returns a packet in the form in which it would be on a wire.

#![expect(unsafe_code, reason = "devices and namespaces are calls of the C library")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

/// Size of the largest packet that is read, in bytes.
pub const MAX_PACKET: usize = 65_536;

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;

/// A device; dropping it removes the device.
#[derive(Debug)]
pub struct Tun(OwnedFd);

impl Tun {
    /// Creates the device `name` in the namespace at `namespace`, such as `/run/netns/client`.
    ///
    /// # Errors
    /// An error of the operating system: the namespace does not exist, the process has no permission, or the name is
    /// taken.
    pub fn new(namespace: &Path, name: &str) -> io::Result<Self> {
        // A separate thread enters the namespace, so that the caller's thread stays in its own namespace.
        let inside = || {
            let namespace = File::open(namespace)?;
            // SAFETY: the file is open during the call.
            check(unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) })?;
            Self::in_this_namespace(name)
        };
        std::thread::scope(|scope| scope.spawn(inside).join().expect("does not panic"))
    }

    fn in_this_namespace(name: &str) -> io::Result<Self> {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: the text ends with a zero byte; the result is a new file descriptor, or an error.
        let device = unsafe { OwnedFd::from_raw_fd(check(libc::open(c"/dev/net/tun".as_ptr(), flags))?) };
        // SAFETY: all zeros are a valid request without a name.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        if name.len() >= request.ifr_name.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of the device is too long"));
        }
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte.cast_signed();
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: the device is open, and the request outlives the call.
        check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF as _, &raw mut request) })?;
        Ok(Self(device))
    }

    /// Reads a packet; `None` if there is none at present.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn read(&self, packet: &mut [u8]) -> io::Result<Option<usize>> {
        // SAFETY: the buffer has that length.
        match check(unsafe { libc::read(self.0.as_raw_fd(), packet.as_mut_ptr().cast(), packet.len()) }) {
            Ok(length) => Ok(Some(length as usize)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet. Returns whether the device accepted it.
    #[must_use]
    pub fn write(&self, packet: &[u8]) -> bool {
        // SAFETY: the packet has that length.
        let written = unsafe { libc::write(self.0.as_raw_fd(), packet.as_ptr().cast(), packet.len()) };
        usize::try_from(written) == Ok(packet.len())
    }

    /// The file descriptor, for waiting until the device is readable.
    #[must_use]
    pub fn fd(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// Converts a negative result into the operating system's error.
fn check<N: PartialOrd + Default>(returned: N) -> io::Result<N> {
    if returned < N::default() { Err(io::Error::last_os_error()) } else { Ok(returned) }
}
