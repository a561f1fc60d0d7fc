//! ARCHITECTURE.md: every file that it names exists, and every item that it names is defined in the sources.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The texts between backticks, outside of indented blocks.
fn code_spans(page: &str) -> Vec<String> {
    let prose: Vec<&str> = page.lines().filter(|line| !line.starts_with("    ") || line.contains('`')).collect();
    prose.join("\n").split('`').skip(1).step_by(2).map(|span| span.replace('\n', " ")).collect()
}

/// All Rust sources of the crates.
fn sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Whether a source defines an item of this name.
fn defines(sources: &str, name: &str) -> bool {
    let kinds = ["fn", "struct", "enum", "trait", "const", "static", "type", "mod"];
    let declared = kinds.iter().any(|kind| {
        sources.match_indices(&format!("{kind} {name}")).any(|(at, found)| {
            let next = sources[at + found.len()..].chars().next();
            next.is_some_and(|next| !next.is_alphanumeric() && next != '_')
        })
    });
    let variant = || sources.contains(&format!("\n    {name},")) || sources.contains(&format!("\n    {name}("));
    declared || variant()
}

#[test]
fn every_file_and_item_of_the_architecture_exists() {
    let root = root();
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let described = page.split("## Decisions").next().unwrap();
    let mut all = String::new();
    sources(&root.join("crates"), &mut all);
    let spans = code_spans(described);
    assert!(spans.len() > 100, "only {} names found", spans.len());
    for span in &spans {
        if span.contains('/') {
            assert!(root.join(span).exists(), "ARCHITECTURE.md names `{span}`, which is not there");
        } else if span.chars().next().is_some_and(char::is_uppercase) && !span.contains(' ') {
            assert!(defines(&all, span), "ARCHITECTURE.md names `{span}`, which no source defines");
        }
    }
}

/// The functions of the path of a run, `name` in `file`, are where the page says.
#[test]
fn the_path_of_a_run_can_be_followed() {
    let root = root();
    let page = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let path = page.split("## The path of a run").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let spans: Vec<&str> = path.split('`').collect();
    let mut followed = 0;
    for window in spans.windows(3) {
        let [name, between, file] = window else { continue };
        if between.trim() != "in" || !file.ends_with(".rs") {
            continue;
        }
        let source = std::fs::read_to_string(root.join(file)).unwrap();
        assert!(defines(&source, name), "ARCHITECTURE.md says that `{name}` is in `{file}`");
        followed += 1;
    }
    assert!(followed >= 10, "only {followed} functions");
}
