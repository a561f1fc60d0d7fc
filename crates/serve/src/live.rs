//! Runs that are under way, shown as they go: server-sent events, one whenever the run has come further.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use axum::extract::{Path as At, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream::unfold;
use record::folder::{RUN_JSON, TIMELINE};

use crate::catalog::Stamp;
use crate::result_types;
use crate::site::{Site, nothing_here};

/// A run writes once a second, and more often nobody looks.
const PAUSE: Duration = Duration::from_secs(1);

/// How much longer the pause is at least than what a look costs: of a long run, whose client may drive on this very
/// machine, looking takes no more than a fiftieth of a core, however many look.
const PAUSE_PER_READ: u32 = 50;

/// When the files of a run were written last.
type Stamps = (Option<Stamp>, Option<Stamp>);

/// What is known of the runs that somebody looks at.
#[derive(Default)]
pub(crate) struct Glances {
    watched: Mutex<HashMap<PathBuf, Weak<Mutex<Glance>>>>,
}

impl Glances {
    /// The glance of a run, which lasts as long as anybody has it.
    fn for_run(&self, path: &Path) -> Arc<Mutex<Glance>> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, glance| glance.strong_count() > 0);
        let known = watched.get(path).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let glance = Arc::default();
            watched.insert(path.to_owned(), Arc::downgrade(&glance));
            glance
        })
    }
}

/// The last look at a run, for all who look at it: one looks, and the others wait for what it gives.
#[derive(Default)]
struct Glance {
    /// The page parts to send, and the files they show; `None`: the run is not under way.
    current: Option<(Stamps, Arc<str>)>,
    /// When the next look is due.
    due: Option<Instant>,
}

impl Glance {
    /// What is known of a run; looks at it first if that is due.
    fn look(&mut self, path: &Path) -> Option<(Stamps, Arc<str>)> {
        if self.pause().is_zero() {
            let begun = Instant::now();
            self.current = read(path, self.current.take());
            self.due = Some(Instant::now() + PAUSE.max(begun.elapsed() * PAUSE_PER_READ));
        }
        self.current.clone()
    }

    /// The time until the next look.
    fn pause(&self) -> Duration {
        self.due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()))
    }
}

/// The page parts of a run, where `before` was sent last.
fn read(path: &Path, before: Option<(Stamps, Arc<str>)>) -> Option<(Stamps, Arc<str>)> {
    let stamps = (Stamp::from_file(&path.join(RUN_JSON)), Stamp::from_file(&path.join(TIMELINE)));
    let (run, summary) = result_types::under_way(path).ok()??;
    let same = before.filter(|(seen, _)| *seen == stamps);
    // The events' format has no way to tell a carriage return.
    Some(same.unwrap_or_else(|| (stamps, report::live_parts(&run, &summary).replace('\r', " ").into())))
}

pub(crate) async fn events(State(site): State<Arc<Site>>, At(address): At<String>) -> Response {
    let one = site.clone();
    let found = tokio::task::spawn_blocking(move || one.run(&address).filter(|path| one.root.examine(path).is_ok()));
    match found.await {
        Ok(Some(path)) => Sse::new(stream(&site, path)).keep_alive(KeepAlive::default()).into_response(),
        _ => nothing_here(),
    }
}

/// Somebody who looks at a run.
struct Viewer {
    path: PathBuf,
    glance: Arc<Mutex<Glance>>,
    seen: Option<Stamps>,
    pause: Duration,
}

fn stream(site: &Site, path: PathBuf) -> impl Stream<Item = Result<Event, Infallible>> + use<> {
    let viewer = Viewer { glance: site.glances.for_run(&path), path, seen: None, pause: Duration::ZERO };
    unfold(Some(viewer), async |viewer| {
        let mut viewer = viewer?;
        loop {
            tokio::time::sleep(viewer.pause).await;
            let (path, glance) = (viewer.path.clone(), viewer.glance.clone());
            let look = tokio::task::spawn_blocking(move || {
                let mut glance = glance.lock().unwrap_or_else(PoisonError::into_inner);
                (glance.look(&path), glance.pause())
            });
            let (current, pause) = look.await.unwrap_or_default();
            viewer.pause = pause;
            // Browsers pass over an event without data.
            let Some((stamps, text)) = current else {
                return Some((Ok(Event::default().event("end").data("the run has ended")), None));
            };
            if viewer.seen != Some(stamps) {
                viewer.seen = Some(stamps);
                return Some((Ok(Event::default().event("parts").data(text)), Some(viewer)));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use record::RunFolder;
    use record::run::{Ended, RunRecord};

    use super::*;

    #[test]
    fn all_who_look_share_one_glance_which_goes_with_the_last() {
        let glances = Glances::default();
        let (first, second) = (glances.for_run(Path::new("run")), glances.for_run(Path::new("run")));
        assert!(Arc::ptr_eq(&first, &second));
        drop((first, second));
        let other = glances.for_run(Path::new("other"));
        let watched = glances.watched.lock().unwrap();
        assert!(watched.len() == 1 && watched["other".as_ref() as &Path].ptr_eq(&Arc::downgrade(&other)));
    }

    #[test]
    fn nobody_looks_before_it_is_due() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let run = RunFolder::create(&path).unwrap();
        let mut record: RunRecord =
            serde_json::from_slice(include_bytes!("../../../fuzz/seeds/run/small.json")).unwrap();
        record.ended = Ended::Running;
        run.write_record(&record).unwrap();
        run.timeline(&record.plan).unwrap();
        let mut glance = Glance::default();
        let (stamps, text) = glance.look(&path).unwrap();
        assert!(!glance.pause().is_zero() && text.contains("about to begin"));

        std::fs::remove_dir_all(&path).unwrap();
        glance.due = Some(Instant::now() + Duration::from_secs(3600));
        assert!(glance.look(&path).is_some_and(|(known, _)| known == stamps));
        glance.due = None;
        assert!(glance.look(&path).is_none());
    }
}
