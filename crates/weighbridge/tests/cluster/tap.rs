//! A tap between a client and a PostgreSQL server: it hands on what they say, keeps every SQL text of the client, and
//! puts a text that only another database understands into words of PostgreSQL's.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Puts a text into PostgreSQL's words; an error is a text that the other database would refuse.
pub(crate) type Translate = fn(&str) -> Result<String, String>;

/// What the tap has heard.
#[derive(Default)]
struct Heard {
    texts: BTreeSet<String>,
    refused: Vec<String>,
}

/// A tap on a database of a server. Its threads end with their connections.
pub(crate) struct Tap {
    port: u16,
    database: String,
    heard: Arc<Mutex<Heard>>,
}

/// The code of a message that asks for TLS before anything else.
const TLS_REQUEST: i32 = 80_877_103;

impl Tap {
    /// Listens on a free port, for an empty database of the server.
    pub(crate) fn start(server: &lab::Postgres, database: &str, translate: Translate) -> Tap {
        server.create_database(database).unwrap();
        let url = server.url(database);
        let address = url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let tap = Tap { port, database: database.to_owned(), heard: heard.clone() };
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (address, heard) = (address.clone(), heard.clone());
                std::thread::spawn(move || {
                    let Ok(server) = TcpStream::connect(address) else { return };
                    // Else each message waits for the acknowledgement of the one before.
                    client.set_nodelay(true).unwrap();
                    server.set_nodelay(true).unwrap();
                    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut answers, &mut back);
                        let _ = back.shutdown(Shutdown::Both);
                    });
                    // Ends when either side leaves.
                    let _ = listen(&client, &server, translate, &heard);
                    let _ = server.shutdown(Shutdown::Both);
                });
            }
        });
        tap
    }

    /// The URL of the tapped database under a scheme of the test's choice.
    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://postgres@127.0.0.1:{}/{}", self.port, self.database)
    }

    /// Every text that was sent, each once.
    pub(crate) fn texts(&self) -> BTreeSet<String> {
        self.heard.lock().unwrap().texts.clone()
    }

    /// What the translator refused.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.heard.lock().unwrap().refused.clone()
    }
}

fn listen(
    mut client: &TcpStream,
    mut server: &TcpStream,
    translate: Translate,
    heard: &Mutex<Heard>,
) -> std::io::Result<()> {
    // The first message has no type; one that asks for TLS comes before it.
    loop {
        let (length, rest) = message(client)?;
        server.write_all(&[&length[..], &rest].concat())?;
        if i32::from_be_bytes(rest[..4].try_into().unwrap()) != TLS_REQUEST {
            break;
        }
    }
    loop {
        let mut kind = [0];
        client.read_exact(&mut kind)?;
        let (_, rest) = message(client)?;
        let rest = match kind[0] {
            b'Q' => hear(&rest, 0, translate, heard),
            // A prepared statement: its name, its text, its parameters' types.
            b'P' => hear(&rest, end_of_text(&rest, 0), translate, heard),
            _ => rest,
        };
        let length = i32::try_from(rest.len() + 4).unwrap().to_be_bytes();
        server.write_all(&[&kind[..], &length, &rest].concat())?;
    }
}

/// A message's length, as it came, and what follows it.
fn message(mut client: &TcpStream) -> std::io::Result<([u8; 4], Vec<u8>)> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    let mut rest = vec![0; i32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut rest)?;
    Ok((length, rest))
}

/// The place behind the zero that ends the text at `start`.
fn end_of_text(message: &[u8], start: usize) -> usize {
    start + message[start..].iter().position(|byte| *byte == 0).unwrap() + 1
}

/// Keeps the text at `start` and replaces it by its translation.
fn hear(message: &[u8], start: usize, translate: Translate, heard: &Mutex<Heard>) -> Vec<u8> {
    let end = end_of_text(message, start);
    let text = String::from_utf8(message[start..end - 1].to_vec()).unwrap();
    let translated = translate(&text).unwrap_or_else(|why| {
        heard.lock().unwrap().refused.push(format!("{why}: {text}"));
        "SELECT this_text_was_refused()".to_owned()
    });
    heard.lock().unwrap().texts.insert(text);
    [&message[..start], translated.as_bytes(), &[0], &message[end..]].concat()
}
