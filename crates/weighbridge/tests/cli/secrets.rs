//! A password in a URL is in nothing that the tool writes, says, or starts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::support::{Place, Said, weighbridge};

/// A password that nothing else on this machine holds, and how it stands in a URL.
struct Secret {
    plain: String,
    encoded: String,
}

impl Secret {
    fn new() -> Self {
        let number = std::process::id();
        Secret { plain: format!("s3cret@{number}"), encoded: format!("s3cret%40{number}") }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        let holds = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        holds(&self.plain) || holds(&self.encoded)
    }
}

/// Looks through the argument lists of all processes until it is told to stop.
struct Watch {
    stop: Arc<AtomicBool>,
    seen: JoinHandle<BTreeSet<Vec<u8>>>,
}

impl Watch {
    fn begin() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let seen = std::thread::spawn(move || {
            let mut seen = BTreeSet::new();
            while !stopped.load(Ordering::Relaxed) {
                for process in std::fs::read_dir("/proc").unwrap().flatten() {
                    seen.extend(std::fs::read(process.path().join("cmdline")).ok());
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            seen
        });
        Watch { stop, seen }
    }

    fn end(self) -> BTreeSet<Vec<u8>> {
        self.stop.store(true, Ordering::Relaxed);
        self.seen.join().unwrap()
    }
}

/// Calls the tool with the URL in its environment, and the most talkative log.
fn say(url: &str, words: &[&str]) -> Said {
    let mut command = weighbridge(words);
    command.env("WEIGHBRIDGE_URL", url).env("WEIGHBRIDGE_LOG", "trace");
    command.output().unwrap().into()
}

/// All files below a folder with their contents.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
}

#[test]
fn a_password_is_in_nothing_that_is_written_said_or_started() {
    let Some(server) = lab::postgres_or_skip() else { return };
    let (place, secret) = (Place::new(), Secret::new());
    server.create_database("bench").unwrap();
    let url = target::Url::parse(&server.url("bench")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = target::Session::connect(&url).await.unwrap();
        session.execute(&format!("CREATE ROLE keeper LOGIN SUPERUSER PASSWORD '{}'", secret.plain)).await.unwrap();
        let rules = "COPY (SELECT unnest(ARRAY['host all keeper 127.0.0.1/32 scram-sha-256', \
                     'host all all 127.0.0.1/32 trust'])) TO PROGRAM 'cat > pg_hba.conf'";
        session.execute(rules).await.unwrap();
        session.execute("SELECT pg_reload_conf()").await.unwrap();
    });
    let open = server.url("bench");
    let url = open.replace("postgres@", &format!("keeper:{}@", secret.encoded));
    let wrong = open.replace("postgres@", &format!("keeper:no-{}@", secret.encoded));
    // The reload is asynchronous: wait until the server asks.
    let refused = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        Some(say(&wrong, &["check"])).filter(|said| said.stderr.contains("password authentication failed"))
    });

    let watch = Watch::begin();
    let out = ["one", "two", "merged", "sweep"].map(|name| place.text(name));
    let [one, two, merged, sweep] = out.each_ref().map(String::as_str);
    let pace = ["--pacing", "none", "--connections", "2", "--ramp", "0s"];
    let slice = |first, out| {
        [
            &["run", "--first-warehouse", first, "--warehouses", "1", "--duration", "2s"][..],
            &["--total-warehouses", "2", "--out", out],
            &pace,
        ]
        .concat()
    };
    let page = [place.text("run.html"), place.text("compared.html")];
    let commands: Vec<(i32, Vec<&str>)> = vec![
        (0, vec!["load", "--warehouses", "2"]),
        (1, vec!["load", "--warehouses", "2"]),
        (0, vec!["check"]),
        (3, vec!["doctor", "--json"]),
        (0, vec!["topology"]),
        (0, slice("1", one)),
        (0, slice("2", two)),
        (0, vec!["merge", one, two, "--force", "--out", merged]),
        (0, vec!["report", one, "--json"]),
        (0, vec!["report", one, "--html", "--out", &page[0]]),
        (0, vec!["compare", one, two, "--force", "--html", &page[1]]),
        (
            0,
            [
                &["sweep", "--restore", "reload", "--warehouses", "1", "--style", "row,batch", "--duration", "1s"][..],
                &["--out", sweep],
                &pace[..2],
            ]
            .concat(),
        ),
        (1, vec!["sweep", "--resume", "--restore", "reload", "--out", "/proc/nowhere"]),
    ];
    let mut said: Vec<(String, Said)> = Vec::new();
    for (status, words) in commands {
        let ended = say(&url, &words);
        assert_eq!(ended.status, status, "{words:?}: {}", ended.stderr);
        said.push((words.join(" "), ended));
    }
    let started = watch.end();
    said.push(("check with a wrong password".to_owned(), refused.expect("the server asks for the password")));

    for (words, said) in &said {
        for text in [&said.stdout, &said.stderr] {
            assert!(!secret.is_in(text.as_bytes()), "{words}: {text}");
        }
    }
    let mut written = Vec::new();
    files(place.folder.path(), &mut written);
    for (file, content) in &written {
        assert!(!secret.is_in(content), "{file}");
    }
    // What is looked through is what there is.
    let records = written
        .iter()
        .filter(|(file, content)| file.ends_with("run.json") && String::from_utf8_lossy(content).contains("keeper@"));
    assert_eq!(records.count(), 5);
    assert!(written.iter().filter(|(file, _)| file.ends_with(".html")).count() >= 6);
    for arguments in &started {
        assert!(!secret.is_in(arguments), "{}", String::from_utf8_lossy(arguments));
    }
    let ours = |word: &str| started.iter().any(|list| String::from_utf8_lossy(list).contains(&format!("\0{word}\0")));
    assert!(["load", "run", "sweep"].into_iter().all(ours), "processes were seen");
}
