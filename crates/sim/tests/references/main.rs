//! Against other simulators and the papers: ns-2, ns-3, and published numbers. One program for all of them: they share the time to link.

extern crate elephan_sim as sim;

#[path = "../interval.rs"]
mod interval;

mod ghstcp_red_cases;
mod ghstcp_share;
mod nr_hstcp_shares;
mod ns2;
mod ns2_elastic;
mod ns2_highspeed;
mod ns2_nonhomogeneous;
mod ns3_aqm;
mod ns3_paced;
mod ns3_policed;
mod ns3_sawtooth;
mod red_buffers;
