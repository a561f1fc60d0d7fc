//! What a format of files does; CSV.

use std::fs::File;
use std::io::{self, Write};

use target::bulk::{Csv, RowSink};
use target::schema::Table;

/// A format of files: chunks of rows are made side by side, and appended one after the other.
pub(super) trait Files {
    /// Size of a chunk as CSV, about.
    const CHUNK_BYTES: u64;
    /// What chunks of a table are made with.
    type Maker: Sync;
    /// What takes the rows of a chunk.
    type Sink: RowSink;
    /// Rows in the form in which they are appended.
    type Chunk: Send;
    /// An open file.
    type File: Send;

    fn begin(table: &'static Table, file: Counted) -> io::Result<(Self::Maker, Self::File)>;
    fn sink(maker: &Self::Maker) -> Self::Sink;
    fn chunk(maker: &Self::Maker, sink: Self::Sink) -> io::Result<Self::Chunk>;
    fn append(file: &mut Self::File, chunk: Self::Chunk) -> io::Result<()>;
    /// Ends the file. Returns its size.
    fn end(file: Self::File) -> io::Result<u64>;
}

/// A file, and the bytes written to it.
#[derive(Debug)]
pub(super) struct Counted {
    file: File,
    bytes: u64,
}

impl Counted {
    pub(super) fn new(file: File) -> Self {
        Self { file, bytes: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// CSV files.
pub(super) struct CsvFiles;

impl Files for CsvFiles {
    const CHUNK_BYTES: u64 = 1 << 20;
    type Maker = ();
    type Sink = Csv;
    type Chunk = Csv;
    type File = Counted;

    fn begin(_table: &'static Table, file: Counted) -> io::Result<((), Counted)> {
        Ok(((), file))
    }

    fn sink((): &()) -> Csv {
        Csv::with_capacity(2 * Self::CHUNK_BYTES as usize)
    }

    fn chunk((): &(), csv: Csv) -> io::Result<Csv> {
        Ok(csv)
    }

    fn append(file: &mut Counted, mut csv: Csv) -> io::Result<()> {
        file.write_all(csv.rows())
    }

    fn end(file: Counted) -> io::Result<u64> {
        Ok(file.bytes())
    }
}
