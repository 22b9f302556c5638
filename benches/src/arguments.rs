//! The arguments that every program of this crate understands: which scenarios, with which parameters.

use clap::Args;

use crate::registry::{Params, Result, Scenario, invalid};

/// Which scenarios to run, and what to change in them.
#[derive(Args, Clone, Debug, Default)]
pub struct Selection {
    /// Only scenarios whose name contains this
    #[arg(long, value_name = "PART", default_value = "")]
    pub filter: String,
    /// Change a parameter of every selected scenario that has it
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_set)]
    pub set: Vec<(String, u64)>,
}

impl Selection {
    /// The selected scenarios with their parameters, in the order of the registry.
    ///
    /// # Errors
    ///
    /// When no name contains the filter, or none of the selected scenarios has a parameter that is set.
    pub fn select(&self) -> Result<Vec<(Scenario, Params)>> {
        let all = crate::all();
        let selected: Vec<Scenario> = all.iter().filter(|one| one.name.contains(&self.filter)).copied().collect();
        if selected.is_empty() {
            return Err(invalid(format!("no scenario's name contains {:?}", self.filter)));
        }
        for (name, _) in &self.set {
            let is_known = |one: &Scenario| one.params.iter().any(|(known, _)| known == name);
            if !selected.iter().any(is_known) {
                return Err(invalid(format!("none of the selected scenarios has a parameter {name}")));
            }
        }
        Ok(selected.into_iter().map(|one| (one, one.params_with(&self.set))).collect())
    }
}

fn parse_set(text: &str) -> std::result::Result<(String, u64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = value.replace(['_', ','], "").parse().map_err(|_| format!("{value:?} is not a whole number"))?;
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::{Selection, parse_set};

    #[test]
    fn a_set_is_a_name_and_a_whole_number() {
        assert_eq!(parse_set("rows=1_024"), Ok(("rows".to_owned(), 1_024)));
        assert!(parse_set("rows").is_err());
        assert!(parse_set("rows=many").is_err());
    }

    #[test]
    fn a_filter_or_parameter_that_selects_nothing_is_an_error() {
        let select = |filter: &str, set: &[&str]| {
            let set = set.iter().filter_map(|text| parse_set(text).ok()).collect();
            Selection { filter: filter.to_owned(), set }.select().map(|selected| selected.len())
        };
        assert_eq!(select("", &[]).ok(), Some(crate::all().len()));
        assert_eq!(select("tablet/to_bytes", &[]).ok(), Some(1));
        assert!(select("no such scenario", &[]).is_err());
        assert!(select("bitmap/", &["cats=1"]).is_err());
    }
}
