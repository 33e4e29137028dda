//! Crawls real documentation with this server and with other crawlers, one after the other, and measures speed, CPU
//! time and memory (docs/PERFORMANCE.md).

mod peer;
mod table;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::compare::peer::Peer;
use crate::compare::table::Table;
use crate::docs_folder::DocsFolder;
use harvestman_tests::arguments::Arguments;

/// Documentation that Debian packages install.
const SITES: &[Site<'_>] = &[
    Site {
        name: "postgresql",
        folder: "/usr/share/doc/postgresql-doc-15/html",
        package: "postgresql-doc-15",
    },
    Site {
        name: "boost",
        folder: "/usr/share/doc/libboost1.81-doc/doc/html",
        package: "libboost1.81-doc",
    },
    Site {
        name: "rustdoc",
        folder: "/usr/share/doc/rust-doc/html",
        package: "rust-doc",
    },
];
/// Default page limit: more pages than any of the sites has.
const LIMIT: u64 = 100_000;

/// A folder of documentation.
#[derive(Clone, Copy)]
struct Site<'a> {
    name: &'a str,
    folder: &'a str,
    /// Debian package that installs it.
    package: &'a str,
}

/// Figures of one crawl.
#[derive(Clone, Copy, Debug)]
struct Measurement {
    pages: u64,
    wall_s: f64,
    cpu_s: f64,
    peak_bytes: u64,
}

impl Measurement {
    fn pages_per_s(&self) -> f64 {
        self.pages as f64 / self.wall_s.max(0.001)
    }

    fn cpu_s_per_1000(&self) -> f64 {
        self.cpu_s * 1e3 / self.pages.max(1) as f64
    }

    fn peak_mib(&self) -> f64 {
        self.peak_bytes as f64 / f64::from(1 << 20)
    }
}

/// Runs `compare --sites A,B --rounds N --latency-ms L --limit N`.
pub(crate) async fn run(arguments: &mut Arguments) -> Result<()> {
    let rounds = arguments.number("--rounds", 5)?;
    let latency_ms = arguments.number("--latency-ms", 0)?;
    let limit = arguments.number("--limit", LIMIT)?;
    let names = arguments.word("--sites")?;
    let with_browser = arguments.flag("--browser");
    arguments.end()?;
    ensure!(rounds > 0 && limit > 0, "--rounds and --limit must be at least 1");

    let peers = Peer::installed(with_browser);
    let names = names.unwrap_or_else(|| "postgresql,boost,rustdoc".to_owned());
    for name in names.split(',') {
        let site = site(name)?;
        println!("{name}: {rounds} rounds, {latency_ms} ms latency, at most {limit} pages");
        let docs = DocsFolder::serve(PathBuf::from(site.folder), Duration::from_millis(latency_ms)).await?;
        let url = docs.start();
        let mut table = Table::new(&peers);
        for round in 1..=rounds {
            let mut of_round = Vec::with_capacity(peers.len());
            for peer in &peers {
                let measured = peer.crawl(&url, limit).await;
                let measured = measured.with_context(|| format!("{} on {name}", peer.name()))?;
                println!(
                    "  round {round}  {:<11} {:>6} pages  {:>7.0} pages/s  {:>6.2} CPU s per 1000  {:>6.0} MiB",
                    peer.name(),
                    measured.pages,
                    measured.pages_per_s(),
                    measured.cpu_s_per_1000(),
                    measured.peak_mib()
                );
                of_round.push(measured);
            }
            table.add(of_round);
        }
        println!("{table}");
    }
    Ok(())
}

/// Returns the site with this name, or the folder at this path.
fn site(name: &str) -> Result<Site<'_>> {
    let known = SITES.iter().find(|site| site.name == name);
    if let Some(site) = known {
        ensure!(
            Path::new(site.folder).join("index.html").is_file(),
            "{} is missing: install the Debian package `{}`",
            site.folder,
            site.package
        );
        return Ok(*site);
    }
    if Path::new(name).join("index.html").is_file() {
        return Ok(Site {
            name,
            folder: name,
            package: "",
        });
    }
    let known: Vec<_> = SITES.iter().map(|site| site.name).collect();
    bail!(
        "unknown site `{name}`: give {}, or a folder with an index.html",
        known.join(", ")
    )
}
