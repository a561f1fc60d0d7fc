//! What is made from the definitions of the command line: the version, completions, the manual.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bad_input::refused;
use crate::null::SLOW;
use crate::support::{Place, done, files, json, weighbridge};

/// What git says of the sources, if they are its.
fn git(arguments: &[&str]) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new("git").current_dir(&root).args(arguments).output().ok()?;
    (root.join(".git").exists() && output.status.success())
        .then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// The commit that `--version` tells, without the mark of changes, and its date; `None`: it says that it knows none.
fn told() -> Option<(String, String)> {
    let long = done(&["--version"]).stdout;
    let told = long.lines().find_map(|line| line.strip_prefix("commit:")).unwrap_or_else(|| panic!("{long}"));
    let (commit, date) = told.trim().split_once(" of ")?;
    Some((commit.trim_end_matches("-changed").to_owned(), date.to_owned()))
}

#[test]
fn the_version_tells_what_it_was_built_from() {
    assert_eq!(done(&["-V"]).stdout.trim(), concat!("weighbridge ", env!("CARGO_PKG_VERSION")));
    let long = done(&["--version"]).stdout;
    assert!(long.starts_with(concat!("weighbridge ", env!("CARGO_PKG_VERSION"), "\n")), "{long}");
    // Whoever works on goes on while the tests run: it need not be the newest commit.
    match told() {
        Some((commit, date)) => assert_eq!(git(&["log", "-1", "--format=%cs", &commit]), Some(date), "{long}"),
        None => {
            assert!(git(&["rev-parse", "HEAD"]).is_none() && long.contains("outside of a git repository"), "{long}")
        }
    }
    assert!(long.contains(std::env::consts::ARCH), "{long}");
    let with = long.lines().find(|line| line.starts_with("with:")).unwrap();
    assert_eq!(with.contains("parquet"), cfg!(feature = "parquet"), "{long}");
}

#[test]
fn a_result_tells_the_commit_of_the_tool() {
    let place = Place::new();
    let (out, file) = (place.text("run"), place.path("run/run.json"));
    json(&[
        "run",
        "--url",
        SLOW,
        "--warehouses",
        "2",
        "--pacing",
        "none",
        "--ramp",
        "0s",
        "--duration",
        "1s",
        "--out",
        &out,
    ]);
    let run: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let kept = run["tool"]["commit"].as_str().map(|kept| kept.trim_end_matches("-changed").to_owned());
    assert_eq!(kept, told().map(|(commit, _)| commit));
}

#[test]
fn bash_completes_commands_options_and_values() {
    let place = Place::new();
    let script = done(&["completions", "bash"]).stdout;
    std::fs::write(place.path("weighbridge.bash"), &script).unwrap();
    // What bash does on the tab key: the registered function is called with the words so far.
    let complete = |words: &[&str]| {
        let asked = r#"source "$0" && [[ $(complete -p weighbridge) =~ -F\ ([^ ]+) ]] &&
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && "${BASH_REMATCH[1]}" weighbridge "${!#}" "${@: -2:1}" &&
            printf '%s\n' "${COMPREPLY[@]}""#;
        let output = Command::new("bash")
            .args(["--norc", "-c", asked, &place.text("weighbridge.bash"), "weighbridge"])
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["sw"]), ["sweep"]);
    assert_eq!(complete(&["lab", "u"]), ["up"]);
    assert_eq!(complete(&["run", "--dur"]), ["--duration"]);
    assert_eq!(complete(&["completions", "po"]), ["powershell"]);
    assert!(complete(&[""]).contains(&"load".to_owned()));
}

#[test]
fn each_shell_has_its_completions() {
    let marks = [
        ("bash", "complete -F"),
        ("zsh", "#compdef weighbridge"),
        ("fish", "complete -c weighbridge"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion:arg-completer[weighbridge]"),
    ];
    for (shell, mark) in marks {
        let script = done(&["completions", shell]).stdout;
        assert!(script.contains(mark) && script.contains("null-server"), "{shell}");
    }
    refused(&["completions", "csh"], 2, &["csh", "bash"]);
    refused(&["completions"], 2, &["SHELL"]);
}

/// What groff says of pages; `None`: it is not here.
fn complaints(pages: &[String]) -> Option<String> {
    match Command::new("groff").args(["-man", "-Tutf8", "-ww", "-z"]).args(pages).output() {
        Ok(output) => Some(String::from_utf8(output.stderr).unwrap()),
        Err(e) if std::env::var("CI").is_ok_and(|ci| ci == "true") => panic!("groff: {e}"),
        Err(_) => None,
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let place = Place::new();
    let folder = place.text("share/man/man1");
    done(&["man", &folder]);
    let names = files(&place.path("share/man/man1"));
    for name in ["weighbridge.1", "weighbridge-run.1", "weighbridge-lab-up.1", "weighbridge-man.1"] {
        assert!(names.iter().any(|there| there == name), "no {name} in {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("network") || name.contains("help")), "{names:?}");
    let up = std::fs::read_to_string(place.path("share/man/man1/weighbridge-lab-up.1")).unwrap();
    assert!(up.contains(r"\-\-regions") && up.contains("weighbridge lab up galera"), "{up}");
    // The title has all its arguments, also where there is no date.
    let title = up.lines().find(|line| line.starts_with(".TH")).unwrap();
    assert!(!title.contains("  "), "{title}");
    assert_eq!(std::fs::read_to_string(place.path("share/man/man1/weighbridge.1")).unwrap(), done(&["man"]).stdout);

    let pages: Vec<String> = names.iter().map(|name| format!("{folder}/{name}")).collect();
    if let Some(said) = complaints(&pages) {
        assert_eq!(said, "");
        std::fs::write(&pages[0], up.replace(".SH NAME", ".NOSUCH NAME")).unwrap();
        assert!(complaints(&pages[..1]).unwrap().contains("NOSUCH"));
    }
    refused(&["man", &place.text("share/man/man1/weighbridge.1")], 1, &["weighbridge.1"]);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let impossible = ["verify", "--warehouses", "1", "--tpmc", "1000"];
    for (args, status) in [(&["completions", "zsh"][..], 0), (&["man"], 0), (&impossible, 3)] {
        let mut child = weighbridge(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!((child.wait().unwrap().code(), errors.as_str()), (Some(status), ""), "{args:?}");
    }
}
