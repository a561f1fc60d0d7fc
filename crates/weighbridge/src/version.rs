//! Which build this is.

use std::sync::LazyLock;

/// The commit, with `-changed` behind it if the sources were; empty where git could not tell.
pub(crate) const COMMIT: &str = env!("WEIGHBRIDGE_COMMIT");

/// The date of the commit, as 2026-11-22; empty with it.
pub(crate) const COMMIT_DATE: &str = env!("WEIGHBRIDGE_COMMIT_DATE");

/// What can be left out of a build, and whether it is in this one.
const PARTS: [(&str, bool); 4] = [
    ("odbc", !cfg!(target_feature = "crt-static")),
    ("parquet", cfg!(feature = "parquet")),
    ("object-store", cfg!(feature = "object-store")),
    ("otlp", cfg!(feature = "otlp")),
];

/// What `--version` says behind the name.
pub(crate) fn long() -> &'static str {
    static LONG: LazyLock<String> = LazyLock::new(|| {
        let commit = match COMMIT {
            "" => "not known: built outside of a git repository".to_owned(),
            commit => format!("{commit} of {COMMIT_DATE}"),
        };
        let linked = if cfg!(target_feature = "crt-static") { "statically" } else { "dynamically" };
        let parts = |there: bool| {
            let names: Vec<&str> = PARTS.iter().filter(|part| part.1 == there).map(|part| part.0).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        format!(
            "{}\ncommit:    {commit}\nbuilt for: {}, linked {linked}\nwith:      {}\nwithout:   {}",
            env!("CARGO_PKG_VERSION"),
            env!("WEIGHBRIDGE_TARGET"),
            parts(true),
            parts(false),
        )
    });
    &LONG
}
