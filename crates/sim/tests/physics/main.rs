//! Laws, queues and traffic on links, compared with closed forms and RFCs. One program, to link only once.

extern crate elephan_sim as sim;

#[path = "../interval.rs"]
mod interval;

mod autotuning;
mod bbr1;
mod elastic_regime;
mod flow_level;
mod l4s;
mod packet_pair;
mod queueing;
mod responses;
mod theory;
mod xcp;
