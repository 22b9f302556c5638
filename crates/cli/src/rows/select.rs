//! From flags to requests: which tables, and what of each.

use std::collections::{BTreeSet, HashSet};

use tsloom::model::{ColumnCategory, Predicate, tag};
use tsloom::scan::ScanRequest;
use tsloom::{Error, ErrorKind, TableSchema};

use super::args::{ObjectArgs, RowArgs, TagMatch, TagTest};
use crate::failure::{Failure, Outcome};
use crate::opened::{Object, Opened};

/// A table or device, and what is wanted of it.
pub(crate) struct Selected {
    pub(crate) object: Object,
    pub(crate) request: ScanRequest,
}

/// What the flags choose. Everything is checked before the first row is read.
pub(crate) fn select(args: &RowArgs, opened: &Opened) -> Outcome<Vec<Selected>> {
    let is_named = args.object.is_named();
    let objects = named(&args.object, opened)?;
    let tests = args.tag_tests()?;
    let plain = ScanRequest { columns: args.wanted_columns(), time: args.time(), ..ScanRequest::default() };
    let mut selected = Vec::with_capacity(objects.len());
    for object in objects {
        // Devices of the tree model have columns of their own: those without a wanted one have no row to show.
        let lacks = |name: &String| object.device.is_some() && object.schema.column_index(name).is_none();
        if !is_named && plain.columns.iter().flatten().any(lacks) {
            continue;
        }
        let filter = predicate(&tests, args.tag_match)?;
        let request = ScanRequest { filter, ..plain.clone() };
        check_request(&object.schema, &request).map_err(Failure::failed)?;
        selected.push(Selected { object, request });
    }
    Ok(selected)
}

/// The tables or devices of these names; all, when none is named.
pub(crate) fn named(args: &ObjectArgs, opened: &Opened) -> Outcome<Vec<Object>> {
    let mut objects = opened.objects()?;
    if !args.is_named() {
        return Ok(objects);
    }
    let (kind, wanted) = if args.devices.is_empty() { ("table", &args.tables) } else { ("device", &args.devices) };
    objects.retain(|object| object.device.is_some() == (kind == "device"));
    let position = |name: &str| objects.iter().position(|object| object.name() == name);
    let mut found = BTreeSet::new();
    for name in wanted {
        match position(name).or_else(|| position(&name.to_lowercase()).filter(|_| kind == "table")) {
            Some(at) => found.insert(at),
            None => {
                return Err(Failure::failed(format_args!("{} has no {kind} {name}; it has {}", opened.name(), names(&objects))));
            }
        };
    }
    Ok(objects.into_iter().enumerate().filter(|(at, _)| found.contains(at)).map(|(_, object)| object).collect())
}

/// The names of tables or devices, for messages.
fn names(objects: &[Object]) -> String {
    const SHOWN: usize = 20;
    let mut names: Vec<&str> = objects.iter().take(SHOWN).map(Object::name).collect();
    if objects.len() > SHOWN {
        names.push("…");
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Refuses several tables or devices where only one can be printed.
pub(crate) fn require_one(selected: &[Selected], opened: &Opened) -> Outcome {
    let [first, _, ..] = selected else { return Ok(()) };
    let (kind, flag) = if first.object.device.is_some() { ("devices", "-d") } else { ("tables", "-t") };
    let objects: Vec<Object> = selected.iter().map(|selected| selected.object.clone()).collect();
    Err(Failure::usage(format_args!(
        "{} has {} {kind} ({}): choose one with {flag}, or print all with -f ndjson",
        opened.name(),
        objects.len(),
        names(&objects)
    )))
}

fn predicate(tests: &[TagTest], how: TagMatch) -> Outcome<Option<Predicate>> {
    let members = tests.iter().map(|test| {
        Ok(match test {
            TagTest::Compare(column, op, value) => tag(column).compare(*op, value),
            TagTest::IsNull(column) => tag(column).is_null(),
            TagTest::NotNull(column) => tag(column).is_null().not(),
            TagTest::Matches(column, pattern) => tag(column)
                .matches(pattern)
                .map_err(|error| Failure::usage(format_args!("--tag-filter {column} regexp: {error}")))?,
        })
    });
    let members: Vec<Predicate> = members.collect::<Outcome<_>>()?;
    Ok(match how {
        _ if members.is_empty() => None,
        TagMatch::All => Some(Predicate::And(members)),
        TagMatch::Any => Some(Predicate::Or(members)),
    })
}

/// Whether the columns and tags that are asked for are there, each column once.
fn check_request(table: &TableSchema, request: &ScanRequest) -> tsloom::Result<()> {
    if let Some(filter) = &request.filter {
        filter.resolve(table)?;
    }
    let mut seen = HashSet::new();
    for name in request.columns.iter().flatten() {
        let column = table.require_column(name)?;
        let refused =
            |what: &str| Error::new(ErrorKind::InvalidArgument, format!("column {name} of table {} {what}", table.name()));
        if table.columns()[column].category == ColumnCategory::Time {
            return Err(refused("is the time, which is always printed"));
        }
        if !seen.insert(column) {
            return Err(refused("is asked for twice"));
        }
    }
    Ok(())
}
