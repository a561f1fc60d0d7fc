//! What is refused: other names, other origins, no token, what lies outside, and what is damaged or hostile.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;

use serve::{Options, ServeError, Server, Token};

use crate::client::{SECRET, Served};

#[test]
fn a_name_that_is_not_the_servers_is_refused() {
    let served = Served::with(|options| options.names = vec!["bench.example.org".to_owned()]);
    let ask = |lines: &str| served.ask(&format!("{lines}Connection: close\r\n\r\n")).status;
    let port = served.address.port();
    assert_eq!(ask(&format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n")), 200);
    assert_eq!(ask("GET / HTTP/1.1\r\nHost: bench.example.org\r\n"), 200);
    for hostile in ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "", "localhost@evil.example"] {
        assert_eq!(ask(&format!("GET / HTTP/1.1\r\nHost: {hostile}:{port}\r\n")), 421, "{hostile}");
    }
    assert_eq!(ask("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n"), 421);
    assert!([400, 421].contains(&ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n")));
    assert!([400, 421].contains(&ask("GET / HTTP/1.0\r\n")));
    assert_eq!(ask("GET /style.css HTTP/1.1\r\nHost: evil.example\r\n"), 421, "all of it");
}

#[test]
fn nothing_is_changed_from_elsewhere_or_unless_it_may_be() {
    let writable = Served::with(|options| options.writable = true);
    writable.run("run", |_| {});
    let form = "address=run&tags=evil";
    for headers in ["", "Origin: null\r\n", "Origin: http://evil.example\r\n", "Origin: http://127.0.0.1:1\r\n"] {
        assert_eq!(writable.post("/tags", form, headers).status, 403, "{headers}");
    }
    assert_eq!(writable.get("/tags").status, 405);
    let origin = format!("Origin: http://{}\r\n", writable.address);
    assert_eq!(writable.post("/runs/run", form, &origin).status, 405);
    assert!(!writable.path("tags.json").exists());

    let served = Served::new();
    served.run("run", |_| {});
    let origin = format!("Origin: http://{}\r\n", served.address);
    assert_eq!(served.post("/tags", form, &origin).status, 405);
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
        let answer = served
            .ask(&format!("{method} /runs/run HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", served.address));
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.header("allow").contains("GET"));
    }
    assert!(served.path("run/run.json").exists() && !served.get("/runs/run").body.contains("name=\"tags\""));
}

#[test]
fn a_token_is_asked_for_and_leaves_the_address() {
    let served = Served::with(|options| options.token = Served::token());
    served.run("run", |_| {});
    for path in ["/", "/runs/run", "/live/run", "/style.css", "/nothing", "/?token=wrong-horse-battery"] {
        let answer = served.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(!answer.body.contains("href=\"/runs/") && answer.header("www-authenticate") == "Bearer");
    }
    let entered = served.get(&format!("/runs/run?token={SECRET}&a=b%26c"));
    assert_eq!((entered.status, entered.header("location")), (303, "/runs/run?a=b%26c"));
    let cookie = entered.header("set-cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(served.get_with("/runs/run", &format!("Cookie: x=y; {pair}\r\n")).status, 200);
    assert_eq!(served.get_with("/runs/run", &format!("Authorization: Bearer {SECRET}\r\n")).status, 200);
    assert_eq!(served.get_with("/runs/run", "Authorization: Bearer wrong-horse-battery\r\n").status, 401);
    let elsewhere = served.get(&format!("//evil.example/x?token={SECRET}"));
    assert!(!elsewhere.header("location").starts_with("//"), "{}", elsewhere.head);
}

#[test]
fn without_a_token_only_this_machine_is_listened_to() {
    let folder = tempfile::tempdir().unwrap();
    let options = |listen: &str, folder: &std::path::Path| Options {
        folder: folder.to_owned(),
        listen: listen.parse().unwrap(),
        names: Vec::new(),
        token: None,
        writable: false,
    };
    let refused = |options| Server::bind(options).err().unwrap();
    assert!(matches!(refused(options("0.0.0.0:0", folder.path())), ServeError::Open(_)));
    assert!(matches!(refused(options("[::]:0", folder.path())), ServeError::Open(_)));
    let with_token = Options { token: Token::new(SECRET).ok(), ..options("0.0.0.0:0", folder.path()) };
    let open = Server::bind(with_token).unwrap();
    let taken = options(&format!("127.0.0.1:{}", open.address().port()), folder.path());
    assert!(matches!(refused(taken), ServeError::Taken(_)));
    assert!(matches!(refused(options("127.0.0.1:0", &folder.path().join("nothing"))), ServeError::Nowhere(_)));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(refused(options("127.0.0.1:0", &file)), ServeError::Folder { .. }));
}

#[test]
fn nothing_outside_the_folder_is_shown() {
    let served = Served::new();
    let inside = served.run("inside", |_| {});
    // A run beside the folder, to which ways are tried.
    let outside = served.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for file in ["run.json", "latency.hlog", "timeline.csv"] {
        fs::copy(inside.join(file), outside.join(file)).unwrap();
    }
    fs::write(
        outside.join("run.json"),
        fs::read_to_string(outside.join("run.json")).unwrap().replace("null target", "SECRET-VERSION"),
    )
    .unwrap();
    symlink(&outside, served.path("link")).unwrap();
    symlink(served.path("inside"), served.path("within")).unwrap();
    symlink(served.path("."), served.path("circle")).unwrap();
    fs::create_dir(served.path("mixed")).unwrap();
    for file in ["latency.hlog", "timeline.csv"] {
        fs::copy(inside.join(file), served.path("mixed").join(file)).unwrap();
    }
    symlink(outside.join("run.json"), served.path("mixed/run.json")).unwrap();
    fs::write(served.path(".hidden.json"), "{}").unwrap();
    fs::write(served.path("notes.txt"), "SECRET-VERSION").unwrap();

    let out = outside.display().to_string();
    for path in [
        "/runs/../outside".to_owned(),
        "/runs/%2e%2e/outside".to_owned(),
        "/runs/..%2foutside".to_owned(),
        "/runs/inside/../../outside".to_owned(),
        "/runs/%2e%2e%2foutside%00".to_owned(),
        "/runs/inside%00".to_owned(),
        "/runs/./inside".to_owned(),
        "/runs/link".to_owned(),
        "/runs/mixed".to_owned(),
        format!("/runs/{out}"),
        format!("/runs//{out}"),
        format!("/runs/{}", out.replace('/', "%2F")),
        "/runs/%FF".to_owned(),
        "/runs/notes.txt".to_owned(),
        "/notes.txt".to_owned(),
        "/tags/tags.json".to_owned(),
        "/../outside/run.json".to_owned(),
        "/live/../outside".to_owned(),
        "/live/link".to_owned(),
        "/compare?base=inside&new=link".to_owned(),
        "/compare?base=inside&new=mixed".to_owned(),
        format!("/compare?base=inside&new={out}"),
    ] {
        let answer = served.get(&path);
        assert!([400, 404, 422].contains(&answer.status), "{path}: {}", answer.status);
        assert!(!answer.body.contains("SECRET-VERSION"), "{path}");
    }
    assert_eq!(served.get("/runs/within").status, 200, "a link that stays inside");
    let list = served.get("/").body;
    assert!(
        list.contains("leads out of the folder") && !list.contains("SECRET-VERSION") && !list.contains("/runs/link")
    );
    assert!(served.get("/?q=SECRET-VERSION").body.contains("None of"));
}

#[test]
fn hostile_names_and_words_are_only_words() {
    let served = Served::with(|options| options.writable = true);
    const NAME: &str = "<img src=x onerror=alert(1)>\"'&%2e?#";
    served.run(NAME, |record| {
        record.target.kind = "</script><script>alert(2)</script>".to_owned();
        record.target.version = "\"><b>\r\nevent: end".to_owned();
        record.plan.style = "<i>'".to_owned();
    });
    // The style stands in what is told of a run as it goes.
    served.under_way("live", |record| {
        record.target.kind = "<script>alert(3)</script>".to_owned();
        record.plan.style = "<i>\rdata: x\r\revent: end".to_owned();
    });
    served.run("plain", |_| {});
    let link = "/runs/%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%22%27%26%252e%3F%23";
    let list = served.get("/").body;
    assert!(list.contains(&format!("href=\"{link}\"")), "{list}");
    let compared = served.get(&format!("/compare?base=plain&new={}", &link[6..]));
    assert_eq!(compared.status, 200, "{}", compared.body);
    let pages = [
        list,
        served.get(link).body,
        served.get("/runs/live").body,
        told(&served, "live"),
        compared.body,
        served.get(&format!("/?q={}", &link[6..])).body,
        served.get("/runs/%3Cb%3E").body,
    ];
    for page in pages {
        for tag in ["<img", "<b>", "<i>", "alert(2)</script>", "<script>alert"] {
            assert!(!page.contains(tag), "{tag} in {page}");
        }
    }
    assert!(served.get(link).status == 200);
}

/// What is told first of a run as it goes.
fn told(served: &Served, name: &str) -> String {
    let stream = served.send(&format!("GET /live/{name} HTTP/1.1\r\nHost: {}\r\n\r\n", served.address));
    let lines =
        BufReader::new(stream).lines().map(|line| line.unwrap()).skip_while(|line| !line.starts_with("event: "));
    let event: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let is_one = event.iter().skip(1).all(|line| line.starts_with("data: ") && !line.contains('\r'));
    assert!(event[0] == "event: parts" && is_one && event.len() > 1, "{event:?}");
    assert!(event.concat().contains("data: x  event: end"), "no style in {event:?}");
    event.concat()
}

#[test]
fn damage_that_is_mended_is_forgotten() {
    let served = Served::new();
    let path = served.run("copied", |_| {});
    // As copying it brings `run.json` before the rest.
    fs::rename(path.join("timeline.csv"), served.folder.path().join("rest")).unwrap();
    assert!(served.get("/").body.contains("timeline.csv: no such file"));
    fs::rename(served.folder.path().join("rest"), path.join("timeline.csv")).unwrap();
    let list = served.get("/").body;
    assert!(list.contains("mark unconstrained") && !list.contains("damaged"), "{list}");
}

#[test]
fn what_is_too_large_is_not_read() {
    let served = Served::new();
    for (name, file, length) in
        [("wide", "run.json", 64 << 20), ("long", "timeline.csv", 1 << 30), ("deep", "latency.hlog", 1 << 30)]
    {
        let path = served.run(name, |_| {}).join(file);
        fs::File::options().write(true).open(path).unwrap().set_len(length + 1).unwrap();
        let page = served.get(&format!("/runs/{name}"));
        let told = format!("{name}/{file}: too large to be shown");
        assert!(page.status == 422 && page.body.contains(&told), "{}", page.body);
        assert!(served.get("/").body.contains(&told));
    }
}

#[test]
fn links_in_circles_and_to_nothing_are_no_damage() {
    let served = Served::new();
    let path = served.run("circles", |_| {});
    for number in 0..50 {
        symlink(".", path.join(format!("circle-{number}"))).unwrap();
    }
    symlink("nothing", path.join(".run.json.new")).unwrap();
    assert_eq!(served.get("/runs/circles").status, 200);
    let list = served.get("/").body;
    assert!(list.contains("href=\"/runs/circles\"") && !list.contains("damaged"), "{list}");
    // What lies behind a link is looked at as well.
    let other = served.run("other", |_| {});
    symlink(served.folder.path(), other.join("out")).unwrap();
    symlink(&other, path.join("inner")).unwrap();
    assert!(served.get("/runs/circles").body.contains("circles/inner/out: leads out of the folder"));
}

#[test]
fn damage_is_told_and_stops_nothing() {
    let served = Served::new();
    let path = served.run("cut", |_| {});
    let text = fs::read(path.join("run.json")).unwrap();
    fs::write(path.join("run.json"), &text[..text.len() / 2]).unwrap();
    fs::remove_file(served.run("halved", |_| {}).join("latency.hlog")).unwrap();
    fs::write(served.run("timeless", |_| {}).join("timeline.csv"), "nonsense\n1,2,3\n").unwrap();
    fs::create_dir_all(served.path("empty/run.json")).unwrap();
    fs::create_dir(served.path("sweep")).unwrap();
    fs::write(served.path("sweep/sweep.json"), "[]").unwrap();
    fs::write(served.path("tags.json"), "not json").unwrap();
    fs::write(served.path("acid.json"), "{\"levels\": 1, \"checks_before\": 2, \"target\": 3}").unwrap();
    let pipe = served.path("pipe/run.json");
    fs::create_dir(served.path("pipe")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    served.run("good", |_| {});

    let list = served.get("/").body;
    assert!(list.contains("cut/run.json:1: not a run record") && list.contains("latency.hlog: no such file"), "{list}");
    assert!(list.contains("pipe/run.json: neither a file nor a folder"), "{list}");
    assert!(served.get("/?verdict=damaged").body.contains("6 results."), "{list}");
    for damaged in
        ["/runs/cut", "/runs/halved", "/runs/timeless", "/runs/empty", "/runs/pipe", "/sweeps/sweep", "/acid/acid.json"]
    {
        let page = served.get(damaged);
        assert!(page.status == 422 && page.body.contains("This result is damaged"), "{damaged}: {}", page.body);
        assert!(
            !page.body.contains(&served.folder.path().display().to_string()),
            "{damaged}: the place on this machine"
        );
    }
    assert_eq!(served.get("/runs/good").status, 200);
}
