//! Assignment: affinity keys to gateways, connections to threads and gateways, terminals to threads.

use std::fmt;
use std::ops::RangeInclusive;

use target::placement::slices;
use target::{Gateways, Url};
use workload::Keys;

/// What binds terminals to gateways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// Nothing: a terminal takes the connection that is free, through whichever gateway.
    #[default]
    None,
    /// Its warehouse: gateway `i` of `n` serves the `i`-th of `n` even slices of the loaded warehouses.
    Warehouse,
}

impl Affinity {
    /// Each affinity with its name on the command line and in results.
    pub const NAMES: [(Affinity, &'static str); 2] = [(Affinity::None, "none"), (Affinity::Warehouse, "warehouse")];
}

impl fmt::Display for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Affinity::None => "none",
            Affinity::Warehouse => "warehouse",
        })
    }
}

/// A gateway that a run uses.
#[derive(Clone, Debug)]
pub(crate) struct Gateway {
    pub(crate) url: Url,
    /// The driven affinity keys whose terminals use it.
    pub(crate) keys: RangeInclusive<i32>,
}

/// The gateways that serve the driven keys. With affinity, a gateway whose slice other clients drive is left to them.
///
/// # Errors
/// One line of wrong usage, if slices would be empty.
pub(crate) fn gateways(urls: &Gateways, affinity: Affinity, keys: &Keys) -> Result<Vec<Gateway>, String> {
    let urls = urls.urls();
    let Keys { loaded, driven } = keys;
    let loaded = *loaded;
    let all = |url: &Url| Gateway { url: url.clone(), keys: driven.clone() };
    if affinity == Affinity::None {
        return Ok(urls.iter().map(all).collect());
    }
    if urls.len() > loaded as usize {
        let gateways = urls.len();
        return Err(format!("--affinity warehouse: {gateways} gateways are more than the warehouses loaded, {loaded}"));
    }
    let serving = urls.iter().zip(slices(1..=loaded, urls.len() as u32)).map(|(url, slice)| {
        let (first, last) = (*slice.start().max(driven.start()), *slice.end().min(driven.end()));
        Gateway { url: url.clone(), keys: first..=last }
    });
    Ok(serving.filter(|gateway| !gateway.keys.is_empty()).collect())
}

/// The gateways of each thread's connections: even over the threads, over the run, and over each thread.
pub(crate) fn connections(connections: u32, gateways: usize, threads: usize) -> Vec<Vec<usize>> {
    let connections = connections as usize;
    // One after the other around the gateways, a thread going on where the one before it stopped.
    let mut around = (0..gateways).cycle();
    let share = |thread: usize| connections / threads + usize::from(thread < connections % threads);
    (0..threads).map(|thread| around.by_ref().take(share(thread)).collect()).collect()
}

/// The threads of the connections that `belongs` picks by gateway, one entry a connection, by turns. Terminals are
/// dealt around these, so that each thread gets as many as its connections can serve.
pub(crate) fn slots(gateway_of: &[Vec<usize>], belongs: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut slots: Vec<(usize, usize)> = Vec::new();
    for (thread, gateway_of) in gateway_of.iter().enumerate() {
        let of_thread = gateway_of.iter().filter(|assigned| belongs(**assigned)).enumerate();
        slots.extend(of_thread.map(|(round, _)| (round, thread)));
    }
    slots.sort_unstable();
    slots.into_iter().map(|(_, thread)| thread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(counts: &[usize]) -> usize {
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    }

    #[test]
    fn connections_are_even_over_the_run_and_over_each_thread() {
        for threads in 1..=9 {
            for gateways in 1..=7 {
                for count in threads.max(gateways)..=40 {
                    let gateway_of = connections(count as u32, gateways, threads);
                    let of = |thread: &Vec<usize>| -> Vec<usize> {
                        (0..gateways).map(|g| thread.iter().filter(|assigned| **assigned == g).count()).collect()
                    };
                    assert_eq!(gateway_of.len(), threads);
                    assert!(spread(&gateway_of.iter().map(Vec::len).collect::<Vec<_>>()) <= 1);
                    assert!(gateway_of.iter().all(|thread| spread(&of(thread)) <= 1), "{gateway_of:?}");
                    let all = of(&gateway_of.concat());
                    assert_eq!(all.iter().sum::<usize>(), count);
                    assert!(spread(&all) <= 1 && all.iter().all(|n| *n > 0), "{gateway_of:?}");
                }
            }
        }
    }

    #[test]
    fn every_terminal_sits_where_its_gateway_has_connections() {
        for (count, gateways, threads) in [(4, 4, 2), (3, 3, 3), (7, 3, 2), (16, 2, 4), (5, 1, 2)] {
            let gateway_of = connections(count, gateways, threads);
            for gateway in 0..gateways {
                let slots = slots(&gateway_of, |assigned| assigned == gateway);
                assert!(!slots.is_empty());
                let mut counted = vec![0; threads];
                slots.iter().for_each(|thread| counted[*thread] += 1);
                let there: Vec<usize> = gateway_of
                    .iter()
                    .map(|thread| thread.iter().filter(|assigned| **assigned == gateway).count())
                    .collect();
                assert_eq!(counted, there, "as many slots as connections");
            }
            // The first slots are one a thread, so that no thread is idle with few terminals.
            let all = slots(&gateway_of, |_| true);
            assert_eq!(all.len(), count as usize);
            assert_eq!(all[..threads], (0..threads).collect::<Vec<_>>());
        }
    }

    fn ranges(urls: &str, loaded: i32, driven: RangeInclusive<i32>) -> Vec<(String, RangeInclusive<i32>)> {
        let urls = Gateways::parse(&[urls]).unwrap();
        let serving = gateways(&urls, Affinity::Warehouse, &Keys { loaded, driven }).unwrap();
        serving.into_iter().map(|gateway| (gateway.url.to_string(), gateway.keys)).collect()
    }

    #[test]
    fn a_gateway_serves_its_slice_of_the_loaded_warehouses() {
        let (a, b, c) = ("postgres://me@a:5432/db", "postgres://me@b:5432/db", "postgres://me@c:5432/db");
        let urls = [a, b, c].join(" ");
        let named = |url: &str, range| (url.to_owned(), range);
        assert_eq!(ranges(&urls, 10, 1..=10), [named(a, 1..=3), named(b, 4..=6), named(c, 7..=10)]);
        assert_eq!(ranges(&urls, 10, 5..=8), [named(b, 5..=6), named(c, 7..=8)], "the first belongs to other clients");
        assert_eq!(ranges(&urls, 3, 1..=3), [named(a, 1..=1), named(b, 2..=2), named(c, 3..=3)]);
        let urls = Gateways::parse(&[urls]).unwrap();
        assert!(
            gateways(&urls, Affinity::Warehouse, &Keys { loaded: 2, driven: 1..=2 })
                .unwrap_err()
                .contains("3 gateways")
        );
        let all = gateways(&urls, Affinity::None, &Keys { loaded: 2, driven: 1..=2 }).unwrap();
        assert!(all.len() == 3 && all.iter().all(|gateway| gateway.keys == (1..=2)));
    }
}
