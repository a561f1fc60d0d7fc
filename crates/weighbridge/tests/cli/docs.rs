//! The book: every command line in it is one that the program takes (`docs_commands` carries them out), and every link leads
//! somewhere.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::support::say;

/// Schemes that a page uses as an example of one that is yet to be written.
const IMAGINED: &str = "exampledb://";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All pages: those at the root, and those of the book.
pub(crate) fn pages() -> Vec<PathBuf> {
    let root = root();
    let mut pages: Vec<PathBuf> = ["README.md", "ARCHITECTURE.md"].iter().map(|name| root.join(name)).collect();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// A command line of a page.
pub(crate) struct Line {
    /// The page and the line's number, from 1.
    pub(crate) place: String,
    /// The words behind `weighbridge`.
    pub(crate) words: Vec<String>,
}

/// The words of a line as a shell would have them, up to a comment, a pipe, a redirection or a `&`. `None`: it is no
/// line to be typed, but says what may be (`[--nodes N]`, `KIND | --all`).
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                word.get_or_insert_default().extend(characters.by_ref().take_while(|next| *next != character));
            }
            ' ' => words.extend(word.take()),
            '#' | '&' | '>' if word.is_none() => break,
            '|' if word.is_none() && characters.as_str().starts_with(" --") => return None,
            '[' if word.is_none() => return None,
            '|' if word.is_none() => break,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Some(words)
}

/// The command lines of a page: in fenced blocks of `sh`, and in blocks that are indented.
pub(crate) fn lines(page: &Path) -> Vec<Line> {
    let name = page.strip_prefix(root()).unwrap().display().to_string();
    let text = std::fs::read_to_string(page).unwrap();
    let mut found = Vec::new();
    let mut fence: Option<String> = None;
    let mut numbered = text.lines().zip(1..);
    while let Some((line, number)) = numbered.next() {
        let bare = line.trim();
        if let Some(language) = bare.strip_prefix("```") {
            fence = match fence {
                Some(_) => None,
                None => Some(language.to_owned()),
            };
            continue;
        }
        let shown = match &fence {
            Some(language) => language == "sh",
            None => line.starts_with("    "),
        };
        let typed = bare.strip_prefix("$ ").unwrap_or(bare);
        let Some(rest) = typed.strip_prefix("weighbridge ").filter(|_| shown) else { continue };
        let mut whole = rest.to_owned();
        while whole.ends_with('\\') {
            whole.pop();
            whole.push_str(numbered.next().unwrap().0.trim());
        }
        found.extend(words(&whole).map(|words| Line { place: format!("{name}:{number}"), words }));
    }
    found
}

/// A line as it can be parsed: what stands for a user's own URL is one.
fn with_urls(words: &[String]) -> Vec<String> {
    let plain = |word: &String| {
        let named = word.split(['=', ',']).any(|part| part == "URL");
        if word.starts_with(IMAGINED) || word == "$urls" {
            "sqlite:x.db".to_owned()
        } else if named {
            word.replace("URL", "sqlite:x.db")
        } else {
            word.clone()
        }
    };
    words.iter().map(plain).collect()
}

#[test]
fn every_command_line_in_the_docs_is_taken() {
    let all: Vec<Line> = pages().iter().flat_map(|page| lines(page)).collect();
    assert!(all.len() > 150, "only {} lines were found", all.len());
    let commands: BTreeSet<&str> = all.iter().map(|line| line.words[0].as_str()).collect();
    assert!(commands.len() > 15, "only {commands:?}");

    // With `--help` at its end a line is parsed word by word and does nothing: an unknown flag, a value that can't be,
    // or a word too many comes first.
    let refused = |line: &Line| {
        let typed = with_urls(&line.words);
        let (own, behind) = typed.split_at(typed.iter().position(|word| word == "--").unwrap_or(typed.len()));
        let asked: Vec<&str> = own.iter().map(String::as_str).chain(["--help"]).collect();
        let said = say(&asked);
        let line = format!("{}: weighbridge {} {}\n{}", line.place, own.join(" "), behind.join(" "), said.stderr);
        (said.status != 0 || !said.stdout.contains("Usage:")).then_some(line)
    };
    let share = all.len().div_ceil(4);
    let refusals: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> = all
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().filter_map(refused).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(refusals.is_empty(), "{}", refusals.join("\n"));
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The anchors of a page.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(page).unwrap();
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if let Some((marks, heading)) = line.split_once(' ').filter(|_| !fenced)
            && !marks.is_empty()
            && marks.bytes().all(|b| b == b'#')
        {
            found.insert(anchor(heading));
        }
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The targets of the links of a page, `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for target in links(&text).filter(|target| !target.contains("://")) {
            followed += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = match path {
                "" => page.clone(),
                path => plain(&page.with_file_name(path)),
            };
            if !file.exists() || !heading.is_empty() && !anchors(&file).contains(heading) {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(followed > 100, "only {followed} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_contents_name_every_page() {
    let docs = root().join("docs");
    let contents = docs.join("README.md");
    let text = std::fs::read_to_string(&contents).unwrap();
    let named: BTreeSet<PathBuf> = links(&text).map(|target| plain(&docs.join(target))).collect();
    let missing: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| page.starts_with(&docs) && *page != contents && !named.contains(page))
        .collect();
    assert!(missing.is_empty(), "docs/README.md names no {missing:?}");
}
