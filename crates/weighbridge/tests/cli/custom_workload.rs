//! Workloads of files: loaded, driven, held against the database, and judged.

use serde_json::Value;

use crate::support::{Place, done, files, json, say};

/// A workload in which all that a file can say comes up, on small tables.
const SHOP: &str = r#"
name = "shop"

[[table]]
name = "customer"
rows = 200
primary_key = ["id"]
columns = [
    { name = "id", type = "bigint", value = "sequence(5000000000)" },
    { name = "kind", type = "smallint", value = "choice(1, 2)" },
    { name = "name", type = "varchar(30)", value = "text(5, 30)", nulls = 0.2 },
    { name = "credit", type = "decimal(10, 2)", value = "decimal(50.00, 50.00)" },
    { name = "since", type = "timestamp", value = "timestamp(2020-01-01, 2020-12-31)" },
]

[[table]]
name = "visit"
rows = 300
primary_key = ["id"]
indexes = { visit_by_customer = ["customer_id"] }
columns = [
    { name = "id", type = "uuid", value = "uuid()" },
    { name = "customer_id", type = "bigint", value = "of(customer.id)" },
    { name = "customer_since", type = "timestamp", value = "of(customer.since)" },
    { name = "spent", type = "decimal(10, 2)", value = "decimal(0.00, 0.00)" },
]

[table.foreign_keys.visit_customer_fk]
columns = ["customer_id"]
table = "customer"
references = ["id"]

[[table]]
name = "offer"
rows = 40
columns = [
    { name = "price", type = "decimal(14, 2)", value = "uniform(1, 50)" },
    { name = "code", type = "varchar(5)", value = "uniform(1, 9)" },
]

[pools]
vip = "SELECT id, kind FROM customer WHERE kind = 2 ORDER BY id LIMIT 20"

[[transaction]]
name = "buy"
weight = 6
rollback = 0.1
response_limit = "20s"
values = { id = "uuid()", who = "of(customer.id)", spent = "decimal(0.01, 0.05)" }
steps = [
    { sql = "SELECT credit, since FROM customer WHERE id = :who", keep = ["credit", "since"], expect = 1 },
    { sql = "UPDATE customer SET credit = :credit - :spent WHERE id = :who AND credit = :credit", expect = 1 },
    { sql = "INSERT INTO visit (id, customer_id, customer_since, spent) VALUES (:id, :who, :since, :spent)", expect = 1 },
]

[[transaction]]
name = "greet"
weight = 3
commit = "auto"
read_only = true
steps = [{ sql = "SELECT name FROM customer WHERE id = :vip.id AND kind = :vip.kind", expect = 1 }]

[[transaction]]
name = "nobody"
weight = 1
values = { who = "uniform(1, rows(visit))" }
steps = [
    { sql = "SELECT id FROM customer WHERE id = :who", keep = ["id"], or_end = true },
    { sql = "DELETE FROM visit WHERE customer_id = :id" },
]

[[transaction]]
name = "look"
weight = 1
commit = "auto"
read_only = true
values = { price = "of(offer.price)", code = "of(offer.code)" }
steps = [{ sql = "SELECT code FROM offer WHERE price = :price AND code = :code GROUP BY code", expect = 1 }]

[[ledger]]
name = "visits"
sql = "SELECT COUNT(*) FROM visit"
per = { buy = 1 }

[[check]]
name = "credit and purchases together"
sql = "SELECT (SELECT SUM(credit) FROM customer) + (SELECT SUM(spent) FROM visit)"
must = "stay"

[[check]]
name = "no visit remembers another date than its customer's"
sql = "SELECT v.id FROM visit v JOIN customer c ON c.id = v.customer_id WHERE c.since <> v.customer_since"
must = "be-empty"
"#;

struct Shop {
    place: Place,
    file: String,
    url: String,
}

impl Shop {
    fn new(url: Option<String>) -> Self {
        let place = Place::new();
        std::fs::write(place.path("shop.toml"), SHOP).unwrap();
        Self { file: place.text("shop.toml"), url: url.unwrap_or_else(|| place.sqlite()), place }
    }

    /// The file with one text in place of another.
    fn changed(&self, from: &str, to: &str) -> String {
        assert!(SHOP.contains(from), "{from}");
        let file = self.place.text("changed.toml");
        std::fs::write(&file, SHOP.replacen(from, to, 1)).unwrap();
        file
    }

    fn args<'a>(&'a self, command: &'a str, file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&[command, file, "--url", &self.url][..], more].concat()
    }

    /// A short run with one connection, as `buy` is optimistic: with more it would contradict itself now and then.
    fn run(&self, file: &str, out: &str) -> (i32, Value) {
        let out = self.place.text(out);
        let more = ["--ramp", "1s", "--duration", "2s", "--connections", "1", "--check", "--out", &out, "--json"];
        let said = say(&self.args("run", file, &more));
        let result = serde_json::from_str(&said.stdout).unwrap_or_else(|e| panic!("{e}: {}", said.stderr));
        (said.status, result)
    }
}

/// Load, run, check: what the file says holds, and nothing is missing.
fn whole_way(url: Option<String>) {
    let shop = Shop::new(url);
    let loaded = json(&shop.args("load", &shop.file, &["--scale", "0.5", "--seed", "9"]));
    assert_eq!((&loaded["rows"], &loaded["tables"]["visit"]["rows"]), (&270.into(), &150.into()), "{loaded:#}");
    let (status, result) = shop.run(&shop.file, "run");
    assert_eq!(status, 0, "{:#}", result["verdict"]);
    assert_eq!(result["verdict"]["status"], "unconstrained");
    assert_eq!((&result["workload"], &result["headline"]), (&"shop".into(), &"buy".into()));
    let transactions = result["transactions"].as_object().unwrap();
    for name in ["buy", "greet", "nobody", "look"] {
        assert_eq!(transactions[name]["errors"], 0, "{result:#}");
        assert!(transactions[name]["count"].as_u64().unwrap() > 0, "{result:#}");
    }
    assert!(transactions["buy"]["rolled_back"].as_u64().unwrap() > 0, "{result:#}");
    let nobody = &transactions["nobody"];
    assert_eq!(nobody["rolled_back"], nobody["count"], "none found anybody, so none did anything: {result:#}");
    let held = &result["reconciliation"];
    assert_eq!((&held["passed"], &held["checked"][0]["missing"]), (&true.into(), &0.into()), "{held:#}");
    assert!(held["checked"][0]["gained"].as_u64().unwrap() > 0, "{held:#}");
    let finding = |rule: &str| {
        let findings = result["verdict"]["findings"].as_array().unwrap().iter();
        findings.into_iter().find(|finding| finding["rule"] == rule).map(|finding| finding["outcome"].clone())
    };
    assert_eq!(finding("buy response time, 90th percentile"), Some("pass".into()), "its own limit is judged");
    assert_eq!(finding("greet response time, 90th percentile"), None, "it has none");

    let checked = json(&shop.args("check", &shop.file, &[]));
    assert_eq!(checked["passed"], true, "{checked:#}");
    let again = done(&["report", &shop.place.text("run")]).stdout;
    for words in ["buy/min", "visits:", "This is not TPC-C", "Checks of the data: 2 of 2 hold"] {
        assert!(again.contains(words), "{words}: {again}");
    }
    assert!(files(&shop.place.path("run")).contains(&"workload.toml".to_owned()));
    assert_eq!(std::fs::read_to_string(shop.place.path("run/workload.toml")).unwrap(), SHOP);
    done(&shop.args("load", &shop.file, &["--replace"]));
}

#[test]
fn a_file_is_loaded_driven_and_held_against_sqlite() {
    whole_way(None);
}

#[test]
fn a_file_is_loaded_driven_and_held_against_postgres() {
    let Some(server) = lab::postgres_or_skip() else { return };
    server.create_database("shop").unwrap();
    whole_way(Some(server.url("shop")));
    built_in("movr", &server.url("shop"), "0.02");
    built_in("key-value", &server.url("shop"), "0.01");
}

#[test]
fn a_file_is_loaded_driven_and_held_against_mariadb() {
    let Some(server) = lab::mariadb_or_skip() else { return };
    server.create_database("shop").unwrap();
    whole_way(Some(server.url("shop")));
    built_in("movr", &server.url("shop"), "0.02");
    built_in("bank", &server.url("shop"), "0.01");
}

/// What comes with the program works as it stands, with several connections that meet.
fn built_in(name: &str, url: &str, scale: &str) {
    let place = Place::new();
    done(&["load", name, "--url", url, "--scale", scale]);
    let out = place.text("run");
    let args =
        ["run", name, "--url", url, "--ramp", "1s", "--duration", "2s", "--check", "--statements", "--out", &out];
    let result = json(&args);
    assert_eq!(result["verdict"]["status"], "unconstrained", "{:#}", result["verdict"]);
    assert_eq!(result["reconciliation"]["passed"], true, "{:#}", result["reconciliation"]);
    let errors = result["transactions"].as_object().unwrap().values().map(|of| of["errors"].as_u64().unwrap());
    assert_eq!(errors.sum::<u64>(), 0, "{:#}", result["transactions"]);
    assert!(result["statements"].to_string().contains(".1"), "{:#}", result["statements"]);
}

#[test]
fn what_the_database_did_not_keep_is_found() {
    let shop = Shop::new(None);
    done(&shop.args("load", &shop.file, &[]));
    let claims_two = shop.changed("per = { buy = 1 }", "per = { buy = 2 }");
    let (status, result) = shop.run(&claims_two, "two");
    assert_eq!((status, &result["verdict"]["status"]), (3, &"invalid".into()), "{:#}", result["verdict"]);
    assert!(result["verdict"]["reasons"].to_string().contains("acknowledged"), "{:#}", result["verdict"]);

    // Without --check nobody has looked at all that must hold.
    let out = shop.place.text("unchecked");
    let half = ["--ramp", "0s", "--duration", "1s", "--connections", "1", "--out", &out];
    let unchecked = json(&shop.args("run", &shop.file, &half));
    let findings = unchecked["verdict"]["findings"].as_array().unwrap();
    let conditions = findings.iter().find(|finding| finding["rule"] == "consistency conditions").unwrap();
    assert_eq!(conditions["outcome"], "not_judged", "{conditions:#}");

    let makes_money = shop.changed(":credit - :spent", ":credit + :spent");
    let (status, result) = shop.run(&makes_money, "money");
    assert_eq!(status, 3);
    let why = result["verdict"]["reasons"].to_string();
    assert!(why.contains("credit and purchases together (1 violations)"), "{why}");
    assert!(result["checks"].to_string().contains("was "), "{:#}", result["checks"]);

    let wrong_date = shop.changed("v.customer_since\"", "v.customer_since OR v.spent > 0\"");
    let said = say(&shop.args("check", &wrong_date, &[]));
    assert_eq!(said.status, 3, "{}", said.stdout);
    assert!(said.stdout.contains("violated by"), "{}", said.stdout);

    let expects_two = shop.changed("AND kind = :vip.kind\", expect = 1", "AND kind = :vip.kind\", expect = 2");
    let (status, result) = shop.run(&expects_two, "expects");
    assert_eq!(status, 3);
    assert!(result["verdict"]["reasons"].to_string().contains("rows missing or miscounted"), "{:#}", result["verdict"]);
}

#[test]
fn a_run_needs_the_load_of_the_same_file() {
    let shop = Shop::new(None);
    let refused = |args: &[&str], status: i32, words: &str| {
        let said = say(args);
        assert_eq!((said.status, said.stderr.contains(words)), (status, true), "{args:?}: {}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{args:?}: {}", said.stderr);
    };
    refused(&shop.args("run", &shop.file, &[]), 1, "there is no such file");
    done(&["load", "key-value", "--scale", "0.001", "--url", &shop.url]);
    let says = format!("shop is not loaded here, or not to its end: run `weighbridge load {}` first", shop.file);
    refused(&shop.args("run", &shop.file, &[]), 1, &says);
    refused(&shop.args("check", &shop.file, &[]), 1, "shop is not loaded here");
    refused(&shop.args("run", "movr", &[]), 1, "movr is not loaded here");
    done(&shop.args("load", &shop.file, &[]));
    refused(&shop.args("load", &shop.file, &[]), 1, "--replace");
    let other_rows = shop.changed("rows = 300", "rows = 301");
    refused(&shop.args("run", &other_rows, &[]), 1, "loaded from another form of its file");

    // What can't be replaced is not forgotten.
    let last = "value = \"uniform(1, 9)\" },";
    let columns = format!("{last}\n    {{ name = \"more\", type = \"int\", {last}");
    let text = SHOP.replacen(last, &columns, 1);
    let [more, others] = ["more.toml", "others.toml"].map(|name| shop.place.text(name));
    std::fs::write(&more, &text).unwrap();
    std::fs::write(&others, text.replacen("name = \"shop\"", "name = \"store\"", 1)).unwrap();
    refused(&shop.args("load", &others, &["--replace"]), 1, "is not store's, by its columns");
    json(&shop.args("check", &shop.file, &[]));
    // Its own tables are replaced as the file is now, in this form and back again.
    done(&shop.args("load", &more, &["--replace"]));
    json(&shop.args("check", &more, &[]));
    done(&shop.args("load", &shop.file, &["--replace"]));
    // Another workload's tables of the same names are no longer the first one's.
    let other_name = shop.changed("name = \"shop\"", "name = \"store\"");
    done(&shop.args("load", &other_name, &["--replace", "--scale", "0.1"]));
    refused(&shop.args("run", &shop.file, &[]), 1, "shop is not loaded here");
    json(&shop.args("check", &other_name, &[]));
    done(&shop.args("load", &shop.file, &["--replace"]));

    refused(&shop.args("run", &shop.file, &["--warehouses", "2"]), 2, "--warehouses is for tpcc");
    refused(&shop.args("run", &shop.file, &["--shard", "1/2"]), 2, "--shard is for tpcc");
    refused(&shop.args("check", &shop.file, &["--jobs", "2"]), 2, "--jobs is for tpcc");
    refused(&["run", &shop.file, "--url", "null:"], 2, "keeps no data");
    let waits = shop.changed("rollback = 0.1", "think = \"1s\"");
    refused(&shop.args("run", &waits, &[]), 2, "--terminals");
}

#[test]
fn a_file_that_makes_no_sense_is_refused_before_anything_is_touched() {
    let shop = Shop::new(None);
    let cases = [
        ("name = \"shop\"", "name = \"My Shop\"", "small letters"),
        ("weight = 6", "wieght = 6", "unknown field `wieght`"),
        ("sequence(5000000000)", "sequence(1", "closing parenthesis"),
        ("\"smallint\", value = \"choice(1, 2)\"", "\"smallint\", value = \"uniform(1, 40000)\"", "beyond the type"),
        ("decimal(50.00, 50.00)", "decimal(5.0000, 9.0000)", "more digits than the type"),
        ("\"bigint\", value = \"of(customer.id)\"", "\"int\", value = \"of(customer.id)\"", "another type"),
        ("of(customer.since)", "of(visit.id)", "no table `visit` before"),
        ("timestamp(2020-01-01, 2020-12-31)", "now(0)", "other rows each time"),
        ("type = \"uuid\"", "type = \"guid\"", "is no type"),
        ("primary_key = [\"id\"]", "primary_key = [\"nr\"]", "no column `nr`"),
        ("text(5, 30)", "text(5, 31)", "up to 31 characters"),
        ("rollback = 0.1", "rollback = 10", "a share from 0 to 1"),
        ("who = \"of(customer.id)\", ", "", "nothing gives :who a value"),
        ("rows(visit)", "rows(visitor)", "no table `visitor`"),
        ("per = { buy = 1 }", "per = { bought = 1 }", "no transaction `bought`"),
        ("must = \"stay\"", "must = \"hold\"", "unknown variant"),
        ("name = \"shop\"", "name = \"tpcc\"", "another name"),
        ("name = \"visits\"", "name = \"vis\\u001bits\"", "control characters"),
        ("rollback = 0.1", "commit = \"auto\"", "for one step"),
        ("keep = [\"credit\", \"since\"]", "keep = [\"credit\", \"who\"]", "which is drawn"),
        ("sequence(5000000000)", "sequence(9223372036854775807)", "beyond"),
        ("\"timestamp\", value = \"of(customer.since)\"", "\"varchar(9)\", value = \"of(customer.name)\"", "wider"),
        ("\"timestamp\", value = \"of(customer.since)\"", "\"varchar(30)\", value = \"of(customer.name)\"", "NULL"),
        ("sql = \"SELECT COUNT(*) FROM visit\"", "sql = { postgers = \"SELECT 1\" }", "no database `postgers`"),
        ("sql = \"SELECT COUNT(*) FROM visit\"", "sql = 5", "a value for all databases"),
        ("[\"customer_id\"] }\n", "[] }\n", "no columns"),
        ("table = \"customer\"", "table = \"nowhere\"", "no table `nowhere`"),
        ("references = [\"id\"]", "references = [\"credit\"]", "not the primary key of customer"),
        ("visit_by_customer", "customer", "two of the table or index `customer`"),
        ("visit_by_customer", "offer_pkey", "the primary key of offer"),
        ("name = \"offer\"", "name = \"order\"", "reserved word"),
        ("kind = :vip.kind", "kind = ?", "nothing gives :1 a value"),
        ("\"SELECT COUNT(*) FROM visit\"", "\"SELECT 1; SELECT 2\"", "2 statements where one must be"),
        ("choice(1, 2)", "choice('1, 2)", "a quote is not closed"),
        ("weight = 6", "weight = 0", "its rate is the result"),
        ("AND kind = :vip.kind\"", "AND kind = :vip.kind FOR UPDATE\"", "read_only"),
        ("response_limit = \"20s\"", "response_limit = \"0s\"", "response_limit is above 0"),
        ("name = \"visits\"", "name = \"\"", "an empty name"),
        ("name = \"visit\"", "name = \"visit; DROP TABLE customer\"", "small letters"),
    ];
    for (from, to, words) in cases {
        let file = shop.changed(from, to);
        for command in ["load", "run", "check"] {
            let said = say(&shop.args(command, &file, &[]));
            assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{to}: {}", said.stderr);
            assert!(said.stderr.contains(words), "{to}: {}", said.stderr);
        }
    }
    // At scale 1 there are 300 visits.
    let few = shop.changed("uniform(1, rows(visit))", "uniform(100, rows(visit))");
    let said = say(&shop.args("load", &few, &["--scale", "0.1"]));
    assert_eq!((said.status, said.stderr.lines().count()), (2, 1), "{}", said.stderr);
    assert!(said.stderr.contains("at --scale 0.1: transaction nobody: who: `uniform(100, 30)`"), "{}", said.stderr);
    assert!(!shop.place.path("bench.db").exists(), "something was touched");
    assert_eq!(say(&["run", "/nowhere/mine.toml"]).status, 2);
}

#[test]
fn the_programs_own_files_are_where_one_begins() {
    let place = Place::new();
    let listed = json(&["workload", "list"]);
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bank", "key-value", "movr"]);
    for name in names {
        let shown = done(&["workload", "show", name]).stdout;
        std::fs::write(place.path("mine.toml"), &shown).unwrap();
        let read = done(&["workload", "read", &place.text("mine.toml")]).stdout;
        assert_eq!(read, done(&["workload", "read", name]).stdout);
        assert!(read.contains("transaction"), "{read}");
    }
    assert_eq!(say(&["workload", "read", "tpcc"]).status, 2);
}
