//! Rows as CSV over HTTP, made as they are asked for: the servers of a database fetch them from here.
//!
//! Just enough of HTTP/1.1: GET (and HEAD) of `/stock/1-10.csv`, the stock of warehouses 1 to 10. What is asked for
//! twice is the same bytes twice.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::tpcc::population::Population;
use target::bulk::Csv;
use target::schema::Table;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::LoadProgress;
use crate::tpcc::rows;
use crate::tpcc::schema::TABLES;

/// A request's first lines are short; whatever is longer is not for us.
const REQUEST_BYTES: usize = 16 * 1024;

/// Time for a client to say what it wants.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// Bytes gathered before they are sent.
const CHUNK_BYTES: usize = 256 * 1024;

/// The path of a table's rows of some warehouses; a table that belongs to no warehouse has those of warehouse 0.
pub(super) fn path(table: &Table, first: i32, last: i32) -> String {
    format!("{}/{first}-{last}.csv", table.name)
}

/// A server that ends when it is dropped.
#[derive(Debug)]
pub(super) struct CsvServer {
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// What is served.
#[derive(Debug)]
struct Served {
    population: Population,
    warehouses: i32,
    progress: Arc<LoadProgress>,
}

impl CsvServer {
    /// Listens, and serves the warehouses 1 to `warehouses`.
    pub(super) async fn start(
        listen: SocketAddr,
        population: Population,
        warehouses: i32,
        progress: Arc<LoadProgress>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let served = Arc::new(Served { population, warehouses, progress });
        let task = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, from)) => {
                        let served = served.clone();
                        tokio::spawn(async move {
                            if let Err(e) = answer(stream, &served).await {
                                tracing::debug!("rows for {from}: {e}");
                            }
                        });
                    }
                    // Out of descriptors, most likely: whoever asked will ask again.
                    Err(e) => {
                        tracing::warn!("can't take a request for rows: {e}");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        });
        Ok(Self { address, task })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for CsvServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads one request and answers it.
async fn answer(mut stream: TcpStream, served: &Served) -> io::Result<()> {
    let request = tokio::time::timeout(REQUEST_TIME, read_request(&mut stream)).await??;
    let mut words = request.split_ascii_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let wanted = wanted(target, served.warehouses);
    let status = match (method, wanted) {
        ("GET" | "HEAD", Some(_)) => "200 OK",
        ("GET" | "HEAD", None) => "404 Not Found",
        _ => "405 Method Not Allowed",
    };
    let (Some((table, first, last)), true) = (wanted, status.starts_with("200")) else {
        let refusal = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return stream.write_all(refusal.as_bytes()).await;
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    if method == "HEAD" {
        return Ok(());
    }
    let mut csv = Csv::default();
    for piece in (first..=last).flat_map(rows::pieces) {
        let written = rows::write(&served.population, table, piece, &mut csv);
        served.progress.rows.fetch_add(written, Ordering::Relaxed);
        if csv.len() >= CHUNK_BYTES {
            send_chunk(&mut stream, csv.rows()).await?;
            csv.clear();
        }
    }
    if !csv.is_empty() {
        send_chunk(&mut stream, csv.rows()).await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut read = Vec::new();
    let mut piece = [0; 2048];
    while !read.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let count = stream.read(&mut piece).await?;
        if count == 0 || read.len() > REQUEST_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no HTTP request"));
        }
        read.extend_from_slice(&piece[..count]);
    }
    Ok(String::from_utf8_lossy(&read).into_owned())
}

async fn send_chunk(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(format!("{:x}\r\n", bytes.len()).as_bytes()).await?;
    stream.write_all(bytes).await?;
    stream.write_all(b"\r\n").await
}

/// The table and the warehouses that a request's target names.
fn wanted(target: &str, warehouses: i32) -> Option<(&'static Table, i32, i32)> {
    // The last two parts, since a proxy may have put a path of its own before them.
    let (folder, file) = target.split('?').next()?.rsplit_once('/')?;
    let name = folder.rsplit('/').next()?;
    let (first, last) = file.strip_suffix(".csv")?.split_once('-')?;
    let (first, last): (i32, i32) = (first.parse().ok()?, last.parse().ok()?);
    let table = TABLES.into_iter().find(|table| table.name == name)?;
    let there = match rows::global(table) {
        true => (first, last) == (0, 0),
        false => 1 <= first && first <= last && last <= warehouses,
    };
    there.then_some((table, first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_there_are_are_served() {
        let found = |target| wanted(target, 10).map(|(table, first, last)| (table.name, first, last));
        assert_eq!(found("/stock/1-10.csv"), Some(("stock", 1, 10)));
        assert_eq!(found("/behind/a/proxy/stock/3-3.csv?x=1"), Some(("stock", 3, 3)));
        assert_eq!(found("/item/0-0.csv"), Some(("item", 0, 0)));
        for bad in ["/", "/stock", "/stock/1-11.csv", "/stock/0-1.csv", "/stock/5-4.csv", "/item/1-1.csv", "/x/1-1.csv"]
        {
            assert_eq!(found(bad), None, "{bad}");
        }
        let stock = TABLES.into_iter().find(|table| table.name == "stock").unwrap();
        assert_eq!(found(&format!("/{}", path(stock, 2, 4))), Some(("stock", 2, 4)));
    }
}
