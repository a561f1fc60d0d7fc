//! A local PostgreSQL server: up, killed, up again, gone.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::net::TcpStream;

fn address(url: &str) -> String {
    url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned()
}

#[test]
fn a_server_survives_a_kill_and_leaves_nothing_behind() {
    let Some(mut server) = lab::postgres_or_skip() else { return };
    let url = server.url("bench");
    assert!(url.starts_with("postgres://postgres@127.0.0.1:") && url.ends_with("/bench"), "{url}");
    server.create_database("bench").unwrap();
    assert!(server.create_database("bench").unwrap_err().to_string().contains("already exists"));

    server.kill().unwrap();
    server.restart().unwrap();
    assert!(server.create_database("bench").unwrap_err().to_string().contains("already exists"), "it kept its data");
    server.restart().unwrap();
    TcpStream::connect(address(&url)).unwrap();

    drop(server);
    assert!(TcpStream::connect(address(&url)).is_err(), "it still listens");
}

#[test]
fn a_setting_that_the_server_refuses_is_one_line() {
    match lab::Postgres::start_with(&[("shared_buffers", "none")]) {
        Ok(_) => panic!("it started"),
        Err(lab::LabError::Missing { .. }) => {}
        Err(e) => {
            let line = e.to_string();
            assert!(line.contains("shared_buffers") && !line.contains('\n'), "{line}");
        }
    }
}
