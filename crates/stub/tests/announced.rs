//! What the stub announces of each statement is what a real PostgreSQL announces of the same text.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use stub::{Answers, Server};
use target::null::Delay;
use target::placement::Placement;
use target::postgres::Postgres;
use target::{Ddl, Dialect, Session, Statement, Url};
use workload::tpcc::schema::TABLES;
use workload::tpcc::{Style, make_routines, statements};

/// A client that speaks as little of the protocol as will do.
struct Client(TcpStream);

impl Client {
    fn connect(port: u16, database: &str) -> Self {
        let mut client = Client(TcpStream::connect(("127.0.0.1", port)).unwrap());
        let mut start = 196_608_u32.to_be_bytes().to_vec();
        start.extend(format!("user\0postgres\0database\0{database}\0\0").bytes());
        client.0.write_all(&(start.len() as u32 + 4).to_be_bytes()).unwrap();
        client.0.write_all(&start).unwrap();
        client.until_ready();
        client
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
        let mut message = vec![kind];
        message.extend((body.len() as u32 + 4).to_be_bytes());
        message.extend(body);
        self.0.write_all(&message).unwrap();
    }

    fn until_ready(&mut self) -> Vec<(u8, Vec<u8>)> {
        let mut messages = Vec::new();
        loop {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).unwrap();
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; length - 4];
            self.0.read_exact(&mut body).unwrap();
            assert_ne!(head[0], b'E', "{}", String::from_utf8_lossy(&body));
            if head[0] == b'Z' {
                return messages;
            }
            messages.push((head[0], body));
        }
    }

    /// The types of the parameters and of the columns of a text.
    fn describe(&mut self, sql: &str) -> (Vec<u32>, Vec<u32>) {
        self.send(b'P', format!("\0{sql}\0\0\0").as_bytes());
        self.send(b'D', b"S\0");
        self.send(b'S', b"");
        let messages = self.until_ready();
        let body = |kind: u8| messages.iter().find(|(found, _)| *found == kind).map(|(_, body)| body.as_slice());
        let oid = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        let parameters = body(b't').unwrap()[2..].chunks(4).map(oid).collect();
        let mut columns = Vec::new();
        let mut rest = body(b'T').map_or(&[][..], |body| &body[2..]);
        while !rest.is_empty() {
            let name = rest.iter().position(|byte| *byte == 0).unwrap() + 1;
            columns.push(oid(&rest[name + 6..name + 10]));
            rest = &rest[name + 18..];
        }
        (parameters, columns)
    }
}

/// Every statement of every style.
fn all() -> Vec<&'static Statement> {
    let styles = Style::of(&Postgres);
    assert_eq!(styles.len(), 4);
    let mut seen = BTreeSet::new();
    let all = styles.into_iter().flat_map(|style| statements(style, &Postgres));
    all.filter(|statement| seen.insert(statement.name.to_owned() + statement.sql)).collect()
}

/// Makes the tables, without keys or rows, and the routines.
fn prepare(url: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = Session::connect(&Url::parse(url).unwrap()).await.unwrap();
        for table in TABLES {
            let sql = Postgres.create_table(table, false, false, &Placement::default());
            session.execute(&sql).await.unwrap();
        }
        make_routines(&mut session).await.unwrap();
    });
}

#[test]
fn types_are_those_of_a_real_server() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("bench").unwrap();
    prepare(&server.url("bench"));
    let mut real = Client::connect(server.port(), "bench");
    let stub =
        Server::start(([127, 0, 0, 1], 0).into(), Answers::new(&Postgres, all(), 15, []), "15.0", Delay::default(), 1);
    let mut stub = Client::connect(stub.unwrap().address().port(), "null");
    let mut differ = Vec::new();
    for statement in all() {
        for rows in statement.rows.0..=statement.rows.1 {
            let sql = Postgres.adapt(statement.expand(rows));
            let (expected, found) = (real.describe(&sql), stub.describe(&sql));
            if expected != found {
                differ.push(format!("{} of {rows}: real {expected:?}, stub {found:?}", statement.name));
                break;
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
