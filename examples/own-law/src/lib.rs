//! The laws of this crate as a shared library, for every command of elephan: `--law mine=target/release/libown_law.so:cubic`.

mod cubic;
mod reno;

use cubic::Cubic;
use reno::Reno;

elephan::export_laws! {
    "reno" => |flow| Reno::new(flow.initial_window, flow.ssthresh),
    "cubic" { c = 0.4, beta = 0.7 } => |flow| {
        assert!(beta > 0.0 && beta < 1.0, "beta is {beta}; it must be between 0 and 1");
        flow.windowed(Cubic::new(c, beta))
    },
}
