//! `cargo xtask performance RUN.json`: `docs/performance.md` and a line of history, from the JSON of a `cargo xtask bench`.
//!
//! `benches/bounds.toml` says what a scenario has to reach and what its limit is; the run says what it reached. Nothing here measures:
//! a page that is written by hand goes stale, and one that measures by itself cannot be repeated.

mod bounds;
mod history;
mod page;
mod run;

use std::fs;
use std::path::PathBuf;

use clap::Args;

use crate::root;
use bounds::Bounds;
use run::Run;

#[derive(Args)]
pub(crate) struct Performance {
    /// What `cargo xtask bench --json RUN.json` wrote
    #[arg(value_name = "RUN.json")]
    run: PathBuf,
    /// Only print the page; nothing is written
    #[arg(long)]
    dry_run: bool,
}

impl Performance {
    pub(crate) fn run(&self) -> Result<bool, String> {
        let run: Run = serde_json::from_str(&read(&self.run)?).map_err(|error| format!("{}: {error}", self.run.display()))?;
        let benches = root::repository().join("benches");
        let path = benches.join("bounds.toml");
        let bounds = Bounds::parse(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        let page = page::render(&run, &bounds);
        if self.dry_run {
            print!("{page}");
            return Ok(true);
        }
        let record = benches.join("record");
        fs::create_dir_all(&record).map_err(|error| format!("{}: {error}", record.display()))?;
        let history = record.join(format!("{}.csv", run.machine.date));
        let csv = history::render(&run).map_err(|error| format!("{}: {error}", history.display()))?;
        for (path, text) in [(root::repository().join("docs/performance.md"), page), (history, csv)] {
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            eprintln!("performance: {}", path.display());
        }
        Ok(true)
    }
}

fn read(path: &std::path::Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
