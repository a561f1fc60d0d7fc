//! `sweep --restore snapshot` sets the user's database aside and leaves it as it was.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, Said, done, files, json, say, signal, weighbridge};

/// Flags of a sweep of one point with short runs.
const SHORT: [&str; 10] =
    ["--connections", "2", "--style", "batch", "--pacing", "none", "--ramp", "0s", "--duration", "1s"];

/// Executes statements in a database, one after the other.
fn execute(url: &str, statements: &[&str]) {
    let url = target::Url::parse(url).unwrap();
    runtime().block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        for sql in statements {
            session.execute(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
    });
}

/// The first column of a query's rows, one a line.
fn text(url: &str, sql: &str) -> String {
    let url = target::Url::parse(url).unwrap();
    runtime().block_on(async {
        let answer = target::Session::connect(&url).await.unwrap().query(sql, &[]).await.unwrap();
        answer.rows().map(|row| row.text(0).unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// All that the catalog says of a database itself, by its oid.
fn catalog_entry(server: &lab::Postgres, database: &str) -> String {
    let sql = format!(
        "SELECT concat_ws(' | ', oid, pg_get_userbyid(datdba), datacl, datconnlimit, datallowconn, datistemplate, \
         shobj_description(oid, 'pg_database'), (SELECT string_agg(concat(setrole, setconfig), ' ' ORDER BY setrole) \
         FROM pg_db_role_setting WHERE setdatabase = oid)) FROM pg_database WHERE datname = '{}'",
        database.replace('\'', "''")
    );
    text(&server.url("postgres"), &sql)
}

/// The names of all databases that weighbridge made, or set aside.
fn left_beside(server: &lab::Postgres) -> String {
    text(&server.url("postgres"), "SELECT datname::text FROM pg_database WHERE datname LIKE 'weighbridge%' ORDER BY 1")
}

/// The name of a database as it stands in a URL.
fn encoded(name: &str) -> String {
    name.bytes()
        .map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// The value of a setting in each run of a sweep.
fn recorded(sweep: &str, setting: &str) -> BTreeMap<String, String> {
    let folder = Path::new(sweep);
    let runs = files(folder).into_iter().filter(|name| folder.join(name).is_dir());
    let value = |run: &String| {
        let record: Value = serde_json::from_slice(&std::fs::read(folder.join(run).join("run.json")).unwrap()).unwrap();
        record["target"]["settings"][setting].as_str().unwrap_or("not recorded").to_owned()
    };
    runs.map(|run| (run.clone(), value(&run))).collect()
}

/// Whether a process is left that works for the one with this id.
fn works_for(parent: u32) -> bool {
    let entry = format!("WEIGHBRIDGE_PARENT={parent}").into_bytes();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments.into_iter().any(|environment| environment.split(|byte| *byte == 0).any(|line| line == entry))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Begins a sweep of long runs, and waits until one of them is under way on its copy.
fn begun_sweep(url: &str, out: &str) -> Child {
    let long = ["--connections", "2", "--repeat", "2", "--pacing", "none", "--ramp", "0s", "--duration", "10m"];
    let child = weighbridge(&[&["sweep", "--url", url, "--out", out][..], &long].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = |folder: &Path| {
        std::fs::read_to_string(folder.join("run.json")).is_ok_and(|run| run.contains("\"ended\": \"running\""))
    };
    wait_until("a run is under way", || {
        std::fs::read_dir(out).is_ok_and(|mut all| all.any(|entry| running(&entry.unwrap().path())))
    });
    child
}

#[test]
fn sweep_leaves_a_database_with_its_owner_grants_and_settings() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb")]);
    execute(
        &server.url("postgres"),
        &[
            "CREATE ROLE boss",
            "CREATE ROLE \"Re'ader\" LOGIN",
            "CREATE ROLE delegate",
            "ALTER DATABASE nb OWNER TO boss",
            "REVOKE CONNECT, TEMPORARY ON DATABASE nb FROM PUBLIC",
            "GRANT CONNECT ON DATABASE nb TO \"Re'ader\"",
            "GRANT CREATE ON DATABASE nb TO delegate WITH GRANT OPTION",
            "SET ROLE delegate",
            "GRANT CREATE ON DATABASE nb TO \"Re'ader\"",
            "RESET ROLE",
            "ALTER DATABASE nb CONNECTION LIMIT 77",
            "COMMENT ON DATABASE nb IS 'the orders'' database'",
            "ALTER DATABASE nb SET synchronous_commit = off",
            "ALTER DATABASE nb SET search_path = \"$user\", public, \"with, comma\"",
            "ALTER DATABASE nb SET \"my.own\" = 'back\\slash'",
            "ALTER ROLE \"Re'ader\" IN DATABASE nb SET work_mem = '7MB'",
        ],
    );
    let before = catalog_entry(&server, "nb");
    let out = place.text("sweep");
    let sweep = json(&[&["sweep", "--url", &server.url("nb"), "--repeat", "3", "--out", &out][..], &SHORT].concat());
    assert_eq!(catalog_entry(&server, "nb"), before);
    assert_eq!(left_beside(&server), "");
    let values: Vec<String> = recorded(&out, "synchronous_commit").into_values().collect();
    assert_eq!(values, ["off", "off", "off"]);
    let values: Vec<String> = recorded(&out, "search_path").into_values().collect();
    assert_eq!(values, [r#""$user", public, "with, comma""#; 3]);
    assert_eq!(sweep["results"][0]["conflict"], Value::Array(Vec::new()));
    assert_eq!(json(&["check", "--url", &server.url("nb")])["passed"], true);
    let row = text(&server.url("nb"), "SELECT count(*)::text FROM orders");
    assert_eq!(row, "30000", "the original holds what was loaded, and nothing else");
}

#[test]
fn sweep_works_whatever_the_name_of_the_database() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("loaded").unwrap();
    done(&["load", "--url", &server.url("loaded")]);
    let names = ["a".repeat(42), "b".repeat(43), "c".repeat(63), "My \"own\" 'DB'".to_owned()];
    for (number, name) in names.iter().enumerate() {
        let sql = format!("CREATE DATABASE \"{}\" TEMPLATE loaded", name.replace('"', "\"\""));
        execute(&server.url("postgres"), &[&sql]);
        let before = catalog_entry(&server, name);
        let (url, out) = (server.url(&encoded(name)), place.text(&number.to_string()));
        done(&[&["sweep", "--url", &url, "--repeat", "2", "--out", &out][..], &SHORT].concat());
        assert_eq!(catalog_entry(&server, name), before);
        assert_eq!(left_beside(&server), "");
    }
}

#[test]
fn database_that_weighbridge_did_not_make_is_never_dropped() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb")]);
    let run =
        |out: &str| say(&[&["sweep", "--url", &server.url("nb"), "--out", &place.text(out)][..], &SHORT].concat());
    // Of the names that weighbridge uses for this database only the server knows the hash.
    let mut child = begun_sweep(&server.url("nb"), &place.text("names"));
    let original = left_beside(&server);
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(original.starts_with("weighbridge_original_"), "{original}");
    for kind in ["original", "copy", "used"] {
        let name = original.replace("original", kind);
        execute(&server.url("postgres"), &[&format!("CREATE DATABASE {name}")]);
        let refused = run(kind);
        assert_eq!(refused.status, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains(&name) && refused.stderr.contains("hint: rename"), "{}", refused.stderr);
        assert_eq!(left_beside(&server), name);
        execute(&server.url("postgres"), &[&format!("DROP DATABASE {name}")]);
    }
    // What a killed sweep leaves in the server while it still makes a copy is its own.
    let name = original.replace("original", "copy");
    let unfinished = format!("CREATE DATABASE {name} ALLOW_CONNECTIONS false CONNECTION LIMIT 2003788658");
    execute(&server.url("postgres"), &[&unfinished]);
    let said = run("free");
    assert_eq!((said.status, left_beside(&server)), (0, String::new()), "{}", said.stderr);
}

#[test]
fn killed_sweep_is_resumed_from_the_original() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    let (url, out) = (server.url("nb"), place.text("sweep"));
    done(&["load", "--url", &url]);
    execute(&url, &["ALTER DATABASE nb SET work_mem = '9MB'", "COMMENT ON DATABASE nb IS 'mine'"]);
    let before = catalog_entry(&server, "nb");
    let sweep = [&["sweep", "--url", &url, "--repeat", "3", "--out", &out][..], &SHORT].concat();
    let mut child = weighbridge(&sweep).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the second run has begun", || {
        files(place.folder.path()).contains(&"sweep".to_owned())
            && files(Path::new(&out)).iter().filter(|name| Path::new(&out).join(name).is_dir()).count() == 2
    });
    signal(&child, "-KILL");
    child.wait().unwrap();
    wait_until("the run of the killed sweep has ended", || !works_for(child.id()));
    assert_ne!(catalog_entry(&server, "nb"), before, "a copy stands there");

    for anew in ["sweep", "search"] {
        let refused = say(&[anew, "--url", &url, "--out", &place.text("anew")]);
        assert_eq!(refused.status, 1, "{}", refused.stderr);
        let stderr = refused.stderr;
        assert!(stderr.contains("set aside as weighbridge_original_") && stderr.contains("\nhint: resume"), "{stderr}");
        assert!(stderr.contains("ALTER DATABASE \"nb\" RENAME TO weighbridge_used_"), "{stderr}");
    }
    // Whatever happens to the copy, the original has what was loaded.
    wait_until("the killed run has left", || {
        text(&server.url("postgres"), "SELECT count(*)::text FROM pg_stat_activity WHERE datname = 'nb'") == "0"
    });
    execute(&server.url("postgres"), &["DROP DATABASE nb"]);
    done(&["sweep", "--url", &url, "--resume", "--out", &out]);
    assert_eq!(catalog_entry(&server, "nb"), before);
    assert_eq!(left_beside(&server), "");
    let values: Vec<String> = recorded(&out, "work_mem").into_values().collect();
    assert_eq!(values, ["9MB", "9MB", "9MB"]);
}

#[test]
fn original_is_put_back_by_hand_as_the_hint_says() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("My DB").unwrap();
    let url = server.url(&encoded("My DB"));
    done(&["load", "--url", &url]);
    let before = catalog_entry(&server, "My DB");
    let mut child = begun_sweep(&url, &place.text("killed"));
    signal(&child, "-KILL");
    child.wait().unwrap();
    wait_until("the run of the killed sweep has ended", || !works_for(child.id()));
    wait_until("the killed run has left", || {
        text(&server.url("postgres"), "SELECT count(*)::text FROM pg_stat_activity WHERE datname = 'My DB'") == "0"
    });
    let refused = say(&["sweep", "--url", &url, "--restore", "none", "--out", &place.text("other")]);
    assert_eq!(refused.status, 1, "whatever the restoring, this is a copy: {}", refused.stderr);
    let statements = refused.stderr.split_once("by hand: ").unwrap().1.trim().split_inclusive(';').collect::<Vec<_>>();
    assert_eq!(statements.len(), 2, "{}", refused.stderr);
    execute(&server.url("postgres"), &statements);
    assert_eq!(catalog_entry(&server, "My DB"), before);
    done(&[&["sweep", "--url", &url, "--out", &place.text("next")][..], &SHORT].concat());
    assert_eq!((catalog_entry(&server, "My DB"), left_beside(&server)), (before, String::new()));
}

#[test]
fn interruption_while_a_copy_is_made_leaves_no_copy() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb"), "--warehouses", "2"]);
    let before = catalog_entry(&server, "nb");
    let (url, out) = (server.url("nb"), place.text("sweep"));
    let sweep = [&["sweep", "--url", &url, "--out", &out][..], &SHORT].concat();
    let mut child = weighbridge(&sweep).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("copying")).expect("it copies");
    signal(&child, "-INT");
    let said: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said:?}");
    assert!(said.iter().any(|line| line.contains("error: ") && line.contains("interrupted")), "{said:?}");
    assert_eq!((catalog_entry(&server, "nb"), left_beside(&server)), (before, String::new()));
}

#[test]
fn interrupted_sweep_puts_the_original_back() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb")]);
    let before = catalog_entry(&server, "nb");
    for (name, out) in [("-INT", place.text("int")), ("-TERM", place.text("term"))] {
        let mut child = begun_sweep(&server.url("nb"), &out);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(1));
        assert_eq!((catalog_entry(&server, "nb"), left_beside(&server)), (before.clone(), String::new()));
    }
}

#[test]
fn copy_that_would_differ_is_refused() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb")]);
    execute(
        &server.url("postgres"),
        &[
            "CREATE ROLE plain LOGIN CREATEDB",
            "CREATE ROLE other LOGIN",
            "ALTER DATABASE nb OWNER TO plain",
            "ALTER ROLE other IN DATABASE nb SET work_mem = '7MB'",
        ],
    );
    execute(
        &server.url("nb"),
        &["GRANT ALL ON ALL TABLES IN SCHEMA public TO plain", "GRANT ALL ON SCHEMA public TO plain"],
    );
    let before = catalog_entry(&server, "nb");
    let url = server.url("nb").replace("postgres@", "plain@");
    let refused = say(&[&["sweep", "--url", &url, "--out", &place.text("sweep")][..], &SHORT].concat());
    let stderr = refused.stderr;
    assert_eq!(refused.status, 1, "{stderr}");
    assert!(stderr.contains("would lack ALTER ROLE other IN DATABASE SET work_mem = 7MB"), "{stderr}");
    assert!(stderr.contains("\nhint: choose --restore reload"), "{stderr}");
    assert_eq!((catalog_entry(&server, "nb"), left_beside(&server)), (before.clone(), String::new()));

    let subscribe = "CREATE SUBSCRIPTION s CONNECTION 'host=nowhere' PUBLICATION p WITH (connect = false)";
    execute(&server.url("nb"), &[subscribe]);
    let refused = say(&[&["sweep", "--url", &url, "--out", &place.text("subscribed")][..], &SHORT].concat());
    assert!(refused.status == 1 && refused.stderr.contains("its subscription s"), "{}", refused.stderr);
    execute(&server.url("nb"), &["ALTER SUBSCRIPTION s SET (slot_name = NONE)", "DROP SUBSCRIPTION s"]);
    assert_eq!((catalog_entry(&server, "nb"), left_beside(&server)), (before, String::new()));

    execute(&server.url("postgres"), &["ALTER ROLE plain NOCREATEDB"]);
    let refused = say(&[&["sweep", "--url", &url, "--out", &place.text("powerless")][..], &SHORT].concat());
    assert!(refused.status == 1 && refused.stderr.contains("\nhint: choose --restore reload"), "{}", refused.stderr);
    execute(&server.url("postgres"), &["ALTER ROLE plain CREATEDB"]);

    // With the rights to all of it the owner needs no superuser.
    execute(&server.url("postgres"), &["ALTER ROLE other IN DATABASE nb RESET ALL"]);
    let before = catalog_entry(&server, "nb");
    done(&[&["sweep", "--url", &url, "--out", &place.text("rightful")][..], &SHORT].concat());
    assert_eq!((catalog_entry(&server, "nb"), left_beside(&server)), (before, String::new()));
}

#[test]
fn session_that_stays_in_the_database_is_named() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    server.create_database("nb").unwrap();
    done(&["load", "--url", &server.url("nb")]);
    let url = target::Url::parse(&server.url("nb")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let session = runtime.block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        session.execute("SET application_name = 'visitor'").await.unwrap();
        session
    });
    let refused = say(&[&["sweep", "--url", &server.url("nb"), "--out", &place.text("sweep")][..], &SHORT].concat());
    drop(session);
    let said = refused.stderr.contains("1 other session in database nb (pid ") && refused.stderr.contains(", visitor)");
    assert!(refused.status == 1 && said, "{}", refused.stderr);
    assert_eq!(left_beside(&server), "");
}

#[test]
fn point_whose_runs_have_different_settings_is_invalid() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let place = Place::new();
    let out = place.text("sweep");
    for name in ["changing", "fixed"] {
        server.create_database(name).unwrap();
        done(&["load", "--url", &server.url(name)]);
    }
    // The second time that it is called for `a`, the command waits until this test has changed a setting.
    let command = format!(
        "cd {} && if [ $WEIGHBRIDGE_TARGET = a ]; then if [ -e first ]; then touch second; \
         while [ ! -e changed ]; do sleep 0.02; done; fi; touch first; fi",
        place.folder.path().display()
    );
    let targets = [format!("a={}", server.url("changing")), format!("b={}", server.url("fixed"))];
    let how = ["--restore", "command", "--restore-command", &command, "--repeat", "2", "--out", &out];
    let sweep = ["sweep", "--target", &targets[0], "--target", &targets[1]];
    let child = weighbridge(&[&sweep[..], &how, &SHORT, &["--json"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the command is called again", || place.path("second").exists());
    execute(&server.url("postgres"), &["ALTER DATABASE changing SET work_mem = '8MB'"]);
    std::fs::write(place.path("changed"), "").unwrap();
    let said = Said::from(child.wait_with_output().unwrap());
    assert_eq!(said.status, 3, "{}", said.stderr);
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let point = &document["results"][0];
    assert_eq!((&point["valid"], &point["nopm"]["value"]), (&0.into(), &0.0.into()), "{point:#}");
    assert_eq!(point["conflict"][0]["what"], "work_mem", "{point:#}");
    assert_eq!(document["results"][1]["valid"], 2);
    assert_eq!(document["ratios"], Value::Array(Vec::new()));
    let shown = say(&["report", &out]);
    assert_eq!(shown.status, 3);
    let line = "had different settings: work_mem is 4MB in a-1n-2c-batch-r1, 8MB in a-1n-2c-batch-r2";
    assert!(shown.stdout.contains(line) && !shown.stdout.contains("against"), "{}", shown.stdout);
    assert!(std::fs::read_to_string(Path::new(&out).join("report.html")).unwrap().contains(line));
}

#[test]
fn file_comes_back_as_the_same_file_after_sweep_kill_and_interruption() {
    let place = Place::new();
    let (url, file) = (place.sqlite(), place.path("bench.db"));
    done(&["load", "--url", &url]);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let identity = || {
        let metadata = std::fs::metadata(&file).unwrap();
        (metadata.ino(), metadata.mode(), metadata.uid())
    };
    let beside =
        || files(place.folder.path()).into_iter().filter(|name| name.starts_with("bench.db")).collect::<Vec<_>>();
    let before = identity();

    let mut child = begun_sweep(&url, &place.text("interrupted"));
    assert_ne!(identity().0, before.0, "a copy stands there");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!((identity(), beside()), (before, vec!["bench.db".to_owned()]));

    let out = place.text("killed");
    let sweep = [&["sweep", "--url", &url, "--repeat", "2", "--out", &out][..], &SHORT].concat();
    let mut child = weighbridge(&sweep).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the original is set aside", || place.path("bench.db.weighbridge-original").exists());
    signal(&child, "-KILL");
    child.wait().unwrap();
    wait_until("the run of the killed sweep has ended", || !works_for(child.id()));
    let refused = say(&["sweep", "--url", &url, "--out", &place.text("anew")]);
    assert!(refused.status == 1 && refused.stderr.contains("\nhint: resume"), "{}", refused.stderr);
    // As if the kill had come between the two renames.
    let _ = std::fs::remove_file(&file);
    done(&["sweep", "--url", &url, "--resume", "--out", &out]);
    assert_eq!((identity(), beside()), (before, vec!["bench.db".to_owned()]));
    let checks = json(&["check", "--url", &url]);
    assert!(checks["checks"].as_array().unwrap().iter().all(|check| check["skipped"].is_null()), "as loaded: {checks}");
}
