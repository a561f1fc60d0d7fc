//! The steps of adding a result type, as the crate's documentation lists them, hold for every one there is.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

/// Series of runs: their documents have no type of their own.
const SERIES: [&str; 3] = ["run", "scenario", "search"];

#[test]
fn every_result_type_follows_the_checklist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let documentation = fs::read_to_string(crates.join("report/src/lib.rs")).unwrap();
    let steps = documentation.lines().filter(|line| line.starts_with("//! ") && line.contains("/NAME.rs`"));
    let steps: Vec<Vec<&str>> = steps.map(|line| line.split('`').skip(1).step_by(2).collect()).collect();
    assert_eq!(steps.len(), 4);
    let files = fs::read_dir(crates.join("serve/src/result_types")).unwrap();
    let names: Vec<String> =
        files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    for name in ["acid", "advice", "compare", "regions", "sweep", "timing", "tuning"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    for name in names.iter().filter(|name| !SERIES.contains(&name.as_str())) {
        for step in &steps {
            let [file, item, registry] = step[..] else { panic!("a step names a file, an item, a file: {step:?}") };
            let file = file.replace("NAME", name);
            assert!(crates.join(&file).is_file(), "{file} is missing");
            let item = item.replace("NAME", name);
            assert!(fs::read_to_string(crates.join(registry)).unwrap().contains(&item), "{registry} lacks `{item}`");
        }
    }
}
