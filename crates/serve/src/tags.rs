//! Tags: words that people give to results, kept in `tags.json` of the folder, by the address of the result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use record::folder::write_whole;

use crate::root::Root;

/// The file of the tags.
pub(crate) const TAGS_JSON: &str = "tags.json";

/// Tags that a result may have.
const MAX_TAGS: usize = 20;

/// Characters of a tag.
const MAX_TAG_CHARS: usize = 40;

/// The tags of all results, by address.
pub(crate) type Tags = BTreeMap<String, Vec<String>>;

/// The file, one change at a time.
pub(crate) struct TagFile {
    path: PathBuf,
    changing: Mutex<()>,
}

impl TagFile {
    pub(crate) fn new(root: &Root) -> Self {
        TagFile { path: root.path().join(TAGS_JSON), changing: Mutex::new(()) }
    }

    /// The tags; none where there is no file that can be read.
    pub(crate) fn read(&self, root: &Root) -> Tags {
        self.read_or_why(root).unwrap_or_default()
    }

    fn read_or_why(&self, root: &Root) -> Result<Tags, String> {
        if !self.path.exists() {
            return Ok(Tags::new());
        }
        root.examine(&self.path)?;
        let text = std::fs::read(&self.path).map_err(|e| format!("{TAGS_JSON}: {e}"))?;
        serde_json::from_slice(&text).map_err(|e| format!("{TAGS_JSON}: not a list of tags: {e}"))
    }

    /// Gives a result these tags, and no others.
    pub(crate) fn set(&self, root: &Root, address: &str, words: &str) -> Result<(), String> {
        let tags = parsed(words)?;
        let _one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.read_or_why(root)?;
        if tags.is_empty() {
            all.remove(address);
        } else {
            all.insert(address.to_owned(), tags);
        }
        let text = serde_json::to_vec_pretty(&all).map_err(|e| e.to_string())?;
        write_whole(&self.path, &text).map_err(|e| root.without_place(&e.to_string()))
    }
}

/// Tags with commas between them.
fn parsed(words: &str) -> Result<Vec<String>, String> {
    let mut tags: Vec<String> =
        words.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    tags.sort();
    tags.dedup();
    if tags.len() > MAX_TAGS {
        return Err(format!("more than {MAX_TAGS} tags"));
    }
    match tags.iter().find(|tag| tag.chars().count() > MAX_TAG_CHARS || tag.chars().any(char::is_control)) {
        Some(_) => Err(format!("a tag is a line of at most {MAX_TAG_CHARS} characters")),
        None => Ok(tags),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_set_one_result_at_a_time_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let file = TagFile::new(&root);
        assert!(file.read(&root).is_empty());
        file.set(&root, "a", " nightly, baseline ,,nightly").unwrap();
        file.set(&root, "b", "nightly").unwrap();
        assert_eq!(file.read(&root)["a"], ["baseline", "nightly"]);
        file.set(&root, "a", " ").unwrap();
        assert_eq!(file.read(&root).keys().collect::<Vec<_>>(), ["b"]);
        assert!(file.set(&root, "a", &"x".repeat(41)).is_err() && file.set(&root, "a", "a\nb").is_err());
    }

    #[test]
    fn what_can_not_be_read_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        std::fs::write(folder.path().join(TAGS_JSON), "[1").unwrap();
        let file = TagFile::new(&root);
        assert!(file.read(&root).is_empty());
        assert!(file.set(&root, "a", "x").unwrap_err().contains(TAGS_JSON));
        assert_eq!(std::fs::read_to_string(folder.path().join(TAGS_JSON)).unwrap(), "[1");
    }
}
