//! A server without data that speaks PostgreSQL's wire: the target of a client that is to be weighed with its network path.
//!
//! It knows each statement by its text, answers what the statement declares ([`target::null_reply`]), and says yes to
//! whatever changes something. [`answers`] is what it knows, [`protocol`] the messages, [`connection`] one client,
//! [`server`] all of them.

mod answers;
mod connection;
mod copy;
mod protocol;
mod server;

pub use answers::{Answers, Canned};
pub use server::Server;
