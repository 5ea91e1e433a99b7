//! The extension module `elephan._native`.
