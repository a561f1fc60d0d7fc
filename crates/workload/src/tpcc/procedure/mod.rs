//! Style `procedure`: each transaction as a routine inside the server, called in one round trip.
//!
//! The routines' SQL stands in a file a language and transaction, to be read beside its clause. In
//! the database each carries a comment with the fingerprint of its source, so that a missing one
//! and one of another version are noticed and made anew.

mod calls;
mod replies;

use ::tpcc::input::Kind;
use target::null_reply::Kind::{Int, Numeric, Text};
use target::{Class, Error, RoutineLanguage, Session, Statement};

use crate::custom::fnv;

pub(super) use calls::{delivery, new_order, order_status, payment, stock_level};

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

    /// The statements that make it, in place of one that is there.
    fn ddl(&self, language: RoutineLanguage) -> [String; 3] {
        language.replace(self.name, self.source(language), &self.comment(language))
    }
}

/// The calls of all routines.
pub(super) fn statements(language: RoutineLanguage) -> Vec<&'static Statement> {
    ROUTINES.iter().map(|routine| routine.statement(language)).collect()
}

/// The statements that make all routines, in place of those that are there.
pub(super) fn ddl(language: RoutineLanguage) -> Vec<String> {
    ROUTINES.iter().flat_map(|routine| routine.ddl(language)).collect()
}

/// Makes the routines that are missing, or of another version.
///
/// # Errors
/// The database's refusal, usually for want of a privilege; or if it has no routines.
pub async fn make_routines(session: &mut Session) -> Result<(), Error> {
    let language = language(session)?;
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

/// Says who can do what was refused.
fn refused(error: Error, routine: &str) -> Error {
    match error.class() {
        Class::Permanent => error.context(format_args!(
            "the style procedure needs the routine {routine}; a user who may create it makes it by `weighbridge load`, \
             or by a run in this style"
        )),
        _ => error,
    }
}

fn language(session: &Session) -> Result<RoutineLanguage, Error> {
    let dialect = session.dialect();
    dialect.routines().ok_or_else(|| Error::permanent(format!("{} has no routines", dialect.name())))
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

    /// Numbers and states that the files can only repeat.
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
