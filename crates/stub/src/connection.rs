//! One client.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answers::{Answer, Answers};
use crate::copy::RowCounter;
use crate::protocol::{self, Bound, CellForm, Malformed};

/// What asks for TLS, for encryption by GSSAPI, and for the end of another connection's work.
const SSL: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

/// Bytes read at once, as far as they are there.
const READ: usize = 64 * 1024;

/// A client's state.
pub(crate) struct Connection<'a> {
    answers: &'a Answers,
    prepared: HashMap<Bytes, Answer>,
    /// The call that was bound last; a client of ours has one at a time.
    portal: Option<Answer>,
    bound: Bound,
    in_transaction: bool,
    /// After an error in the extended protocol nothing is done until Sync.
    skipping: bool,
    copying: Option<Copying>,
}

/// Rows on their way in.
struct Copying {
    counter: RowCounter,
    /// Whether a simple query asked for it, which ends with it; in the extended protocol Sync follows.
    simple: bool,
}

/// What the client is to be told next, and whether it waits for it.
enum Next {
    GoOn,
    /// The client waits: a round trip ends here.
    Answer,
    Close,
}

/// Serves a client to its end. `pause` says how long each round trip takes.
pub(crate) async fn serve(
    mut stream: TcpStream,
    answers: &Answers,
    version: &str,
    mut pause: impl FnMut() -> Duration,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = BytesMut::with_capacity(READ);
    let mut out = BytesMut::with_capacity(READ);
    if !greet(&mut stream, &mut read, &mut out, version).await? {
        return Ok(());
    }
    let mut connection = Connection {
        answers,
        prepared: HashMap::new(),
        portal: None,
        bound: Bound::default(),
        in_transaction: false,
        skipping: false,
        copying: None,
    };
    loop {
        let mut waits = false;
        while let Some((kind, message)) = protocol::cut(&mut read).map_err(malformed)? {
            match connection.take(kind, message, &mut out).map_err(malformed)? {
                Next::GoOn => {}
                Next::Answer => waits = true,
                Next::Close => return Ok(()),
            }
        }
        if waits {
            let pause = pause();
            if !pause.is_zero() {
                tokio::time::sleep(pause).await;
            }
        }
        if !out.is_empty() {
            stream.write_all_buf(&mut out).await?;
        }
        read.reserve(READ);
        if stream.read_buf(&mut read).await? == 0 {
            return Ok(());
        }
    }
}

fn malformed(_: Malformed) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not PostgreSQL's protocol")
}

/// Answers until the client has started a session. False if it went, or wanted nothing more.
async fn greet(stream: &mut TcpStream, read: &mut BytesMut, out: &mut BytesMut, version: &str) -> io::Result<bool> {
    loop {
        while let Some(mut message) = protocol::cut_first(read).map_err(malformed)? {
            match message.get_u32() {
                SSL | GSS => stream.write_all(b"N").await?,
                CANCEL => return Ok(false),
                _ => {
                    protocol::greeting(out, version);
                    ready(out, false);
                    stream.write_all_buf(out).await?;
                    return Ok(true);
                }
            }
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(false);
        }
    }
}

/// ReadyForQuery.
fn ready(out: &mut BytesMut, in_transaction: bool) {
    protocol::message(out, b'Z', |out| out.put_u8(if in_transaction { b'T' } else { b'I' }));
}

impl Connection<'_> {
    fn take(&mut self, kind: u8, mut message: Bytes, out: &mut BytesMut) -> Result<Next, Malformed> {
        match kind {
            b'X' => return Ok(Next::Close),
            // They mean nothing as long as rows come.
            b'S' | b'H' if self.copying.is_some() => return Ok(Next::Answer),
            b'S' => {
                self.skipping = false;
                ready(out, self.in_transaction);
                return Ok(Next::Answer);
            }
            b'H' => return Ok(Next::Answer),
            b'd' => {
                if let Some(copying) = &mut self.copying {
                    copying.counter.take(&message);
                }
                return Ok(Next::GoOn);
            }
            b'c' | b'f' => {
                self.end_copy(kind == b'c', out);
                return Ok(Next::Answer);
            }
            b'Q' => {
                let sql = protocol::cut_text(&mut message)?;
                self.query(&String::from_utf8_lossy(&sql), out);
                return Ok(Next::Answer);
            }
            _ if self.skipping => return Ok(Next::GoOn),
            b'P' => {
                let name = protocol::cut_text(&mut message)?;
                let sql = protocol::cut_text(&mut message)?;
                self.prepare(name, &String::from_utf8_lossy(&sql), out);
            }
            b'D' => self.describe(message, out)?,
            b'B' => self.bind(message, out)?,
            b'E' => self.execute(out),
            b'C' => {
                if message.try_get_u8().map_err(|_| Malformed)? == b'S' {
                    self.prepared.remove(&protocol::cut_text(&mut message)?);
                }
                protocol::message(out, b'3', |_| {});
            }
            _ => return Err(Malformed),
        }
        Ok(Next::GoOn)
    }

    fn refuse(&mut self, code: &str, text: &str, out: &mut BytesMut) {
        self.skipping = true;
        protocol::error(out, code, text);
    }

    fn prepare(&mut self, name: Bytes, sql: &str, out: &mut BytesMut) {
        match self.answers.to(sql) {
            Some(answer) => {
                // A copy, so that the message it came in can go.
                self.prepared.insert(Bytes::copy_from_slice(&name), answer);
                protocol::message(out, b'1', |_| {});
            }
            None => self.refuse("0A000", &unknown(sql), out),
        }
    }

    fn describe(&mut self, mut message: Bytes, out: &mut BytesMut) -> Result<(), Malformed> {
        let of_statement = message.try_get_u8().map_err(|_| Malformed)? == b'S';
        let name = protocol::cut_text(&mut message)?;
        let answer = if of_statement { self.prepared.get(&name) } else { self.portal.as_ref() };
        let Some(answer) = answer else {
            self.refuse("26000", "there is no such prepared statement", out);
            return Ok(());
        };
        if of_statement {
            protocol::parameter_description(out, &answer.parameters());
            protocol::row_description(out, &answer.columns(), |_| CellForm::Text);
        } else {
            protocol::row_description(out, &answer.columns(), |column| self.bound.form(column));
        }
        Ok(())
    }

    fn bind(&mut self, mut message: Bytes, out: &mut BytesMut) -> Result<(), Malformed> {
        protocol::cut_text(&mut message)?;
        let name = protocol::cut_text(&mut message)?;
        match self.prepared.get(&name) {
            Some(answer) => {
                self.portal = Some(answer.clone());
                self.bound.read(message)?;
                protocol::message(out, b'2', |_| {});
            }
            None => self.refuse("26000", "there is no such prepared statement", out),
        }
        Ok(())
    }

    fn execute(&mut self, out: &mut BytesMut) {
        match self.portal.take() {
            Some(answer) => self.answer(&answer, out),
            None => self.refuse("34000", "there is no such portal", out),
        }
    }

    fn answer(&mut self, answer: &Answer, out: &mut BytesMut) {
        match answer {
            Answer::Empty => return protocol::message(out, b'I', |_| {}),
            Answer::Copy { columns } => {
                self.copying = Some(Copying { counter: RowCounter::new(), simple: false });
                return protocol::copy_in(out, *columns);
            }
            Answer::Done { tag } => match tag.as_str() {
                "BEGIN" | "START" => self.in_transaction = true,
                "COMMIT" | "END" | "ROLLBACK" => self.in_transaction = false,
                _ => {}
            },
            Answer::Declared { .. } | Answer::Canned(_) => {}
        }
        let tag = answer.write(&self.bound, |column| self.bound.form(column), out);
        protocol::command_complete(out, &tag);
    }

    /// The simple protocol: one statement or several, without parameters, answered in text.
    fn query(&mut self, sql: &str, out: &mut BytesMut) {
        self.bound = Bound::default();
        for sql in sql.split(';').filter(|part| !part.trim().is_empty()) {
            match self.answers.to(sql) {
                Some(answer) => {
                    let columns = answer.columns();
                    if !columns.is_empty() {
                        protocol::row_description(out, &columns, |_| CellForm::Text);
                    }
                    self.answer(&answer, out);
                }
                None => {
                    protocol::error(out, "0A000", &unknown(sql));
                    break;
                }
            }
        }
        match &mut self.copying {
            Some(copying) => copying.simple = true,
            None => ready(out, self.in_transaction),
        }
    }

    /// CopyDone, or CopyFail.
    fn end_copy(&mut self, done: bool, out: &mut BytesMut) {
        let Some(copying) = self.copying.take() else { return };
        if done {
            protocol::command_complete(out, &format!("COPY {}", copying.counter.rows()));
        } else {
            protocol::error(out, "57014", "COPY from stdin failed");
        }
        if copying.simple {
            ready(out, self.in_transaction);
        }
    }
}

fn unknown(sql: &str) -> String {
    let shown: String = sql.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    format!("a server without data does not know this statement: {shown}")
}
