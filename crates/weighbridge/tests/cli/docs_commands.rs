//! The book's command lines, carried out: each page's in their order, as they stand there but for what makes them long.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::docs::{Line, lines, pages};
use crate::doctor::execute;
use crate::support::{Place, done, signal, weighbridge};

/// Lines that are not carried out here: how they begin, or what is in them, and why.
const NOT_HERE: [(&str, &str); 19] = [
    ("cockroachdb", "no server of this kind"),
    ("yugabytedb", "no server of this kind"),
    ("nuodb", "no server of this kind"),
    ("exampledb://", "no server of this kind"),
    ("odbc:", "its drivers have names of the machine's own: tests/cli/odbc.rs"),
    ("lab ", "starts servers of its own: tests/cli/lab.rs"),
    ("chaos ", "breaks servers of its own: tests/cluster"),
    ("acid ", "minutes: tests/cli/acid.rs"),
    ("durability ", "kills servers of its own: tests/cluster"),
    ("scenario run ", "minutes: tests/cli/sweep_search_scenario.rs"),
    ("tune run ", "minutes: tests/cli/tuning.rs"),
    ("calibrate", "a minute: tests/cli/null.rs"),
    ("--shard ", "waits for its fellow workers: tests/cli/fleet.rs"),
    ("--otlp ", "only in a build that has it: tests/cli/otlp.rs"),
    ("search ", "minutes: tests/cli/sweep_search_scenario.rs"),
    ("$urls", "several servers of a kind: tests/cli/gateways.rs"),
    ("ssh ", "another machine"),
    ("--help", "says the same as on its own"),
    ("…", "is no line to be typed"),
];

/// The longest that a line may take.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Where one page is worked through.
struct Desk {
    place: Place,
    /// The page's own database.
    url: String,
    /// What goes on until it is told to stop: `serve`, `null-server`.
    at_work: Vec<Child>,
    /// Runs that the page speaks of without having made them.
    made: u32,
}

impl Desk {
    fn new(url: &str) -> Self {
        let place = Place::new();
        let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
        write("queries.sql", "SELECT name FROM users WHERE city = 'seattle'; SELECT count(*) FROM users;");
        write("parameters.csv", "id\n1\n2\n");
        write("token", "a-token-that-is-long-enough-to-be-one\n");
        let bank = done(&["workload", "show", "bank"]).stdout;
        write("mine.toml", &bank);
        Desk { place, url: url.to_owned(), at_work: Vec::new(), made: 0 }
    }

    /// Carries a line out, unless the same was done before and nothing is left of it; what is wrong with it, if anything.
    fn carry_out(&mut self, line: &Line, before: &mut BTreeSet<Vec<String>>) -> Option<String> {
        let words = self.shortened(line);
        let leaves =
            matches!(words[0].as_str(), "load" | "serve" | "null-server") || words.iter().any(|word| word == "--out");
        if !before.insert(words.clone()) && !leaves {
            return None;
        }
        self.make_runs(&words);
        let (out, err) = (self.place.path(".out"), self.place.path(".err"));
        let mut command = weighbridge(&[]);
        command.args(&words).current_dir(self.place.folder.path()).env("WEIGHBRIDGE_URL", &self.url);
        let mut child =
            command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap()).spawn().unwrap();
        let begun = Instant::now();
        let stays = matches!(words[0].as_str(), "serve" | "null-server");
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status.code();
            }
            // It tells its address as soon as it can be asked.
            if stays && fs::metadata(&out).is_ok_and(|said| said.len() > 0) {
                self.at_work.push(child);
                return None;
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let judges = matches!(
            words[0].as_str(),
            "run" | "demo" | "sweep" | "search" | "report" | "merge" | "verify" | "compare" | "doctor"
        );
        let said = fs::read_to_string(&err).unwrap();
        println!("{:6.1} s  {}: {}", begun.elapsed().as_secs_f64(), line.place, words.join(" "));
        let expected = !stays && (status == Some(0) || judges && status == Some(3));
        (!expected).then(|| format!("{}: weighbridge {}\n{status:?} {said}", line.place, words.join(" ")))
    }

    /// The line with this page's database, and shorter where it would take long.
    fn shortened(&self, line: &Line) -> Vec<String> {
        let mut words: Vec<String> = line.words.iter().map(|word| with_url(word, &self.url)).collect();
        let command = words[0].clone();
        let partitions = words.iter().any(|word| word == "--partitions");
        for at in 1..words.len() {
            let first_of = |list: &str| {
                let short = ["1", "2", "3", "4", "5"].into_iter().take(list.split(',').count());
                short.collect::<Vec<_>>().join(",")
            };
            let word = words[at].clone();
            match words[at - 1].as_str() {
                "--duration" => words[at] = "1s".to_owned(),
                "--ramp" | "--settle" => words[at] = "0s".to_owned(),
                "--warehouses" if partitions => words[at] = "3".to_owned(),
                "--warehouses" if command != "verify" => words[at] = "1".to_owned(),
                "--partitions" => words[at] = "3".to_owned(),
                "--metrics" => words[at] = "127.0.0.1:0".to_owned(),
                "--scale" => words[at] = "0.01".to_owned(),
                "--connections" => words[at] = first_of(&word),
                "--copy" => words[at] = "10".to_owned(),
                "--repeat" if command == "sweep" => words[at] = "1".to_owned(),
                "--out" => drop(fs::remove_dir_all(self.place.path(&word))),
                _ => match word.as_str() {
                    "SELECT ..." => words[at] = "SELECT name FROM users WHERE city = 'seattle'".to_owned(),
                    "/srv/results" => words[at] = "results".to_owned(),
                    _ => {}
                },
            }
        }
        let mut add = |option: &str, value: &str| {
            if !words.iter().any(|word| word == option) {
                words.extend([option, value].map(str::to_owned));
            }
        };
        match command.as_str() {
            "demo" => add("--duration", "1s"),
            "run" | "sweep" => {
                add("--duration", "1s");
                add("--ramp", "0s");
            }
            "serve" => add("--listen", "127.0.0.1:0"),
            _ => {}
        }
        if command == "load" && !words.iter().any(|word| matches!(word.as_str(), "--replace" | "--resume")) {
            words.push("--replace".to_owned());
        }
        words
    }

    /// Makes the runs that a line is about and that are not there, as clients that run together.
    fn make_runs(&mut self, words: &[String]) {
        let read = match words[0].as_str() {
            "report" | "compare" | "merge" => words.split(|word| word == "--out").next().unwrap_or_default(),
            _ => &[],
        };
        let folders = read.iter().filter(|word| word.starts_with("results/") || word.ends_with('/'));
        let missing: Vec<_> =
            folders.map(|word| self.place.text(word)).filter(|path| !Path::new(path).exists()).collect();
        let mut clients: Vec<Child> = Vec::new();
        for out in &missing {
            self.made += 1;
            let first = self.made.to_string();
            let url = ["run", "--url", "null:?latency=5ms", "--out", out];
            let share = ["--warehouses", "1", "--first-warehouse", &first, "--total-warehouses", "20"];
            let short = ["--pacing", "none", "--ramp", "0s", "--duration", "1s", "--connections", "2"];
            let mut client = weighbridge(&[&url[..], &share, &short].concat());
            clients.push(client.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        }
        for (mut client, out) in clients.into_iter().zip(missing) {
            client.wait().unwrap();
            done(&["report", &out, "--json"]);
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for mut child in self.at_work.drain(..) {
            signal(&child, "-INT");
            let _ = child.wait();
        }
    }
}

/// A word with the URL of a server in it replaced by this one; SQLite's files and the targets without data stay.
fn with_url(word: &str, url: &str) -> String {
    let (before, found) = match word.split_once('=') {
        Some((name, found)) if !name.contains("://") => (format!("{name}="), found),
        _ => (String::new(), word),
    };
    if is_server(found) { format!("{before}{url}") } else { word.to_owned() }
}

fn is_server(word: &str) -> bool {
    word == "URL" || word.contains("://") && !word.contains("://null@")
}

fn why_not_here(line: &Line) -> Option<&'static str> {
    let text = line.words.join(" ");
    let of_a_page = ["cockroachdb", "yugabytedb", "nuodb", "odbc"]
        .iter()
        .any(|kind| line.place.contains(&format!("databases/{kind}")) && text.contains("URL"));
    if of_a_page {
        return Some("no server of this kind");
    }
    // TiDB's and MariaDB's lines need such a server: the pages of these databases have theirs.
    for (scheme, page) in [("tidb://", "databases/tidb"), ("mariadb://", "databases/mysql")] {
        if text.contains(scheme) && !line.place.contains(page) {
            return Some("needs a server of another kind than the page's others");
        }
    }
    let urls = line.words.iter().filter(|word| *word == "--url").count();
    if urls > 1 || line.words.iter().any(|word| word.split(',').filter(|part| is_server(part)).count() > 1) {
        return Some("several servers of one database: tests/cli/gateways.rs");
    }
    NOT_HERE.iter().find(|(part, _)| text.contains(part)).map(|(_, why)| *why)
}

#[test]
fn the_book_s_command_lines_do_what_it_says() {
    let Some(postgres) = lab::postgres_or_skip() else { return };
    postgres.create_database("loaded").unwrap();
    done(&["load", "--url", &postgres.url("loaded"), "--warehouses", "1"]);
    let users = [
        "CREATE TABLE users (id int8 PRIMARY KEY, city text, name text, address text, credit_card text)",
        "INSERT INTO users SELECT i, 'seattle', 'Anna Smith', 'here', '1234' FROM generate_series(1, 1000) AS i",
    ];
    execute(&postgres.url("loaded"), &users);

    let (mut failures, mut left_out, mut carried_out) = (Vec::new(), 0, 0);
    let mut before = BTreeSet::new();
    for page in pages() {
        let (here, elsewhere): (Vec<Line>, Vec<Line>) =
            lines(&page).into_iter().partition(|line| why_not_here(line).is_none());
        left_out += elsewhere.len();
        if here.is_empty() {
            continue;
        }
        let (mariadb, tidb);
        let url = match page.file_stem().unwrap().to_str().unwrap() {
            "mysql" => {
                let Some(server) = lab::mariadb_or_skip() else { continue };
                mariadb = server;
                mariadb.create_database("bench").unwrap();
                mariadb.url("bench")
            }
            "tidb" => {
                let Some(server) = lab::tidb_or_skip() else { continue };
                tidb = server;
                tidb.create_database("bench").unwrap();
                tidb.url("bench")
            }
            _ => {
                // A URL of its own for each page would be another line for each.
                execute(
                    &postgres.url("postgres"),
                    &["DROP DATABASE IF EXISTS page", "CREATE DATABASE page TEMPLATE loaded"],
                );
                postgres.url("page")
            }
        };
        let mut desk = Desk::new(&url);
        if here.iter().any(|line| line.words.iter().any(|word| word == "sqlite:bench.db")) {
            done(&["load", "--url", &desk.place.sqlite(), "--warehouses", "1"]);
        }
        carried_out += here.len();
        failures.extend(here.iter().filter_map(|line| desk.carry_out(line, &mut before)));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(carried_out > 120, "{carried_out} lines were carried out, and {} not", left_out);
}
