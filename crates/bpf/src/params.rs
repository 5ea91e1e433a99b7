//! The parameters of all laws, as they lie in an object (`crates/bpf/kernel/params.h`).

use base::ParamError;
use law::LawSpec;
use law::kernel::{ghstcp, highspeed, htcp, nr_hstcp, scalable};

/// The laws in the order of `crates/bpf/kernel/params.h`: their names in scenarios, and in the kernel.
pub const LAWS: [(&str, &str); 5] = [
    ("highspeed", "el_highspeed"),
    ("ghstcp", "el_ghstcp"),
    ("nr-hstcp", "el_nrhstcp"),
    ("scalable", "el_scalable"),
    ("htcp", "el_htcp"),
];

/// Parameters of all laws.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Params {
    /// HighSpeed TCP.
    pub highspeed: highspeed::Params,
    /// gHSTCP.
    pub ghstcp: ghstcp::Params,
    /// NR-HSTCP.
    pub nr_hstcp: nr_hstcp::Params,
    /// Scalable TCP.
    pub scalable: scalable::Params,
    /// H-TCP.
    pub htcp: htcp::Params,
}

// No padding, so that all bytes are defined and may be read.
const _: () = assert!(
    size_of::<Params>()
        == size_of::<highspeed::Params>()
            + size_of::<ghstcp::Params>()
            + size_of::<nr_hstcp::Params>()
            + size_of::<scalable::Params>()
            + size_of::<htcp::Params>()
        && size_of::<highspeed::Params>() == 2 * 8 + 2 * 4 * law::kernel::arithmetic::KNOTS
        && size_of::<ghstcp::Params>() == size_of::<highspeed::Params>() + 8 + 4 * 4
        && size_of::<nr_hstcp::Params>() == 2 * 4 + 2 * 8 + 2 * 4 * law::kernel::arithmetic::KNOTS
        && size_of::<scalable::Params>() == 3 * 8
        && size_of::<htcp::Params>() == 4 * 8 + 4 * 4
);

impl Default for Params {
    fn default() -> Self {
        let fits = "the defaults are within the kernel's numbers";
        Self {
            highspeed: highspeed::Params::of(&law::highspeed::Params::default()).expect(fits),
            ghstcp: ghstcp::Params::of(&law::ghstcp::Params::default()).expect(fits),
            nr_hstcp: nr_hstcp::Params::of(&law::nr_hstcp::Params::default()).expect(fits),
            scalable: scalable::Params::of(&law::scalable::Params::default()).expect(fits),
            htcp: htcp::Params::of(&law::htcp::Params::default()).expect(fits),
        }
    }
}

impl Params {
    /// Takes over the parameters of a law of a scenario; returns whether the kernel has that law.
    ///
    /// # Errors
    /// The first parameter that the kernel's numbers cannot hold.
    pub fn set(&mut self, law: &LawSpec) -> Result<bool, ParamError> {
        match law {
            LawSpec::Highspeed(p) => self.highspeed = highspeed::Params::of(p)?,
            LawSpec::Ghstcp(p) => self.ghstcp = ghstcp::Params::of(p)?,
            LawSpec::NrHstcp(p) => self.nr_hstcp = nr_hstcp::Params::of(p)?,
            LawSpec::Scalable(p) => self.scalable = scalable::Params::of(p)?,
            LawSpec::Htcp(p) => self.htcp = htcp::Params::of(p)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The bytes of the object's structure, in this machine's order.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a structure without padding (above) of whole numbers, alive as long as `self`.
        #[expect(unsafe_code, reason = "a structure of C, read as bytes")]
        unsafe {
            std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Self>())
        }
    }
}
