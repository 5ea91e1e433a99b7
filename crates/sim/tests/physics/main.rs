//! What laws, queues and traffic do on links, against closed forms, RFCs and pinned results. One program for all of them: they share the time to link.

extern crate elephan_sim as sim;

#[path = "../interval.rs"]
mod interval;

mod autotuning;
mod bbr1;
mod elastic_regime;
mod flow_level;
mod l4s;
mod packet_pair;
mod physics;
mod queueing;
mod responses;
mod theory;
mod xcp;
