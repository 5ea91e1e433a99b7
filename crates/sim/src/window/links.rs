//! Code of the links, compiled in this crate once for each observer. Code that is generic over a caller's controls or
//! queues is compiled again in the caller's crate, with everything it calls. The loops of all built-in disciplines
//! should not be compiled again there.

use super::core::LinkCore;
use super::fifo::Fifo;
use super::local::{Serve, ServerState};
use super::pool::Place;
use super::ring::Rec;
use super::shared::Shared;
use crate::marks::Marks;
use crate::observer::{NoObserver, Observer, PacketObserver};
use queue::AnyQueue;

/// Operations of built-in disciplines with an observer. No function here may be generic, or be inlined into a generic one.
pub trait Links: Observer {
    /// See [`Fifo::serve`].
    fn serve(fifo: &mut Fifo, core: &mut LinkCore<Self>, arrivals: &[Rec], marks: &Marks, shared: &mut Shared);

    /// See [`Fifo::serve_in_pool`].
    fn serve_in_pool(
        fifo: &mut Fifo,
        core: &mut LinkCore<Self>,
        rec: &Rec,
        pool: &mut Place<'_>,
        marks: &Marks,
        shared: &mut Shared,
    );

    /// See [`Serve::under`].
    fn serve_under(queue: &mut AnyQueue, serve: Serve<'_, Self, false, false>) -> ServerState;
}

macro_rules! links {
    ($($observer:ty),*) => {$(
        impl Links for $observer {
            #[inline(never)]
            fn serve(fifo: &mut Fifo, core: &mut LinkCore<Self>, arrivals: &[Rec], marks: &Marks, shared: &mut Shared) {
                fifo.serve(core, arrivals, marks, shared);
            }

            #[inline(never)]
            fn serve_in_pool(
                fifo: &mut Fifo,
                core: &mut LinkCore<Self>,
                rec: &Rec,
                pool: &mut Place<'_>,
                marks: &Marks,
                shared: &mut Shared,
            ) {
                fifo.serve_in_pool(core, rec, pool, marks, shared);
            }

            #[inline(never)]
            fn serve_under(queue: &mut AnyQueue, serve: Serve<'_, Self, false, false>) -> ServerState {
                serve.under(queue)
            }
        }
    )*};
}

links!(NoObserver, PacketObserver);
