//! A session that does one thing after the other on a task of its own, so that it can be seen to wait.

use std::time::Duration;

use ::tpcc::input::Input;
use target::breakpoint::{Breakpoint, Paused};
use target::{Access, Answer, Class, Error, Isolation, Session, Statement, StatementBatch, Url, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::tpcc::{Output, Profile, Style, execute, prepare};

/// How long anything may take: longer than the databases' own limits of a wait that is resolved at all.
pub(super) const LIMIT: Duration = Duration::from_secs(60);

/// How often a refused transaction is tried again.
const ATTEMPTS: usize = 50;

/// What it is asked to do.
#[derive(Debug)]
enum Ask {
    /// One of the five transactions, and how often it is tried again after a refusal, then without the breakpoint.
    Transact(Input, Option<Breakpoint>, usize),
    /// Statements as one transaction, once.
    Change(Vec<(String, Vec<Value<'static>>)>),
    /// Opens a transaction.
    Begin,
    /// A statement of the workload inside it.
    Call(&'static Statement, Vec<Value<'static>>),
    /// Another statement inside it.
    Query(String, Vec<Value<'static>>),
    /// Its end: COMMIT, or ROLLBACK.
    End(bool),
}

/// What it answers.
#[derive(Debug)]
pub(super) enum Got {
    /// What a terminal would be shown, and the refusals before it.
    Output(Box<Output>, Vec<String>),
    /// Rows.
    Answer(Answer),
    /// That it is done.
    Done,
}

type Reply = oneshot::Sender<Result<Got, Error>>;

/// The session's other end. Dropped, it ends the session whatever that is doing.
#[derive(Debug)]
pub(super) struct Actor {
    inbox: mpsc::UnboundedSender<(Ask, Reply)>,
    task: JoinHandle<()>,
    patience: Duration,
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Actor {
    /// `patience` is how long an answer may take until the session is taken for one that waits for another.
    pub(super) async fn connect(url: &Url, isolation: Isolation, patience: Duration) -> Result<Self, Error> {
        let mut session = Session::connect(url).await?;
        let profile = Profile::new(Style::Row, isolation, session.dialect())?;
        prepare(&mut session, profile).await?;
        let (inbox, mut asked) = mpsc::unbounded_channel::<(Ask, Reply)>();
        let task = tokio::spawn(async move {
            let mut stage = Stage { session, profile, is_refused: false };
            while let Some((ask, reply)) = asked.recv().await {
                let _ = reply.send(stage.perform(ask).await);
            }
        });
        Ok(Self { inbox, task, patience })
    }

    fn ask(&self, ask: Ask) -> Pending {
        let (reply, answer) = oneshot::channel();
        // Without its task the answer says that it is gone.
        let _ = self.inbox.send((ask, reply));
        Pending { answer, patience: self.patience }
    }

    pub(super) fn transact(&self, input: Input) -> Pending {
        self.ask(Ask::Transact(input, None, ATTEMPTS))
    }

    /// Stops at the breakpoint, to be let on.
    pub(super) fn transact_to(&self, input: Input, breakpoint: Breakpoint) -> Pending {
        self.ask(Ask::Transact(input, Some(breakpoint), ATTEMPTS))
    }

    /// Stops at the breakpoint, to be sent back: whoever is refused there must not try again.
    pub(super) fn transact_to_fail(&self, input: Input, breakpoint: Breakpoint) -> Pending {
        self.ask(Ask::Transact(input, Some(breakpoint), 0))
    }

    pub(super) fn change(&self, statements: Vec<(String, Vec<Value<'static>>)>) -> Pending {
        self.ask(Ask::Change(statements))
    }

    pub(super) fn begin(&self) -> Pending {
        self.ask(Ask::Begin)
    }

    pub(super) fn call(&self, statement: &'static Statement, values: Vec<Value<'static>>) -> Pending {
        self.ask(Ask::Call(statement, values))
    }

    pub(super) fn query(&self, sql: impl Into<String>, values: Vec<Value<'static>>) -> Pending {
        self.ask(Ask::Query(sql.into(), values))
    }

    pub(super) fn commit(&self) -> Pending {
        self.ask(Ask::End(true))
    }

    pub(super) fn roll_back(&self) -> Pending {
        self.ask(Ask::End(false))
    }
}

/// An answer to come.
#[derive(Debug)]
pub(super) struct Pending {
    answer: oneshot::Receiver<Result<Got, Error>>,
    patience: Duration,
}

impl Pending {
    /// The answer, if it comes before the session must be taken for one that waits.
    pub(super) async fn soon(&mut self) -> Option<Result<Got, Error>> {
        let answer = tokio::time::timeout(self.patience, &mut self.answer).await.ok()?;
        Some(answer.unwrap_or_else(|_| Err(gone())))
    }

    /// The answer.
    ///
    /// # Errors
    /// What the database says; or that no answer came, which is something else than a wait for another session.
    pub(super) async fn end(self) -> Result<Got, Error> {
        match tokio::time::timeout(LIMIT, self.answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(gone())),
            Err(_) => Err(Error::permanent(format!("no answer within {} s", LIMIT.as_secs()))),
        }
    }

    /// Waits until the session stands at its breakpoint.
    ///
    /// # Errors
    /// If it ends before, or does not come there.
    pub(super) async fn until(&mut self, held: &mut Paused) -> Result<(), Error> {
        let early = tokio::select! {
            reached = held.reached() => if reached { return Ok(()) } else { None },
            ended = &mut self.answer => Some(ended),
            () = tokio::time::sleep(LIMIT) => None,
        };
        let why = match early {
            Some(Ok(Err(e))) => format!(": {e}"),
            _ => String::new(),
        };
        Err(Error::permanent(format!("the first transaction could not be stopped where it must{why}")))
    }
}

fn gone() -> Error {
    Error::new(Class::Lost, None, "the session has ended")
}

/// What a refusal is called in a report.
pub(super) fn named(e: &Error) -> String {
    e.code().map_or_else(|| e.to_string(), str::to_owned)
}

struct Stage {
    session: Session,
    profile: Profile,
    /// Whether the transaction was refused, so that what would follow in it must not be done.
    is_refused: bool,
}

impl Stage {
    async fn perform(&mut self, ask: Ask) -> Result<Got, Error> {
        match ask {
            Ask::Transact(input, breakpoint, attempts) => self.transact(&input, breakpoint, attempts).await,
            Ask::Change(statements) => {
                let done = self.change(&statements).await;
                if done.is_err() {
                    let _ = self.session.rollback().await;
                }
                done.map(|()| Got::Done)
            }
            Ask::Begin => {
                self.is_refused = false;
                self.session.begin(self.profile.isolation, Access::ReadWrite);
                Ok(Got::Done)
            }
            Ask::Call(statement, values) => {
                let mut batch = StatementBatch::new();
                batch.call(statement, &values);
                self.guard()?;
                let answered = self.session.send(&batch).await;
                self.keep(answered.map(|[answer]| Got::Answer(answer))).await
            }
            Ask::Query(sql, values) => {
                self.guard()?;
                let answered = self.session.query(&sql, &values).await;
                self.keep(answered.map(Got::Answer)).await
            }
            Ask::End(commit) => {
                self.guard()?;
                let ended = if commit { self.session.commit().await } else { self.session.rollback().await };
                self.keep(ended.map(|()| Got::Done)).await
            }
        }
    }

    fn guard(&self) -> Result<(), Error> {
        if self.is_refused { Err(Error::new(Class::Retry, None, "refused before")) } else { Ok(()) }
    }

    async fn keep(&mut self, done: Result<Got, Error>) -> Result<Got, Error> {
        if done.is_err() {
            self.is_refused = true;
            let _ = self.session.rollback().await;
        }
        done
    }

    async fn transact(&mut self, input: &Input, breakpoint: Option<Breakpoint>, attempts: usize) -> Result<Got, Error> {
        if let Some(breakpoint) = breakpoint {
            self.session.stop_at(breakpoint);
        }
        let mut refusals = Vec::new();
        loop {
            match execute(&mut self.session, self.profile, input).await {
                Ok(output) => return Ok(Got::Output(Box::new(output), refusals)),
                Err(e) if e.class() == Class::Retry && refusals.len() < attempts => {
                    refusals.push(named(&e));
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                Err(e) => return Err(e),
            }
        }
    }

    async fn change(&mut self, statements: &[(String, Vec<Value<'static>>)]) -> Result<(), Error> {
        self.session.begin(self.profile.isolation, Access::ReadWrite);
        for (sql, values) in statements {
            self.session.query(sql, values).await?;
        }
        self.session.commit().await
    }
}
