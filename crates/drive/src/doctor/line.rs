//! What lies between client and server: the way there and back, the two clocks, and whoever answers in between.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use target::{Access, Error, Finding, Level, Session, Statement, StatementBatch, Url};

static PING: Statement = Statement::new("doctor.round_trip", "SELECT 1");
static CLOCK: Statement = Statement::new("doctor.clock", "SELECT LOCALTIMESTAMP");

/// Round trips that are timed.
const ROUND_TRIPS: usize = 200;

/// A row-wise New-Order makes about thirty of them.
const FAR_AWAY: Duration = Duration::from_millis(20);

/// Clocks are compared this often, and the quickest answer counts.
const CLOCK_READINGS: usize = 5;

/// Difference of the clocks above which dates in the rows and fleets of clients suffer.
const CLOCKS_APART: Duration = Duration::from_secs(1);

/// How long a second session may be kept waiting.
const SECOND_SESSION: Duration = Duration::from_secs(5);

pub(super) async fn findings(session: &mut Session, url: &Url) -> Vec<Finding> {
    let unknown = |what: &str, e: Error| Finding::new(Level::Unknown, what, e.to_string(), "");
    let mut findings = vec![match round_trips(session).await {
        Ok(times) => of_round_trips(times),
        Err(e) => unknown("round trip", e),
    }];
    if session.dialect().embedded() {
        return findings;
    }
    findings.push(match clock(session).await {
        Ok((ahead_us, uncertain_us)) => of_clock(ahead_us, uncertain_us),
        Err(e) => unknown("clock", e),
    });
    findings.extend(pooler(session, url).await);
    findings
}

/// One of several gateways beside the first.
pub(super) async fn gateway(url: &Url) -> Finding {
    let timed = async {
        let mut session = Session::connect(url).await?;
        round_trips(&mut session).await
    };
    match timed.await {
        Ok(times) => {
            let finding = of_round_trips(times);
            Finding { what: "further gateway".into(), value: format!("{url}: {}", finding.value), ..finding }
        }
        Err(e) => {
            let advice = "leave it out, or bring it up: its share of the connections would go to the others";
            Finding::new(Level::Bad, "further gateway", e.to_string(), advice)
        }
    }
}

/// The times of prepared round trips, inside a transaction, where each is one and no more.
async fn round_trips(session: &mut Session) -> Result<Vec<Duration>, Error> {
    session.prepare(&[&PING]).await?;
    session.begin(session.dialect().default_isolation(), Access::ReadOnly);
    let mut wave = StatementBatch::new();
    wave.call(&PING, &[]);
    session.send::<1>(&wave).await?;
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let sent = Instant::now();
        session.send::<1>(&wave).await?;
        times.push(sent.elapsed());
    }
    session.rollback().await?;
    Ok(times)
}

fn of_round_trips(mut times: Vec<Duration>) -> Finding {
    times.sort_unstable();
    let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
    let (median, p99) = (rank(50), rank(99));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let value = format!("median {:.3} ms, 99 of 100 within {:.3} ms ({} prepared)", ms(median), ms(p99), times.len());
    if median > FAR_AWAY {
        let advice = "the way to the server is most of what will be measured: drive from nearby, or use --style pipeline \
                      or procedure";
        return Finding::new(Level::Warn, "round trip", value, advice);
    }
    if p99 > (median * 10).max(Duration::from_millis(5)) {
        let advice =
            "the way varies more than a transaction takes: look for other work on the machines and the network";
        return Finding::new(Level::Warn, "round trip", value, advice);
    }
    Finding::ok("round trip", value)
}

/// How far the server's clock is ahead of ours, and how uncertain that is, in microseconds.
async fn clock(session: &mut Session) -> Result<(i64, i64), Error> {
    let now_us = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    };
    session.prepare(&[&CLOCK]).await?;
    let mut wave = StatementBatch::new();
    wave.call(&CLOCK, &[]);
    let mut best = (0, i64::MAX);
    for _ in 0..CLOCK_READINGS {
        let sent = now_us();
        let [answer] = session.send(&wave).await?;
        let half = (now_us() - sent) / 2;
        let told = answer.only()?.timestamp(0)?;
        let uncertain = half + coarseness_us(told);
        if uncertain < best.1 {
            best = (told - sent - half, uncertain);
        }
    }
    Ok(best)
}

/// What a clock leaves out that tells whole seconds.
fn coarseness_us(told: i64) -> i64 {
    if told % 1_000_000 == 0 { 1_000_000 } else { 0 }
}

fn of_clock(ahead_us: i64, uncertain_us: i64) -> Finding {
    let ms = |us: i64| us as f64 / 1e3;
    let way = if ahead_us < 0 { "behind" } else { "ahead" };
    let value = format!("the server's is {:.1} ms {way}, give or take {:.1}", ms(ahead_us.abs()), ms(uncertain_us));
    let apart = ahead_us.abs() - uncertain_us > i64::try_from(CLOCKS_APART.as_micros()).unwrap_or(i64::MAX);
    match apart {
        true => Finding::new(
            Level::Warn,
            "clock",
            value,
            "set both clocks by the same source (NTP): dates in rows and logs differ",
        ),
        false => Finding::ok("clock", value),
    }
}

/// Whether a session keeps its server process while another one is busy. A pooler in transaction mode hands it on.
async fn pooler(session: &mut Session, url: &Url) -> Option<Finding> {
    const WHAT: &str = "pooler in between";
    const ADVICE: &str = "a pooler in transaction mode loses prepared statements and settings of sessions: connect to the \
                          server itself, or pool by session";
    let sql = session.dialect().backend()?;
    let asked = tokio::time::timeout(SECOND_SESSION, async {
        let before = backend(session, sql).await?;
        let mut other = Session::connect(url).await?;
        other.begin(other.dialect().default_isolation(), Access::ReadOnly);
        backend(&mut other, sql).await?;
        let after = backend(session, sql).await?;
        other.rollback().await?;
        Ok::<_, Error>((before, after))
    });
    Some(match asked.await {
        Ok(Ok((before, after))) if before == after => Finding::ok(WHAT, "none: a session keeps its server process"),
        Ok(Ok((before, after))) => {
            Finding::new(Level::Bad, WHAT, format!("one session was served by {before}, then by {after}"), ADVICE)
        }
        Ok(Err(e)) => Finding::new(Level::Bad, WHAT, format!("a second session fails: {e}"), ADVICE),
        Err(_) => {
            let value = format!("a second session was not served within {} s", SECOND_SESSION.as_secs());
            Finding::new(Level::Bad, WHAT, value, "let the server, and the pooler before it, serve more connections")
        }
    })
}

async fn backend(session: &mut Session, sql: &str) -> Result<String, Error> {
    Ok(session.query(sql, &[]).await?.only()?.value(0)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_judged_by_distance_and_by_jitter() {
        let ms = Duration::from_millis;
        let times = |usual: Duration, slow: Duration| [vec![usual; 97], vec![slow; 3]].concat();
        assert_eq!(of_round_trips(times(ms(1), ms(2))).status, Level::Ok);
        assert!(of_round_trips(times(ms(1), ms(50))).advice.contains("varies"));
        assert!(of_round_trips(times(ms(30), ms(30))).advice.contains("nearby"));
    }

    #[test]
    fn a_slow_answer_says_nothing_of_the_clock() {
        assert_eq!(of_clock(2_000_000, 10_000).status, Level::Warn);
        assert_eq!(of_clock(-2_000_000, 10_000).status, Level::Warn);
        assert_eq!(of_clock(2_000_000, 1_500_000).status, Level::Ok);
        assert!(of_clock(-500, 10).value.contains("0.5 ms behind"));
        assert_eq!(of_clock(-1_900_000, 10 + coarseness_us(1_790_000_000_000_000)).status, Level::Ok);
        assert_eq!(coarseness_us(1_790_000_000_000_001), 0);
    }
}
