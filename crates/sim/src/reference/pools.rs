//! Memory that links share, in the reference engine. It is checked before each arrival and updated after each event.

use super::Engine;
use crate::plan::{FlowControl, LinkQueue, PoolPlan};
use base::Time;
use queue::{AnyQueue, Either};

impl<C: FlowControl, Q: LinkQueue> Engine<C, Q> {
    /// Gives each link of `pools` its place.
    pub fn join_pools(&mut self, pools: &[PoolPlan]) {
        for (p, pool) in pools.iter().enumerate() {
            for (place, &(link, _)) in pool.links.iter().enumerate() {
                self.nodes[link as usize].pool = Some((p, place));
            }
        }
    }

    /// Tells the queue of link `l` whether its pool has room for a packet of `size` bytes.
    pub fn ask_pool(&mut self, l: usize, size: u32) {
        let node = &mut self.nodes[l];
        if let Some((p, place)) = node.pool
            && let Either::First(AnyQueue::Fifo(fifo)) = node.link.queue()
        {
            fifo.set_shared_room(self.pools[p].has_room(place, size));
        }
    }

    /// Updates the pool's account of link `l`.
    pub fn keep_pool(&mut self, now: Time, l: usize) {
        let node = &self.nodes[l];
        if let Some((p, place)) = node.pool {
            let pool = &mut self.pools[p];
            pool.set(place, pool.memory.held_by(node.link.backlog()), now);
        }
    }
}
