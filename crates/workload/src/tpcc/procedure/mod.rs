//! Style `procedure`: each transaction as a routine inside the server, called in one round trip.
//!
//! A file for each language and transaction holds the routine's SQL, to be read beside its clause. In the database each
//! routine has a comment with the fingerprint of its source, so that a missing or outdated routine is created again.

mod calls;
mod replies;

use ::tpcc::input::Kind;
use target::null_reply::Kind::{Int, Numeric, Text};
use target::{Class, Dialect, Error, RoutineLanguage, Session, Statement};

use crate::custom::fnv;

pub(super) use calls::{delivery, execute};

/// A transaction's routine in every language.
#[derive(Debug)]
struct Routine {
    name: &'static str,
    /// The call of a function.
    select: Statement,
    /// The call of a procedure.
    call: Statement,
    plpgsql: &'static str,
    psm: &'static str,
}

macro_rules! routine {
    ($transaction:literal, $parameters:literal, $takes:expr, $reply:expr) => {
        Routine {
            name: concat!("weighbridge_", $transaction),
            select: Statement::new(
                concat!($transaction, ".routine"),
                concat!("SELECT * FROM weighbridge_", $transaction, $parameters),
            )
            .takes($takes)
            .replies($reply),
            call: Statement::new(
                concat!($transaction, ".routine"),
                concat!("CALL weighbridge_", $transaction, $parameters),
            )
            .takes($takes)
            .replies($reply),
            plpgsql: include_str!(concat!("plpgsql/", $transaction, ".sql")),
            psm: include_str!(concat!("psm/", $transaction, ".sql")),
        }
    };
}

/// In the order of [`Kind::index`].
static ROUTINES: [Routine; Kind::ALL.len()] = [
    routine!("new_order", "($1, $2, $3, $4, $5)", &[Int, Int, Int, Int, Text], replies::NEW_ORDER),
    routine!("payment", "($1, $2, $3, $4, $5, $6, $7)", &[Int, Int, Int, Int, Int, Text, Numeric], replies::PAYMENT),
    routine!("order_status", "($1, $2, $3, $4)", &[Int, Int, Int, Text], replies::ORDER_STATUS),
    routine!("delivery", "($1, $2)", &[Int, Int], replies::DELIVERY),
    routine!("stock_level", "($1, $2, $3)", &[Int, Int, Int], replies::STOCK_LEVEL),
];

impl Routine {
    fn statement(&'static self, language: RoutineLanguage) -> &'static Statement {
        match language {
            RoutineLanguage::PlPgSql => &self.select,
            RoutineLanguage::SqlPsm => &self.call,
        }
    }

    fn source(&self, language: RoutineLanguage) -> &'static str {
        match language {
            RoutineLanguage::PlPgSql => self.plpgsql,
            RoutineLanguage::SqlPsm => self.psm,
        }
    }

    fn comment(&self, language: RoutineLanguage) -> String {
        format!("weighbridge {:016x}", fnv(0, self.source(language)))
    }

    /// The statements that create or replace it.
    fn ddl(&self, language: RoutineLanguage) -> [String; 3] {
        language.replace(self.name, self.source(language), &self.comment(language))
    }
}

/// The call of a transaction's routine.
pub(super) fn call_of(kind: Kind, language: RoutineLanguage) -> &'static Statement {
    ROUTINES[kind.index()].statement(language)
}

/// The statements that create or replace all routines.
pub(super) fn ddl(language: RoutineLanguage) -> Vec<String> {
    ROUTINES.iter().flat_map(|routine| routine.ddl(language)).collect()
}

/// Creates the routines that are missing or outdated.
///
/// # Errors
/// The database has no routines, or it refuses to create one, usually for lack of a privilege.
pub async fn make_routines(session: &mut Session) -> Result<(), Error> {
    let language = session.dialect().routines().ok_or_else(|| no_routines(session.dialect()))?;
    for routine in &ROUTINES {
        let there = session.query(language.comment_query(), &[routine.name.into()]).await?;
        let comment = routine.comment(language);
        if there.get(0).is_some_and(|row| row.text(0).is_ok_and(|found| found == comment)) {
            continue;
        }
        for sql in routine.ddl(language) {
            session.execute(&sql).await.map_err(|e| refused(e, routine.name))?;
        }
    }
    Ok(())
}

/// Adds to a refusal who can create the routine.
fn refused(error: Error, routine: &str) -> Error {
    match error.class() {
        Class::Permanent => error.context(format_args!(
            "the style procedure needs the routine {routine}; a user who may create it makes it by `weighbridge load`, \
             or by a run in this style"
        )),
        _ => error,
    }
}

pub(super) fn no_routines(dialect: &dyn Dialect) -> Error {
    Error::permanent(format!("{} has no routines", dialect.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [RoutineLanguage; 2] = [RoutineLanguage::PlPgSql, RoutineLanguage::SqlPsm];

    #[test]
    fn the_routines_are_in_the_order_of_the_transactions() {
        for kind in Kind::ALL {
            let routine = &ROUTINES[kind.index()];
            assert_eq!(routine.name, format!("weighbridge_{}", kind.name()));
            for language in LANGUAGES {
                assert!(routine.source(language).contains(&format!(" {}(", routine.name)), "{language:?}");
            }
        }
    }

    /// The files repeat numbers and states of the code.
    #[test]
    fn the_files_agree_with_the_rest() {
        for language in LANGUAGES {
            let source = |kind: Kind| ROUTINES[kind.index()].source(language);
            assert!(source(Kind::NewOrder).contains(&format!(" {} THEN", ::tpcc::UNUSED_ITEM)));
            for kind in Kind::ALL {
                assert!(source(kind).contains("'WB001'"), "{language:?}, {kind:?}");
            }
        }
    }

    #[test]
    fn another_source_has_another_comment() {
        assert_ne!(fnv(0, "a"), fnv(0, "b"));
        assert_eq!(fnv(0, ""), 0xcbf2_9ce4_8422_2325);
    }
}
