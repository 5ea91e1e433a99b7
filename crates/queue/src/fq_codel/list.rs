//! The queues of FQ-CoDel, and the two lists (new and old) in which they wait for their turn.

use crate::codel::control::Control;
use crate::flows::NONE;

#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub codel: Control,
    /// Bytes that the queue may still send in its turn.
    pub deficit: i64,
    /// The queue behind this one in its list.
    next: u32,
    /// Whether the queue is in a list.
    pub listed: bool,
}

impl Queue {
    /// State of a flow that is in neither list.
    pub const IDLE: Self = Self { codel: Control::NEW, deficit: 0, next: NONE, listed: false };
}

/// A list of queues.
#[derive(Clone, Debug)]
pub(super) struct List {
    pub head: u32,
    tail: u32,
}

impl List {
    pub const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    pub fn push(&mut self, queues: &mut [Queue], q: u32) {
        queues[q as usize].next = NONE;
        if self.head == NONE {
            self.head = q;
        } else {
            queues[self.tail as usize].next = q;
        }
        self.tail = q;
    }

    #[inline]
    pub fn pop(&mut self, queues: &[Queue]) {
        self.head = queues[self.head as usize].next;
    }
}
