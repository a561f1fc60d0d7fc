//! The addresses, and what answers at each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path as At, Query, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE, WWW_AUTHENTICATE};
use axum::http::{HeaderName, Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use report::Page;
use tokio::sync::Semaphore;

use crate::catalog::{Catalog, Entry};
use crate::frame::{Breadcrumb, Width, add_headers, escaped, framed, refused};
use crate::guard::{Guard, Refusal};
use crate::list::{self, Asked};
use crate::live::Glances;
use crate::result_types::{self, ResultType};
use crate::root::Root;
use crate::tags::{TagFile, Tags};
use crate::{compare, live};

/// Everything that answers need.
pub(crate) struct Site {
    pub(crate) root: Root,
    /// The folder's name.
    pub(crate) place: String,
    pub(crate) catalog: Catalog,
    pub(crate) glances: Glances,
    pub(crate) tags: TagFile,
    pub(crate) guard: Guard,
    pub(crate) writable: bool,
    /// Pages and lists that are made at the same time, so that the rest of the machine, which may be measuring, is left in peace.
    pub(crate) pages: Arc<Semaphore>,
}

type Fields = Query<Vec<(String, String)>>;

const STYLE: &str = include_str!("site.css");
const LIVE: &str = include_str!("live.js");

/// Where tags are changed.
const TAGS: &str = "/tags";

pub(crate) fn router(site: Arc<Site>) -> Router {
    let script = |text: &'static str| asset("text/javascript; charset=utf-8", text);
    let mut router = Router::new()
        .route("/", get(results))
        .route("/compare", get(compared))
        .route("/live/{*address}", get(live::events))
        .route("/{section}/{*address}", get(result))
        .route("/style.css", get(asset("text/css; charset=utf-8", [report::STYLE, STYLE].concat())))
        .route("/script.js", get(script(report::SCRIPT)))
        .route("/live.js", get(script(LIVE)));
    if site.writable {
        router = router.route(TAGS, post(tag));
    }
    let guard = middleware::from_fn_with_state(site.clone(), guarded);
    router.fallback(async || nothing_here()).layer(guard).with_state(site)
}

/// A text that belongs to the program.
type Asset = ([(HeaderName, &'static str); 2], String);

fn asset(kind: &'static str, text: impl Into<String>) -> Asset {
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "no-cache")], text.into())
}

/// Lets through what names this server, shows the token, and changes nothing unless it comes from here.
async fn guarded(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&site, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => *refusal,
    };
    let kept = response.headers().get(CACHE_CONTROL).cloned();
    add_headers(response.headers_mut());
    if let Some(kept) = kept {
        response.headers_mut().insert(CACHE_CONTROL, kept);
    }
    response
}

fn admitted(site: &Site, request: &Request) -> Result<(), Box<Response>> {
    let headers = request.headers();
    let uri = request.uri();
    let guard = &site.guard;
    let refuse = |refusal| Box::new(refusal_response(refusal));
    guard.knows(headers, uri).map_err(refuse)?;
    if let Some(answer) = shown_token(site, request.method(), uri) {
        return Err(Box::new(answer));
    }
    guard.admits(headers).map_err(refuse)?;
    match *request.method() {
        Method::GET | Method::HEAD => Ok(()),
        Method::POST if site.writable && uri.path() == TAGS => guard.comes_from_here(headers).map_err(refuse),
        _ => Err(Box::new(
            (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], "Nothing is changed here.\n").into_response(),
        )),
    }
}

/// Where the address shows the token: keeps it in a cookie, and out of the address.
fn shown_token(site: &Site, method: &Method, uri: &Uri) -> Option<Response> {
    let Query(fields): Fields = Query::try_from_uri(uri).ok()?;
    let (_, shown) = fields.iter().find(|(name, _)| name == "token")?;
    let cookie = site.guard.cookie(shown).filter(|_| method == Method::GET)?;
    let others = fields.iter().filter(|(name, _)| name != "token");
    let query: Vec<String> =
        others.map(|(name, value)| format!("{}={}", list::encoded(name), list::encoded(value))).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    // A path that begins with two slashes would lead to another server.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    Some(([(SET_COOKIE, cookie)], Redirect::to(&format!("{path}{mark}{}", query.join("&")))).into_response())
}

fn refusal_response(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Name => (
            StatusCode::MISDIRECTED_REQUEST,
            "This server goes by another name: ask for it by the address that it listens at, or name it with --name.\n",
        )
            .into_response(),
        Refusal::Origin => (StatusCode::FORBIDDEN, "A change must come from a page of this server.\n").into_response(),
        Refusal::Token => {
            let ask = html! {
                p { "Whoever started this server has a token for you." }
                form method="get" action="/" {
                    label { "Token " input type="password" name="token" autocomplete="current-password" required; }
                    " " button { "Enter" }
                }
            };
            let page = refused(StatusCode::UNAUTHORIZED, "A token is needed", &ask);
            ([(WWW_AUTHENTICATE, "Bearer")], page).into_response()
        }
    }
}

pub(crate) fn nothing_here() -> Response {
    refused(
        StatusCode::NOT_FOUND,
        "There is nothing here",
        &html! { p { "No result has this address, or no longer." } },
    )
}

fn went_wrong() -> Response {
    refused(StatusCode::INTERNAL_SERVER_ERROR, "This could not be shown", &html! { p { "It can't be read as it is." } })
}

/// Reads files on a thread that may wait for them.
async fn reading(site: Arc<Site>, read: impl FnOnce(&Site) -> Response + Send + 'static) -> Response {
    tokio::task::spawn_blocking(move || read(&site)).await.unwrap_or_else(|_| went_wrong())
}

/// Makes a page when it is its turn; the turn lasts as long as the work, whoever waits for it.
async fn in_turn(site: Arc<Site>, read: impl FnOnce(&Site) -> Response + Send + 'static) -> Response {
    let Ok(turn) = site.pages.clone().acquire_owned().await else { return went_wrong() };
    reading(site, move |site| {
        let _turn = turn;
        read(site)
    })
    .await
}

async fn results(State(site): State<Arc<Site>>, Query(fields): Fields, uri: Uri) -> Response {
    in_turn(site, move |site| {
        let entries = site.catalog.list(&site.root);
        list::page(&site.place, &Asked::from_fields(&fields), &entries, &site.tags.read(&site.root), &uri)
    })
    .await
}

async fn compared(State(site): State<Arc<Site>>, Query(fields): Fields) -> Response {
    in_turn(site, move |site| compare::answer(site, &fields)).await
}

async fn result(State(site): State<Arc<Site>>, At((section, address)): At<(String, String)>) -> Response {
    in_turn(site, move |site| site.show(&section, &address)).await
}

async fn tag(State(site): State<Arc<Site>>, Form(fields): Form<Vec<(String, String)>>) -> Response {
    reading(site, move |site| {
        let of = |name: &str| fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value);
        let address = of("address");
        let Some((path, kind)) = site.find(address) else { return nothing_here() };
        match site.tags.set(&site.root, &site.root.address(&path), of("tags")) {
            Ok(()) => Redirect::to(&format!("/{}/{}#tags", kind.section, escaped(address))).into_response(),
            Err(why) => refused(StatusCode::UNPROCESSABLE_ENTITY, "These tags were not kept", &html! { p { (why) } }),
        }
    })
    .await
}

impl Site {
    /// What lies at an address, if it is a result.
    fn find(&self, address: &str) -> Option<(PathBuf, &'static ResultType)> {
        let path = self.root.find(address)?;
        let kind = result_types::detect(&path)?;
        Some((path, kind))
    }

    /// The folder of a run.
    pub(crate) fn run(&self, address: &str) -> Option<PathBuf> {
        self.find(address).filter(|(_, kind)| kind.section == "runs").map(|(path, _)| path)
    }

    fn show(&self, section: &str, address: &str) -> Response {
        let Some((path, kind)) = self.find(address).filter(|_| result_types::of_section(section).is_some()) else {
            return nothing_here();
        };
        if kind.section != section {
            return Redirect::to(&format!("/{}/{}", kind.section, escaped(address))).into_response();
        }
        let way = Breadcrumb { here: address.rsplit('/').next().unwrap_or(address), series: self.series(&path) };
        if let Err(why) = self.root.examine(&path) {
            return damaged(&why, &way);
        }
        if section == "runs"
            && let Ok(Some((run, summary))) = result_types::under_way(&path)
        {
            let page = report::live_page(&run, &summary, &format!("/live/{}", escaped(address)));
            return framed(StatusCode::OK, &page, Some(&way), Width::Text, true);
        }
        match (kind.page)(&path) {
            Ok(page) => self.finished(page, kind, address, &way),
            Err(why) => damaged(&self.root.without_place(&why), &way),
        }
    }

    fn finished(&self, mut page: Page, kind: &ResultType, address: &str, way: &Breadcrumb<'_>) -> Response {
        let tags = self.tags.read(&self.root);
        if kind.is_series {
            let entries = self.catalog.list(&self.root);
            let runs: Vec<&Entry> = entries.iter().filter(|entry| entry.series == address).collect();
            page.content = html! {
                (page.content)
                @if !runs.is_empty() {
                    section id="runs" aria-labelledby="runs-h" {
                        h2 id="runs-h" { "Runs" }
                        (list::table("What it measured, newest first", &runs, &tags, false))
                    }
                }
            };
        }
        page.content = html! { (page.content) (self.tagging(address, &tags)) };
        let width = if kind.is_series { Width::Table } else { Width::Text };
        framed(StatusCode::OK, &page, Some(way), width, false)
    }

    /// The tags of a result, and where they are changed.
    fn tagging(&self, address: &str, tags: &Tags) -> Markup {
        let mine = tags.get(address).map(Vec::as_slice).unwrap_or_default();
        html! {
            @if self.writable || !mine.is_empty() {
                section id="tags" aria-labelledby="tags-h" {
                    h2 id="tags-h" { "Tags" }
                    @if !mine.is_empty() {
                        p { @for tag in mine { a.tag href={ "/?tag=" (list::encoded(tag)) } { (tag) } } }
                    }
                    @if self.writable {
                        form.tagging method="post" action=(TAGS) {
                            input type="hidden" name="address" value=(address);
                            label.grow { "Tags, with commas between them" input type="text" name="tags" value=(mine.join(", ")); }
                            button { "Keep" }
                        }
                    }
                }
            }
        }
    }

    /// The series that a result lies in: its name and its link.
    fn series(&self, path: &Path) -> Option<(String, String)> {
        let above = path.ancestors().skip(1).take_while(|above| *above != self.root.path());
        let (above, kind) =
            above.filter_map(|above| Some((above, result_types::detect(above)?))).find(|(_, kind)| kind.is_series)?;
        let address = self.root.address(above);
        Some((address.clone(), format!("/{}/{}", kind.section, escaped(&address))))
    }
}

fn damaged(why: &str, way: &Breadcrumb<'_>) -> Response {
    let page = Page {
        title: "Damaged".into(),
        header: html! { header { p.brand { "weighbridge" } h1 { "This result is damaged" } } },
        content: html! { p { (why) } },
        footer: html! {},
    };
    framed(StatusCode::UNPROCESSABLE_ENTITY, &page, Some(way), Width::Text, false)
}
