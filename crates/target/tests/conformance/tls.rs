//! TLS: asked for, verified, never left out silently.

use std::path::Path;
use std::process::Command;

use target::{Session, Url};
use tempfile::TempDir;

/// A certificate authority, and from it a server's certificate for 127.0.0.1 and a client's for the user `guarded`.
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
        // Clients are known by the name of their user.
        for (who, name) in [("server", "127.0.0.1"), ("client", "guarded")] {
            let [private, subject, certificate] = [format!("{who}.key"), format!("/CN={name}"), format!("{who}.pem")];
            let request = ["-keyout", &private, "-out", "request", "-subj", &subject];
            openssl(folder, &[&["req"], key.as_slice(), &request].concat());
            let signed =
                ["x509", "-req", "-in", "request", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "2"];
            let rest = ["-CAcreateserial", "-extfile", "extensions", "-out", &certificate];
            openssl(folder, &[signed.as_slice(), &rest].concat());
        }
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

/// Whether each parameter list connects, and what is said where it must not.
async fn expect(url: &str, cases: &[(&str, Result<(), &str>)]) {
    for (parameters, expected) in cases {
        let said = connect(&format!("{url}?{parameters}")).await.map(drop);
        match (&said, expected) {
            (Ok(()), Ok(())) => {}
            (Err(e), Err(words)) => assert!(e.contains(words) && e.lines().count() == 1, "{parameters}: {e}"),
            _ => panic!("{parameters}: {said:?}, not {expected:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_verified() {
    let certificates = Certificates::new("postgres");
    let [certificate, key, ca] = ["server.pem", "server.key", "authority.pem"].map(|name| certificates.file(name));
    let settings =
        [("ssl", "on"), ("ssl_cert_file", certificate.as_str()), ("ssl_key_file", &key), ("ssl_ca_file", &ca)];
    let Some(server) = lab::or_skip(lab::Postgres::start_with(&settings)) else { return };
    let url = server.url("postgres");
    let others = Certificates::new("postgres");
    let strange = others.file("authority.pem");

    for (mode, is_secure) in [("disable", "false"), ("require", "true"), ("verify-ca", "true"), ("verify-full", "true")]
    {
        let mut session = connect(&format!("{url}?sslmode={mode}&sslrootcert={ca}")).await.unwrap();
        let seen =
            session.query("SELECT CAST(ssl AS TEXT) FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]).await.unwrap();
        assert_eq!(seen.only().unwrap().text(0).unwrap(), is_secure, "{mode}");
    }
    let whole = |mode: &str, ca: &str| format!("sslmode={mode}&sslrootcert={ca}");
    expect(
        &url,
        &[
            ("sslmode=require", Err("UnknownIssuer")),
            ("sslmode=verify-ca", Err("UnknownIssuer")),
            (&whole("verify-ca", &strange), Err("certificate")),
            (&format!("sslrootcert={ca}"), Err("add sslmode=verify-full")),
            (&whole("verify-full", "/nowhere.pem"), Err("/nowhere.pem: ")),
            (&whole("verify-full", &key), Err("no certificate in PEM form")),
            ("sslmode=prefer", Err("use disable, verify-ca")),
            (&format!("sslmode=require&sslcert={certificate}"), Err("go together")),
        ],
    )
    .await;
    // The certificate is for 127.0.0.1.
    let other_name = url.replace("127.0.0.1", "localhost");
    expect(
        &other_name,
        &[
            (&whole("require", &ca), Err("localhost")),
            (&whole("verify-full", &ca), Err("localhost")),
            (&whole("verify-ca", &ca), Ok(())),
            (&whole("verify-ca", &strange), Err("certificate")),
        ],
    )
    .await;

    // A role that is known by its certificate alone.
    let mut session = connect(&url).await.unwrap();
    session.execute("CREATE ROLE guarded LOGIN").await.unwrap();
    let rules = "COPY (SELECT unnest(ARRAY['hostssl all guarded 127.0.0.1/32 cert', \
                 'host all postgres 127.0.0.1/32 trust'])) TO PROGRAM 'cat > pg_hba.conf'";
    session.execute(rules).await.unwrap();
    session.execute("SELECT pg_reload_conf()").await.unwrap();
    let guarded = url.replace("postgres@", "guarded@");
    let secure = whole("verify-full", &ca);
    // The reload is asynchronous: wait until the server asks.
    for _ in 0..100 {
        if connect(&format!("{guarded}?{secure}")).await.is_err() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let [client, client_key] = ["client.pem", "client.key"].map(|name| certificates.file(name));
    let ours = format!("{secure}&sslcert={client}&sslkey={client_key}");
    let another = format!("{secure}&sslcert={certificate}&sslkey={key}");
    expect(&guarded, &[(&ours, Ok(())), (&secure, Err("certificate")), (&another, Err("authentication failed"))]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_verified() {
    let certificates = Certificates::new("mysql");
    let [certificate, key, ca] = ["server.pem", "server.key", "authority.pem"].map(|name| certificates.file(name));
    let settings =
        [("ssl-cert", certificate.as_str()), ("ssl-key", &key), ("ssl-ca", &ca), ("require-secure-transport", "ON")];
    let Some(server) = lab::or_skip(lab::MariaDb::start_with(&settings)) else { return };
    let url = server.url("mysql");
    let others = Certificates::new("mysql");
    let strange = others.file("authority.pem");

    let refused = connect(&url).await.unwrap_err();
    assert!(refused.contains("ssl-mode=required"), "{refused}");
    let whole = |mode: &str, ca: &str| format!("ssl-mode={mode}&ssl-ca={ca}");
    let mut session = connect(&format!("{url}?{}", whole("verify_identity", &ca))).await.unwrap();
    let seen = session.query("SHOW STATUS LIKE 'Ssl_cipher'", &[]).await.unwrap();
    assert!(!seen.only().unwrap().text(1).unwrap().is_empty());
    expect(
        &url,
        &[
            (&whole("disabled", &ca), Err("ssl-mode=required")),
            (&whole("required", &ca), Ok(())),
            (&whole("verify_ca", &ca), Ok(())),
            ("ssl-mode=required", Err("UnknownIssuer")),
            ("ssl-mode=verify_ca", Err("UnknownIssuer")),
            (&whole("verify_identity", &strange), Err("certificate")),
            (&format!("ssl-ca={ca}"), Err("add ssl-mode=verify_identity")),
            (&whole("required", "/nowhere.pem"), Err("/nowhere.pem: ")),
            ("ssl-mode=preferred", Err("use disabled, or required")),
        ],
    )
    .await;
    // The certificate is for 127.0.0.1.
    let other_name = url.replace("127.0.0.1", "localhost");
    expect(
        &other_name,
        &[
            (&whole("required", &ca), Err("localhost")),
            (&whole("verify_identity", &ca), Err("localhost")),
            (&whole("verify_ca", &ca), Err("localhost")),
        ],
    )
    .await;

    session.execute("CREATE USER guarded@'%' REQUIRE SUBJECT '/CN=guarded'").await.unwrap();
    let guarded =
        format!("mariadb://guarded@{}", url.rsplit_once('@').unwrap().1.replace("/mysql", "/information_schema"));
    let secure = whole("verify_identity", &ca);
    let [client, client_key] = ["client.pem", "client.key"].map(|name| certificates.file(name));
    let ours = format!("{secure}&ssl-cert={client}&ssl-key={client_key}");
    let another = format!("{secure}&ssl-cert={certificate}&ssl-key={key}");
    expect(&guarded, &[(&ours, Ok(())), (&secure, Err("guarded")), (&another, Err("guarded"))]).await;
}
