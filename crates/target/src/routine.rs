//! Routines: code of ours that runs inside the server.

/// The language of a database's routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutineLanguage {
    /// PL/pgSQL functions: `SELECT * FROM name(…)`.
    PlPgSql,
    /// SQL/PSM procedures, which end their transaction themselves: `CALL name(…)`.
    SqlPsm,
}

/// The SQLSTATE with which a routine says that the data contradict the transaction's profile
/// ([`crate::Class::Integrity`]).
pub(crate) const INTEGRITY_STATE: &str = "WB001";

impl RoutineLanguage {
    /// The query for the comment of the routine `$1`: no row, or NULL, if there is none.
    pub fn comment_query(self) -> &'static str {
        match self {
            RoutineLanguage::PlPgSql => "SELECT obj_description(to_regproc($1)::oid, 'pg_proc')",
            RoutineLanguage::SqlPsm => {
                "SELECT routine_comment FROM information_schema.routines \
                 WHERE routine_schema = DATABASE() AND routine_name = $1"
            }
        }
    }

    /// The statements that make the routine `name` out of its `source`, in place of one that is there. The comment,
    /// which must hold no quotes, comes last: a routine that has it is whole.
    pub fn replace(self, name: &str, source: &str, comment: &str) -> [String; 3] {
        let (kind, comment) = match self {
            RoutineLanguage::PlPgSql => ("FUNCTION", format!("COMMENT ON FUNCTION {name} IS '{comment}'")),
            RoutineLanguage::SqlPsm => ("PROCEDURE", format!("ALTER PROCEDURE {name} COMMENT '{comment}'")),
        };
        [format!("DROP {kind} IF EXISTS {name}"), source.to_owned(), comment]
    }
}
