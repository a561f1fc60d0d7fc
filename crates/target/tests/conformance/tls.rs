//! TLS: asked for, verified, never left out silently.

use std::path::Path;
use std::process::Command;

use target::{Session, Url};
use tempfile::TempDir;

/// A certificate authority, and a server's certificate for 127.0.0.1 from it.
struct Certificates {
    folder: TempDir,
}

impl Certificates {
    /// Makes them; the key belongs to `user`, as servers want it when root starts them.
    fn new(user: &str) -> Self {
        let certificates = Certificates { folder: tempfile::tempdir().unwrap() };
        let folder = certificates.folder.path();
        std::fs::write(folder.join("extensions"), "subjectAltName = IP:127.0.0.1\n").unwrap();
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let authority =
            ["-x509", "-keyout", "authority.key", "-out", "authority.pem", "-days", "2", "-subj", "/CN=Test CA"];
        openssl(folder, &[&["req"], key.as_slice(), &authority].concat());
        let request = ["-keyout", "server.key", "-out", "request", "-subj", "/CN=127.0.0.1"];
        openssl(folder, &[&["req"], key.as_slice(), &request].concat());
        let signed =
            ["x509", "-req", "-in", "request", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2"];
        openssl(
            folder,
            &[signed.as_slice(), &["-CAcreateserial", "-extfile", "extensions", "-out", "server.pem"]].concat(),
        );
        for (program, argument) in [("chmod", "755"), ("chown", user)] {
            // Only root can give a file away, and only root has to.
            let _ = Command::new(program).args(["-R", argument]).arg(folder).output();
        }
        let closed = Command::new("chmod").arg("600").arg(folder.join("server.key")).status().unwrap();
        assert!(closed.success());
        certificates
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

fn openssl(folder: &Path, arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

async fn connect(url: &str) -> Result<Session, String> {
    Session::connect(&Url::parse(url).map_err(|e| e.to_string())?).await.map_err(|e| e.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_verified() {
    let certificates = Certificates::new("postgres");
    let (certificate, key) = (certificates.file("server.pem"), certificates.file("server.key"));
    let settings = [("ssl", "on"), ("ssl_cert_file", certificate.as_str()), ("ssl_key_file", &key)];
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&settings)) else { return };
    let url = format!("{}?sslmode=require", server.url("postgres"));

    let mut session = connect(&format!("{url}&sslrootcert={}", certificates.file("authority.pem"))).await.unwrap();
    let seen =
        session.query("SELECT CAST(ssl AS TEXT) FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]).await.unwrap();
    assert_eq!(seen.only().unwrap().text(0).unwrap(), "true");

    let stranger = connect(&url).await.unwrap_err();
    assert!(stranger.contains("UnknownIssuer"), "{stranger}");
    let other_name = url.replace("127.0.0.1", "localhost");
    let wrong_name =
        connect(&format!("{other_name}&sslrootcert={}", certificates.file("authority.pem"))).await.unwrap_err();
    assert!(wrong_name.contains("localhost"), "{wrong_name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_verified() {
    let certificates = Certificates::new("mysql");
    let (certificate, key) = (certificates.file("server.pem"), certificates.file("server.key"));
    let settings = [("ssl-cert", certificate.as_str()), ("ssl-key", &key), ("require-secure-transport", "ON")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&settings)) else { return };
    let url = server.url("mysql");

    let refused = connect(&url).await.unwrap_err();
    assert!(refused.contains("ssl-mode=required"), "{refused}");
    let mut session =
        connect(&format!("{url}?ssl-mode=required&ssl-ca={}", certificates.file("authority.pem"))).await.unwrap();
    let seen = session.query("SHOW STATUS LIKE 'Ssl_cipher'", &[]).await.unwrap();
    assert!(!seen.only().unwrap().text(1).unwrap().is_empty());
    let stranger = connect(&format!("{url}?ssl-mode=required")).await.unwrap_err();
    assert!(stranger.contains("UnknownIssuer"), "{stranger}");
}
