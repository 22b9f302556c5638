//! What a scenario is.

use std::fmt;

use tsloom_model::{Error, ErrorKind};

/// The result of setting up or running a case.
pub type Result<T> = std::result::Result<T, Error>;

/// Sets up what an operation needs, outside of what is measured.
pub type Setup = fn(&Params) -> Result<Case>;

/// One named piece of work, with everything the reports need to know about it.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// `area/what/shape`; never changed once published, because budgets and records hang on it.
    pub name: &'static str,
    /// What one operation is: "tablet", "query", "1,000 checks".
    pub op: &'static str,
    /// Parameters and their defaults; the budgets hold for the defaults.
    pub params: &'static [(&'static str, u64)],
    /// Operations in the shorter of the two runs that prove a steady state.
    pub op_count: u64,
    /// Whether other threads work too: then the whole process is counted and its budget is a ceiling.
    pub is_threaded: bool,
    /// What is known of the same work elsewhere.
    pub upstream: Option<Upstream>,
    /// Peers that do the same work, and what each calls it. A peer may stand here twice, with two ways to do it.
    pub peers: &'static [(&'static str, &'static str)],
    setup: Setup,
    beside: Option<(&'static str, Setup)>,
}

/// Upstream's figures per operation, before and after its own change.
#[derive(Clone, Copy, Debug)]
pub struct Upstream {
    /// Whose figures these are.
    pub source: &'static str,
    /// Before the change.
    pub before: Figures,
    /// After it.
    pub after: Figures,
}

/// What one operation costs, as far as it was published.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Requests for memory.
    pub allocs: Option<u64>,
    /// Bytes asked for.
    pub bytes: Option<u64>,
    /// Nanoseconds of CPU time.
    pub ns: Option<u64>,
}

impl Scenario {
    /// A single-threaded scenario without parameters; the other methods add what is special about it.
    pub const fn new(name: &'static str, op: &'static str, setup: Setup) -> Self {
        Scenario { name, op, params: &[], op_count: 64, is_threaded: false, upstream: None, peers: &[], setup, beside: None }
    }

    /// Parameters that `--set` can change.
    pub const fn params(self, params: &'static [(&'static str, u64)]) -> Self {
        Scenario { params, ..self }
    }

    /// Operations in the shorter run of the steady-state proof; few for long operations.
    pub const fn op_count(self, op_count: u64) -> Self {
        Scenario { op_count, ..self }
    }

    /// Other threads work too: the whole process is counted, and the budget is a ceiling.
    pub const fn threaded(self) -> Self {
        Scenario { is_threaded: true, ..self }
    }

    /// Upstream's figures for the same work.
    pub const fn upstream(self, upstream: Upstream) -> Self {
        Scenario { upstream: Some(upstream), ..self }
    }

    /// Peers (as `--peers` names them) that do the same work at the default parameters, with their names for it.
    pub const fn peers(self, peers: &'static [(&'static str, &'static str)]) -> Self {
        Scenario { peers, ..self }
    }

    /// Work of our own that this is held against, and what it is: the same copies without any structure, say.
    pub const fn beside(self, what: &'static str, setup: Setup) -> Self {
        Scenario { beside: Some((what, setup)), ..self }
    }

    /// What runs beside it.
    pub fn what_is_beside(&self) -> Option<&'static str> {
        self.beside.map(|(what, _)| what)
    }

    /// Makes what runs beside it.
    ///
    /// # Errors
    ///
    /// What that setup meets.
    pub fn set_up_beside(&self, params: &Params) -> Result<Option<Case>> {
        self.beside.map(|(_, setup)| setup(params)).transpose()
    }

    /// Makes everything that an operation needs.
    ///
    /// # Errors
    ///
    /// What the setup of this scenario meets: a parameter out of range, a file that cannot be written.
    pub fn set_up(&self, params: &Params) -> Result<Case> {
        (self.setup)(params)
    }

    /// The parameters of this scenario with those of `set` that it knows in the place of its defaults.
    pub fn params_with(&self, set: &[(String, u64)]) -> Params {
        let chosen = |name: &str| set.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value);
        let values = self.params.iter().map(|(name, default)| (*name, chosen(name).unwrap_or(*default)));
        Params { values: values.collect() }
    }
}

/// The parameters of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    values: Vec<(&'static str, u64)>,
}

impl Params {
    /// The value of a parameter as a count.
    ///
    /// # Errors
    ///
    /// When the scenario has no such parameter, or it is zero or beyond 100 million: input is kept in memory.
    pub fn count(&self, name: &str) -> Result<usize> {
        let value = self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        match value {
            Some(value @ 1..=100_000_000) => Ok(value as usize),
            Some(value) => Err(invalid(format!("parameter {name} = {value}: expected 1 to 100,000,000"))),
            None => Err(invalid(format!("this scenario has no parameter {name}"))),
        }
    }

    /// Names and values, in the order of the scenario.
    pub fn values(&self) -> &[(&'static str, u64)] {
        &self.values
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.values.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{name}={value}")?;
        }
        Ok(())
    }
}

/// An error of the benches themselves.
pub fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

/// Work that is set up and can be repeated.
pub struct Case {
    /// Bytes that one operation has to move at least once: what the memory copy beside it copies.
    pub payload_size: usize,
    run: Box<dyn FnMut() -> Result<u64>>,
}

impl Case {
    /// `run` does one operation and returns a checksum of its result (any number that depends on it, where no
    /// peer has to agree).
    pub fn new(payload_size: usize, run: impl FnMut() -> Result<u64> + 'static) -> Self {
        Case { payload_size, run: Box::new(run) }
    }

    /// One operation.
    ///
    /// # Errors
    ///
    /// What the work itself meets; none is expected after a first run that went well.
    pub fn run(&mut self) -> Result<u64> {
        (self.run)()
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Params, Result, Scenario};

    fn setup(params: &Params) -> Result<Case> {
        let rows = params.count("rows")?;
        Ok(Case::new(8 * rows, move || Ok(rows as u64)))
    }

    const ROWS: Scenario = Scenario::new("test/rows", "run", setup).params(&[("rows", 64), ("columns", 10)]);

    #[test]
    fn set_replaces_the_defaults_it_names() {
        let set = |text: &[(&str, u64)]| -> Vec<(String, u64)> {
            text.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        assert_eq!(ROWS.params_with(&[]).to_string(), "rows=64 columns=10");
        let params = ROWS.params_with(&set(&[("rows", 5), ("other", 1), ("rows", 7)]));
        assert_eq!(params.to_string(), "rows=7 columns=10");
        assert_eq!(ROWS.set_up(&params).and_then(|mut case| case.run()).ok(), Some(7));
        for out_of_range in [0, 100_000_001] {
            assert!(ROWS.set_up(&ROWS.params_with(&set(&[("rows", out_of_range)]))).is_err());
        }
        assert!(params.count("cats").is_err());
    }
}
