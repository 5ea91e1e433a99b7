//! Memory of a program: addresses are artificial and the same in every run, and each access is checked.
//!
//! Source: none. The upper half of an address selects the memory, the lower half is the offset in it.

use crate::target::{MASK, TCP_SOCK};
use std::sync::Arc;

/// A socket's own memory: context, samples, the socket, variables, and the entries of maps.
pub(crate) const OWN: u64 = 1 << 32;
/// Read-only memory shared by all sockets: constants and values of the kernel's configuration.
pub(crate) const SHARED: u64 = 2 << 32;
/// The stack.
pub(crate) const STACK: u64 = 3 << 32;
/// Maps; these addresses have no memory, and only helpers accept them.
pub(crate) const MAP: u64 = 4 << 32;
/// Programs used as callbacks, and kernel functions.
pub(crate) const PROGRAM: u64 = 5 << 32;

/// Stack frame of a program, in bytes.
pub(crate) const FRAME: usize = 512;
/// Largest depth of nested calls.
pub(crate) const FRAMES: usize = 8;
/// Distance between the addresses of two frames, so that no access reaches into another frame by mistake.
const STRIDE: u64 = 4096;

/// Offsets of the parts of a socket's memory.
pub(crate) const CONTEXT_AT: usize = 0;
pub(crate) const ACK_SAMPLE_AT: usize = 64;
pub(crate) const RATE_SAMPLE_AT: usize = 80;
/// The view of the socket that the helper `bpf_tcp_sock` returns.
pub(crate) const VIEW_AT: usize = 192;
pub(crate) const SOCK_AT: usize = 320;
pub(crate) const FREE_AT: usize = SOCK_AT + TCP_SOCK.size() as usize;

/// Reason why an access fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    Outside,
    ReadOnly,
}

#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub own: Vec<u8>,
    pub shared: Arc<[u8]>,
    stack: Vec<u8>,
    mask: &'static [u8],
    /// Start of the memory behind the socket's fields that is writable throughout.
    free: usize,
}

fn top(address: u64) -> u64 {
    address & !0xffff_ffff
}

fn low(address: u64) -> usize {
    (address & 0xffff_ffff) as usize
}

impl Memory {
    /// Memory with a socket in it.
    pub fn new(own: Vec<u8>, shared: Arc<[u8]>) -> Self {
        Self { own, shared, stack: Vec::new(), mask: &MASK, free: FREE_AT }
    }

    /// Memory that is writable everywhere.
    pub fn bare(own: Vec<u8>) -> Self {
        Self { own, shared: Arc::from([]), stack: Vec::new(), mask: &[], free: 0 }
    }

    /// Zeroes the used part of a stack frame for a program that starts, and returns the address of the frame's end.
    pub fn frame(&mut self, depth: usize, used: usize) -> u64 {
        let from = depth * FRAME;
        if self.stack.len() < from + FRAME {
            self.stack.resize(from + FRAME, 0);
        }
        self.stack[from + FRAME - used..from + FRAME].fill(0);
        STACK + depth as u64 * STRIDE + FRAME as u64
    }

    /// Offset on the stack of an object of `size` bytes at this address.
    fn on_stack(address: u64, size: usize) -> Option<usize> {
        let at = address & 0xffff_ffff;
        let within = (at % STRIDE) as usize;
        (within + size <= FRAME).then_some((at / STRIDE) as usize * FRAME + within)
    }

    #[inline]
    pub fn read<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        // Most accesses are to the socket, then to the stack.
        let at = address.wrapping_sub(OWN);
        if at < self.own.len() as u64 {
            let at = at as usize;
            return self.own.get(at..at + N)?.try_into().ok();
        }
        let (memory, at) = match top(address) {
            STACK => (&self.stack[..], Self::on_stack(address, N)?),
            SHARED => (&self.shared[..], low(address)),
            _ => return None,
        };
        memory.get(at..at + N)?.try_into().ok()
    }

    #[inline]
    pub fn write<const N: usize>(&mut self, address: u64, value: [u8; N]) -> Result<(), Denied> {
        let at = address.wrapping_sub(OWN);
        if at < self.own.len() as u64 {
            let at = at as usize;
            let to = self.own.get_mut(at..at + N).ok_or(Denied::Outside)?;
            if at < self.free && self.mask.get(at.wrapping_sub(SOCK_AT)).is_none_or(|many| usize::from(*many) < N) {
                return Err(Denied::ReadOnly);
            }
            to.copy_from_slice(&value);
            return Ok(());
        }
        self.part(address, N)?.copy_from_slice(&value);
        Ok(())
    }

    /// Bytes to read.
    pub fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        let (memory, at) = match top(address) {
            OWN => (&self.own[..], low(address)),
            SHARED => (&self.shared[..], low(address)),
            STACK => (&self.stack[..], Self::on_stack(address, size)?),
            _ => return None,
        };
        memory.get(at..at.checked_add(size)?)
    }

    /// Bytes to write.
    #[inline]
    pub fn part(&mut self, address: u64, size: usize) -> Result<&mut [u8], Denied> {
        match top(address) {
            OWN => {
                let at = low(address);
                let end = at.checked_add(size).filter(|end| *end <= self.own.len()).ok_or(Denied::Outside)?;
                if at < self.free && !self.may_write(at, size) {
                    return Err(Denied::ReadOnly);
                }
                Ok(&mut self.own[at..end])
            }
            STACK => {
                let at = Self::on_stack(address, size).ok_or(Denied::Outside)?;
                self.stack.get_mut(at..at + size).ok_or(Denied::Outside)
            }
            SHARED if low(address).checked_add(size).is_some_and(|end| end <= self.shared.len()) => {
                Err(Denied::ReadOnly)
            }
            _ => Err(Denied::Outside),
        }
    }

    #[inline]
    fn may_write(&self, at: usize, size: usize) -> bool {
        let many = at.checked_sub(SOCK_AT).and_then(|at| self.mask.get(at));
        many.is_some_and(|many| usize::from(*many) >= size)
    }

    /// Name of the read-only memory at this address, for messages.
    pub fn name(address: u64) -> String {
        match (top(address), low(address)) {
            (SHARED, _) => "a constant (.rodata or .kconfig)".into(),
            (_, at) if at < ACK_SAMPLE_AT => "the context".into(),
            (_, at) if at < SOCK_AT => "a sample".into(),
            (_, at) => match TCP_SOCK.field((at - SOCK_AT) as u32) {
                Some((of, field)) => format!("{}.{field}", if of.is_empty() { "icsk_ack" } else { of }),
                None => "the socket".into(),
            },
        }
    }

    /// A number in the socket's memory at a fixed offset of our own.
    #[inline]
    pub fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        self.own[at..at + N].try_into().unwrap_or([0; N])
    }

    #[inline]
    pub fn set<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        self.own[at..at + N].copy_from_slice(&value);
    }
}
