#![doc = include_str!("../README.md")]

mod control;
mod export;
mod load;
mod wire;

pub use control::{Fault, LibraryControl, Report};
pub use load::{LawLibrary, LoadedLaw, open};

/// Items that the expansion of [`export_laws!`] uses.
#[doc(hidden)]
pub mod glue {
    pub use crate::export::{Exported, begin, built_with, law, make};
    pub use crate::wire::{Law, Library, Parameter, Site, State, VERSION};
    pub use law::{CongestionControl, LawSite};
}
