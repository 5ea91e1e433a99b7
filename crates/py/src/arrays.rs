//! `NumPy`'s array functions, loaded where no signal can get between.

use pyo3::prelude::*;
use std::sync::OnceLock;

/// Loads `NumPy`'s array functions, once. To be called before anything long whose result is an array.
///
/// The binding loads them with the first array, and running Python for that, runs the handlers of the signals that have come
/// by then; what a handler raises, the binding takes for a broken `NumPy` and panics. Handlers run on the main thread alone.
///
/// # Panics
/// If there is no `NumPy` that the binding can use.
pub fn load(py: Python<'_>) {
    static LOADED: OnceLock<()> = OnceLock::new();
    // Short calls need not let go of the interpreter each time.
    if LOADED.get().is_some() {
        return;
    }
    py.detach(|| {
        LOADED.get_or_init(|| {
            let loading = std::thread::spawn(|| Python::attach(numpy::npyffi::is_numpy_2));
            if let Err(panic) = loading.join() {
                std::panic::resume_unwind(panic);
            }
        });
    });
}
