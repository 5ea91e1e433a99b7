//! Memory of a program: its addresses are artificial, equal in every run, and each access is checked.
//!
//! Source: none. Upper half of an address: which memory; lower half: where in it.

use crate::target::{MASK, TCP_SOCK};
use std::sync::Arc;

/// A socket's own memory: context, samples, the socket, variables, what lies in maps.
pub(crate) const OWN: u64 = 1 << 32;
/// Read-only memory shared by all sockets: constants and values of the kernel's configuration.
pub(crate) const SHARED: u64 = 2 << 32;
/// The stack.
pub(crate) const STACK: u64 = 3 << 32;
/// Maps, which have no memory of their own: only helpers take such an address.
pub(crate) const MAP: u64 = 4 << 32;
/// Programs that are called back, and functions of the kernel.
pub(crate) const PROGRAM: u64 = 5 << 32;

/// A program's part of the stack (bytes).
pub(crate) const FRAME: usize = 512;
/// Calls within calls.
pub(crate) const FRAMES: usize = 8;
/// Distance between the addresses of two parts, so that no access reaches into another part by mistake.
const STRIDE: u64 = 4096;

/// Parts of a socket's memory.
pub(crate) const CONTEXT_AT: usize = 0;
pub(crate) const ACK_SAMPLE_AT: usize = 64;
pub(crate) const RATE_SAMPLE_AT: usize = 80;
/// The view of the socket that the helper `bpf_tcp_sock` gives.
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
    /// Start of the writable memory, apart from the socket's fields.
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

    /// Zeroes a part of the stack for a program that begins, as far as it uses it, and gives the address of its end.
    pub fn frame(&mut self, depth: usize, used: usize) -> u64 {
        let from = depth * FRAME;
        if self.stack.len() < from + FRAME {
            self.stack.resize(from + FRAME, 0);
        }
        self.stack[from + FRAME - used..from + FRAME].fill(0);
        STACK + depth as u64 * STRIDE + FRAME as u64
    }

    /// Position on the stack of an object of `size` bytes at this address.
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

    /// Bytes that are read.
    pub fn bytes(&self, address: u64, size: usize) -> Option<&[u8]> {
        let (memory, at) = match top(address) {
            OWN => (&self.own[..], low(address)),
            SHARED => (&self.shared[..], low(address)),
            STACK => (&self.stack[..], Self::on_stack(address, size)?),
            _ => return None,
        };
        memory.get(at..at.checked_add(size)?)
    }

    /// Bytes that are written.
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

    /// Name of the read-only place at this address, for messages.
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

    /// A number of the socket's memory, by its place; the place is one of ours.
    #[inline]
    pub fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        self.own[at..at + N].try_into().unwrap_or([0; N])
    }

    #[inline]
    pub fn set<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        self.own[at..at + N].copy_from_slice(&value);
    }
}
