//! Parquet files. A chunk is a row group, encoded and compressed by the thread that made its rows.

use std::io;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use arrow_array::ArrayRef;
use arrow_array::builder::{
    ArrayBuilder, Decimal128Builder, Int16Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use target::bulk::RowSink;
use target::schema::{ColumnType, Table};

use super::format::{Counted, Files};

/// Parquet files.
pub(super) struct ParquetFiles;

/// What the row groups of a table are made with.
pub(super) struct Maker {
    schema: SchemaRef,
    writers: ArrowRowGroupWriterFactory,
}

impl Files for ParquetFiles {
    const CHUNK_BYTES: u64 = 32 << 20;
    type Maker = Maker;
    type Sink = Columns;
    type Chunk = Vec<ArrowColumnChunk>;
    type File = SerializedFileWriter<Counted>;

    fn begin(table: &'static Table, file: Counted) -> io::Result<(Maker, Self::File)> {
        let fields: Vec<Field> = table
            .columns
            .iter()
            .map(|column| Field::new(column.name, data_type(column.kind), column.nullable))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(error)?;
        let (file, writers) = writer.into_serialized_writer().map_err(error)?;
        Ok((Maker { schema, writers }, file))
    }

    fn sink(maker: &Maker) -> Columns {
        Columns { builders: maker.schema.fields().iter().map(|field| Builder::of(field.data_type())).collect(), at: 0 }
    }

    fn chunk(maker: &Maker, columns: Columns) -> io::Result<Vec<ArrowColumnChunk>> {
        // The number of the row group matters to encrypted files only.
        let writers = maker.writers.create_column_writers(0).map_err(error)?;
        let columns = maker.schema.fields().iter().zip(columns.builders).zip(writers);
        columns
            .map(|((field, builder), mut writer)| {
                for leaf in compute_leaves(field, &builder.end())? {
                    writer.write(&leaf)?;
                }
                writer.close()
            })
            .collect::<Result<_, _>>()
            .map_err(error)
    }

    fn append(file: &mut Self::File, columns: Vec<ArrowColumnChunk>) -> io::Result<()> {
        let mut group = file.next_row_group().map_err(error)?;
        for column in columns {
            column.append_to_row_group(&mut group).map_err(error)?;
        }
        group.close().map(drop).map_err(error)
    }

    fn end(file: Self::File) -> io::Result<u64> {
        file.into_inner().map(|file| file.bytes()).map_err(error)
    }
}

/// An error of the file as what it is; the rest in the library's words.
fn error(e: ParquetError) -> io::Error {
    match e {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => *e,
            Err(e) => io::Error::other(e),
        },
        e => io::Error::other(e),
    }
}

fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::SmallInt => DataType::Int16,
        ColumnType::Int => DataType::Int32,
        ColumnType::BigInt => DataType::Int64,
        ColumnType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
        ColumnType::Char(_) | ColumnType::Varchar(_) | ColumnType::Uuid | ColumnType::Json => DataType::Utf8,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// The columns of a row group, filled row by row.
pub(super) struct Columns {
    builders: Vec<Builder>,
    /// The column of the next field.
    at: usize,
}

enum Builder {
    Small(Int16Builder),
    Int(Int32Builder),
    Big(Int64Builder),
    Decimal(Decimal128Builder),
    Text(StringBuilder),
    Timestamp(TimestampMicrosecondBuilder),
}

impl Builder {
    fn of(kind: &DataType) -> Builder {
        match kind {
            DataType::Int16 => Builder::Small(Int16Builder::new()),
            DataType::Int32 => Builder::Int(Int32Builder::new()),
            DataType::Int64 => Builder::Big(Int64Builder::new()),
            DataType::Decimal128(..) => Builder::Decimal(Decimal128Builder::new().with_data_type(kind.clone())),
            DataType::Timestamp(..) => Builder::Timestamp(TimestampMicrosecondBuilder::new()),
            _ => Builder::Text(StringBuilder::new()),
        }
    }

    fn end(mut self) -> ArrayRef {
        match &mut self {
            Builder::Small(column) => ArrayBuilder::finish(column),
            Builder::Int(column) => ArrayBuilder::finish(column),
            Builder::Big(column) => ArrayBuilder::finish(column),
            Builder::Decimal(column) => ArrayBuilder::finish(column),
            Builder::Text(column) => ArrayBuilder::finish(column),
            Builder::Timestamp(column) => ArrayBuilder::finish(column),
        }
    }
}

impl Columns {
    fn next(&mut self) -> &mut Builder {
        self.at += 1;
        &mut self.builders[self.at - 1]
    }
}

/// A field that is not of its column's type would shift all that follow, and be found when the row group is closed:
/// its columns would differ in length.
impl RowSink for Columns {
    fn start_row(&mut self) {
        self.at = 0;
    }

    fn small_int(&mut self, value: i32) {
        self.int(value);
    }

    fn int(&mut self, value: i32) {
        match self.next() {
            Builder::Small(column) => column.append_value(value as i16),
            Builder::Int(column) => column.append_value(value),
            Builder::Big(column) => column.append_value(value.into()),
            _ => {}
        }
    }

    fn big_int(&mut self, value: i64) {
        if let Builder::Big(column) = self.next() {
            column.append_value(value);
        }
    }

    fn decimal(&mut self, unscaled: i64, _scale: u8) {
        if let Builder::Decimal(column) = self.next() {
            column.append_value(unscaled.into());
        }
    }

    fn text(&mut self, value: &str) {
        if let Builder::Text(column) = self.next() {
            column.append_value(value);
        }
    }

    fn timestamp(&mut self, us: i64) {
        if let Builder::Timestamp(column) = self.next() {
            column.append_value(us);
        }
    }

    fn null(&mut self) {
        match self.next() {
            Builder::Small(column) => column.append_null(),
            Builder::Int(column) => column.append_null(),
            Builder::Big(column) => column.append_null(),
            Builder::Decimal(column) => column.append_null(),
            Builder::Text(column) => column.append_null(),
            Builder::Timestamp(column) => column.append_null(),
        }
    }
}
