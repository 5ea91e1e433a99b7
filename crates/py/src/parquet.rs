//! Small tables as Parquet files. A sweep writes two for each run, and what a general writer does for a file beside its rows
//! (schemas, buffers, extremes) took more time than the run; here the interpreter is not held while a file is made.

use crate::error::from_parquet;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::Result;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};
use numpy::{PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A column of a table. NaN and `None` are absent.
enum Column {
    F64(Vec<f64>),
    F32(Vec<f32>),
    U64(Vec<u64>),
    U32(Vec<u32>),
    Bool(Vec<bool>),
    Text(Vec<Option<String>>),
}

/// Values of a one-dimensional `NumPy` array with any strides.
fn values<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().iter().copied().collect()
}

impl Column {
    fn read(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(array) = given.cast::<numpy::PyArray1<f64>>() {
            return Ok(Self::F64(values(&array.readonly())));
        }
        if let Ok(array) = given.cast::<numpy::PyArray1<u64>>() {
            return Ok(Self::U64(values(&array.readonly())));
        }
        if let Ok(array) = given.cast::<numpy::PyArray1<u32>>() {
            return Ok(Self::U32(values(&array.readonly())));
        }
        if let Ok(array) = given.cast::<numpy::PyArray1<f32>>() {
            return Ok(Self::F32(values(&array.readonly())));
        }
        if let Ok(array) = given.cast::<numpy::PyArray1<bool>>() {
            return Ok(Self::Bool(values(&array.readonly())));
        }
        let texts = given.extract::<Vec<Option<String>>>();
        texts.map(Self::Text).map_err(|_| PyTypeError::new_err("must be an array of numbers or a list of texts"))
    }

    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    fn kind(&self, name: &str) -> Result<TypePtr> {
        let (physical, logical) = match self {
            Self::F64(_) => (Physical::DOUBLE, None),
            Self::F32(_) => (Physical::FLOAT, None),
            Self::U64(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Self::U32(_) => (Physical::INT32, Some(LogicalType::integer(32, false))),
            Self::Bool(_) => (Physical::BOOLEAN, None),
            Self::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
        Ok(Arc::new(builder.with_logical_type(logical).build()?))
    }

    fn write(self, into: &mut ColumnWriter<'_>) -> Result<usize> {
        let all = vec![1; self.len()];
        match (self, into) {
            (Self::F64(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                let (there, levels) = present(values.into_iter().map(|x| (!x.is_nan()).then_some(x)));
                writer.write_batch(&there, Some(&levels), None)
            }
            (Self::F32(values), ColumnWriter::FloatColumnWriter(writer)) => {
                let (there, levels) = present(values.into_iter().map(|x| (!x.is_nan()).then_some(x)));
                writer.write_batch(&there, Some(&levels), None)
            }
            (Self::U64(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                let values: Vec<i64> = values.into_iter().map(u64::cast_signed).collect();
                writer.write_batch(&values, Some(&all), None)
            }
            (Self::U32(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                let values: Vec<i32> = values.into_iter().map(u32::cast_signed).collect();
                writer.write_batch(&values, Some(&all), None)
            }
            (Self::Bool(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&values, Some(&all), None)
            }
            (Self::Text(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                let texts = values.into_iter().map(|text| text.map(|text| ByteArray::from(text.into_bytes())));
                let (there, levels) = present(texts);
                writer.write_batch(&there, Some(&levels), None)
            }
            _ => unreachable!("the writer is of the schema's type, which is that of the column"),
        }
    }
}

/// Values that are present, and for each row whether it is.
fn present<T>(values: impl Iterator<Item = Option<T>>) -> (Vec<T>, Vec<i16>) {
    let (mut there, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        levels.push(i16::from(value.is_some()));
        there.extend(value);
    }
    (there, levels)
}

fn encode(columns: Vec<(String, Column)>, metadata: Vec<(String, String)>) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|(name, column)| column.kind(name)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    // Of measured numbers dictionaries and extremes make files larger, and a block of a disk holds the file as it is.
    let properties = WriterProperties::builder()
        .set_created_by(concat!("elephan ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(metadata.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect()))
        .build();
    let mut file = SerializedFileWriter::new(Vec::with_capacity(8192), Arc::new(schema), Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for (_, column) in columns {
        let mut writer = rows.next_column()?.expect("a field of the schema for each column");
        column.write(writer.untyped())?;
        writer.close()?;
    }
    rows.close()?;
    file.into_inner()
}

/// A table as the bytes of a Parquet file: columns in their order, arrays of numbers or lists of texts, all of one length.
#[pyfunction]
pub fn parquet_file<'py>(
    py: Python<'py>,
    columns: Vec<(String, Bound<'py, PyAny>)>,
    metadata: Vec<(String, String)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let read = |(name, column): (String, Bound<'py, PyAny>)| Ok((name, Column::read(&column)?));
    let columns: Vec<_> = columns.into_iter().map(read).collect::<PyResult<_>>()?;
    let bytes = py.detach(|| encode(columns, metadata)).map_err(from_parquet)?;
    Ok(PyBytes::new(py, &bytes))
}
