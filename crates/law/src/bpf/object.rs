//! The parameter that is a compiled object: the scenario contains its bytes as a data URL.
//!
//! Source: RFC 2397 (data URLs), RFC 4648 Section 4 (base64).

use crate::kernel;
use base::Value;
use base::param::ParamType;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ebpf::{Loaded, Object};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// The word for the object that is part of elephan.
const SHIPPED: &str = "shipped";

/// Text before the file's name, and text between the name and the bytes.
const PREFIX: &str = "data:;name=";
const BASE64: &str = ";base64,";

/// Section with the parameters of the built-in laws.
const PARAMS: &str = ".rodata.params";

/// The object of the built-in laws.
static OWN: LazyLock<ObjectFile> = LazyLock::new(|| {
    let object = Object::read("laws.bpf.o", kernel::OBJECT).expect("it is tested");
    ObjectFile { text: SHIPPED.into(), object: Arc::new(object), last: Arc::default() }
});

/// A compiled object. Copies share it.
#[derive(Clone)]
pub struct ObjectFile {
    /// The text in scenarios.
    text: Arc<str>,
    object: Arc<Object>,
    last: Arc<Mutex<Option<Ready>>>,
}

/// A control that is ready to run, kept for the further flows of a group.
struct Ready {
    name: String,
    params: Option<Vec<u8>>,
    loaded: Arc<Loaded>,
}

impl ObjectFile {
    /// The parsed object.
    #[must_use]
    pub fn object(&self) -> &Arc<Object> {
        &self.object
    }

    /// Loads one of its controls, ready to run; `params` replaces the section `.rodata.params`.
    ///
    /// # Errors
    /// A description of the error.
    pub fn load(&self, name: &str, params: Option<Vec<u8>>) -> Result<Arc<Loaded>, String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = last.as_ref().filter(|ready| ready.name == name && ready.params == params) {
            return Ok(Arc::clone(&ready.loaded));
        }
        let sections: Vec<_> = params.iter().map(|bytes| (PARAMS, bytes.as_slice())).collect();
        let loaded = self.object.load(name, &sections).map_err(|e| e.to_string())?;
        *last = Some(Ready { name: name.into(), params, loaded: Arc::clone(&loaded) });
        Ok(loaded)
    }
}

impl Default for ObjectFile {
    /// The object of the built-in laws.
    fn default() -> Self {
        OWN.clone()
    }
}

impl PartialEq for ObjectFile {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl std::fmt::Debug for ObjectFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.object.name())
    }
}

impl ParamType for ObjectFile {
    fn read(value: &Value) -> Result<Self, String> {
        let Value::Text(text) = value else {
            return Err(format!("must be the name of a file such as \"mine.bpf.o\", or {SHIPPED:?}"));
        };
        if text == SHIPPED {
            return Ok(Self::default());
        }
        let Some((name, held)) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once(BASE64)) else {
            return Err(format!("must be {SHIPPED:?}, or a file's bytes as {PREFIX}NAME{BASE64}BYTES"));
        };
        let bytes = STANDARD.decode(held).map_err(|e| format!("must be base64: {}", e.to_string().to_lowercase()))?;
        let object = Object::read(name, &bytes).map_err(|e| e.to_string())?;
        Ok(Self { text: text.as_str().into(), object: Arc::new(object), last: Arc::default() })
    }

    fn write(&self) -> Value {
        Value::Text(self.text.to_string())
    }
}
