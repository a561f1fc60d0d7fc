//! Runs that are under way, told as they go: server-sent events, one whenever the run has come further.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Path as At, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream::unfold;
use record::folder::{RUN_JSON, TIMELINE};

use crate::catalog::Stamp;
use crate::kinds;
use crate::site::{Site, nothing_here};

/// A run writes once a second, and more often nobody looks.
const PAUSE: Duration = Duration::from_secs(1);

/// How much longer the pause is at least than what a look costs: of a long run, whose client may drive on this very
/// machine, looking takes no more than a fiftieth of a core.
const PATIENCE: u32 = 50;

/// When the files of a run were written last.
type Stamps = (Option<Stamp>, Option<Stamp>);

/// What was told last of each run, for all who look at it.
#[derive(Default)]
pub(crate) struct Glances {
    last: Mutex<HashMap<PathBuf, (Stamps, Arc<str>)>>,
}

/// What a look gives.
enum Look {
    /// Nothing new.
    Same,
    /// What is to be told.
    Told(Stamps, Arc<str>),
    /// The run is no longer under way.
    Over,
}

impl Glances {
    fn look(&self, path: &Path, seen: Option<Stamps>) -> Look {
        let stamps = (Stamp::of(&path.join(RUN_JSON)), Stamp::of(&path.join(TIMELINE)));
        let known = || self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = known().get(path).filter(|(told, _)| *told == stamps && seen != Some(stamps)) {
            return Look::Told(stamps, text.clone());
        }
        match kinds::under_way(path) {
            Ok(Some(_)) if seen == Some(stamps) => Look::Same,
            Ok(Some((run, summary))) => {
                // The events' format has no way to tell a carriage return.
                let text: Arc<str> = report::live_parts(&run, &summary).replace('\r', " ").into();
                known().insert(path.to_owned(), (stamps, text.clone()));
                Look::Told(stamps, text)
            }
            Ok(None) | Err(_) => {
                known().remove(path);
                Look::Over
            }
        }
    }
}

pub(crate) async fn events(State(site): State<Arc<Site>>, At(address): At<String>) -> Response {
    let one = site.clone();
    let found = tokio::task::spawn_blocking(move || one.run(&address).filter(|path| one.root.examine(path).is_ok()));
    match found.await {
        Ok(Some(path)) => Sse::new(stream(site, path)).keep_alive(KeepAlive::default()).into_response(),
        _ => nothing_here(),
    }
}

/// Somebody who looks at a run.
struct Viewer {
    site: Arc<Site>,
    path: PathBuf,
    seen: Option<Stamps>,
    pause: Duration,
}

fn stream(site: Arc<Site>, path: PathBuf) -> impl Stream<Item = Result<Event, Infallible>> {
    let viewer = Viewer { site, path, seen: None, pause: Duration::ZERO };
    unfold(Some(viewer), async |viewer| {
        let mut viewer = viewer?;
        loop {
            tokio::time::sleep(viewer.pause).await;
            let (site, path, seen) = (viewer.site.clone(), viewer.path.clone(), viewer.seen);
            let look = tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                (site.glances.look(&path, seen), begun.elapsed())
            });
            let (look, took) = look.await.unwrap_or((Look::Over, Duration::ZERO));
            viewer.pause = PAUSE.max(took * PATIENCE);
            match look {
                Look::Same => {}
                Look::Told(stamps, text) => {
                    viewer.seen = Some(stamps);
                    return Some((Ok(Event::default().event("parts").data(text)), Some(viewer)));
                }
                // Browsers pass over an event without data.
                Look::Over => return Some((Ok(Event::default().event("end").data("the run has ended")), None)),
            }
        }
    })
}
