//! Asking servers through their own clients, and looking for what they leave behind.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Host and port of a URL.
pub(crate) fn address(url: &str) -> String {
    url.split('@').nth(1).unwrap().split('/').next().unwrap().to_owned()
}

pub(crate) fn listens(url: &str) -> bool {
    TcpStream::connect(address(url)).is_ok()
}

/// Runs one statement with the `mariadb` client over TCP, and returns the rows or what the client says is wrong.
pub(crate) fn mariadb(url: &str, sql: &str) -> Result<String, String> {
    let address = address(url);
    let (host, port) = address.split_once(':').unwrap();
    let database = url.rsplit('/').next().unwrap();
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "--protocol=tcp", "-h", host, "-P", port, "-u", "root", "-BN", "-e", sql, database]);
    said(client)
}

/// Runs one statement with `psql` over TCP.
pub(crate) fn psql(url: &str, sql: &str) -> Result<String, String> {
    let mut client = Command::new("psql");
    client.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql, url]);
    said(client)
}

fn said(mut client: Command) -> Result<String, String> {
    let output = client.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}

/// Waits for what takes an unknown time, but not for ever.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Drops a server and expects neither its folder nor a process that was at home in it.
pub(crate) fn leaves_nothing<S>(server: S, folder: impl Fn(&S) -> &Path, urls: &[String]) {
    let home = folder(&server).to_owned();
    assert!(!processes(&home).is_empty() || cfg!(not(target_os = "linux")), "{}: nobody is there", home.display());
    drop(server);
    assert!(!home.exists(), "{} is still there", home.display());
    eventually("a process is left", || processes(&home).is_empty());
    for url in urls {
        assert!(!listens(url), "{url} still listens");
    }
}

/// Processes whose working folder is in `home`.
fn processes(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| entry.path().join("cwd"))
        .filter(|cwd| std::fs::read_link(cwd).is_ok_and(|folder| folder.starts_with(home)))
        .collect()
}
