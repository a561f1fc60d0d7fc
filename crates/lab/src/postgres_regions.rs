//! PostgreSQL servers, each in a region of its own, that reach each other over a distance.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::network::{self, Network, RegionLink};
use crate::programs::{free_ports, run};
use crate::site::{Site, on_free_ports};
use crate::{Delays, Kind, LabError, Proxy, postgres};

/// Running servers and the network between them; dropping it stops them and removes their data.
///
/// In every database made here each server knows the others by the names of their regions (`CREATE SERVER`, of
/// `postgres_fdw`), and its own region is its `cluster_name`. No data are anywhere else than where they were put.
#[derive(Debug)]
pub struct PostgresRegions {
    site: Site,
    bin: PathBuf,
    ways: Vec<RegionLink>,
    /// Where this process holds the network.
    _proxies: Vec<Proxy>,
}

impl PostgresRegions {
    /// Makes a server in each region, and starts them. The network between them is in this process.
    ///
    /// # Errors
    /// [`LabError::Missing`] if PostgreSQL is not installed; else what its programs say.
    pub fn start(delays: &Delays) -> Result<Self, LabError> {
        let bin = postgres::installed()?;
        Self::start_in(Site::temporary(Kind::Postgres)?, bin, delays, &[], None)
    }

    /// `holder` is the program, with its arguments, that holds the network where that must outlive this process.
    pub(crate) fn start_in(
        site: Site,
        bin: PathBuf,
        delays: &Delays,
        settings: &[(&str, &str)],
        holder: Option<&[String]>,
    ) -> Result<Self, LabError> {
        let mut regions = Self { site, bin, ways: Vec::new(), _proxies: Vec::new() };
        for region in delays.regions() {
            regions.site.add(region, Some(region));
        }
        for (node, region) in delays.regions().iter().enumerate() {
            let Self { site, bin, .. } = &regions;
            let data = site.folder().join(region);
            postgres::init(site, bin, &data, &[&[("cluster_name", region.as_str())], settings].concat())?;
            on_free_ports(|| {
                let [port] = free_ports()?;
                postgres::launch(site, bin, node, &data, port)
            })?;
        }
        on_free_ports(|| {
            regions.ways = network::ways(&regions.site.nodes(), delays);
            let Some(holder) = holder else {
                regions._proxies = network::open(&mut regions.ways)?;
                return Ok(());
            };
            network::choose_ports(&mut regions.ways)?;
            // It reads there what it is to hold.
            let network = |process| Network { process, ways: regions.ways.clone() };
            regions.site.set_network(network(None))?;
            let process = network::launch(holder, regions.site.folder())?;
            regions.site.set_network(network(Some(process.clone())))?;
            network::wait(&process, &regions.ways, regions.site.folder())
        })?;
        Ok(regions)
    }

    /// The URLs of one of its databases, one a region, as a client in that region has it; `postgres` is always there.
    pub fn urls(&self, database: &str) -> Vec<String> {
        (0..self.site.nodes().len()).map(|node| self.site.url(node, database)).collect()
    }

    /// The ways between the regions.
    pub fn ways(&self) -> &[RegionLink] {
        &self.ways
    }

    /// Makes an empty database in every region, in which each knows the others by their names.
    ///
    /// # Errors
    /// If there is one of that name, or a server is down.
    pub fn create_database(&self, name: &str) -> Result<(), LabError> {
        for (node, server) in self.site.nodes().into_iter().enumerate() {
            postgres::create_database(&self.site, &self.bin, node, name)?;
            let mut sql = "CREATE EXTENSION postgres_fdw;".to_owned();
            for way in self.ways.iter().filter(|way| Some(&way.from) == server.region.as_ref()) {
                let RegionLink { to, address, .. } = way;
                let _ = write!(
                    sql,
                    "CREATE SERVER \"{to}\" FOREIGN DATA WRAPPER postgres_fdw \
                     OPTIONS (host '{}', port '{}', dbname '{name}', batch_size '100');\
                     CREATE USER MAPPING FOR postgres SERVER \"{to}\" OPTIONS (user 'postgres');",
                    address.ip(),
                    address.port(),
                );
            }
            let mut psql = self.site.program(self.bin.join("psql"));
            psql.args(["-XAtq", "-U", "postgres", "-d", name, "-v", "ON_ERROR_STOP=1", "-c", &sql, "-h"]);
            psql.arg(self.site.folder()).args(["-p", &server.port().to_string()]);
            run("psql", psql)?;
        }
        Ok(())
    }

    /// Its folder, with its data and logs.
    pub fn folder(&self) -> &Path {
        self.site.folder()
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }
}
