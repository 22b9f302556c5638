//! Random tablets of all types, deletes, flushes, compactions, crashes and scans against a map.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use tsloom_model::{CompareOp, Predicate, Value};
use tsloom_tablet::Tablet;
use tsloom_testkit::faults::{FaultDir, Unsynced};
use tsloom_testkit::{Random, TabletGenerator};

use crate::{CompactionOptions, Store, StoreOptions};

/// Tags and time, then the fields; cells in words, so that NaN equals NaN and -0 differs from 0.
type Model = BTreeMap<(Vec<Option<String>>, i64), Vec<Option<String>>>;

/// One row of an answer: tags, time, fields.
type Row = (Vec<Option<String>>, i64, Vec<Option<String>>);

fn word(value: Value<'_>) -> Option<String> {
    if value.is_null() { None } else { Some(format!("{value:?}")) }
}

/// A tag, as it sorts: by bytes.
fn tag(value: Value<'_>) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn apply(model: &mut Model, tablet: &Tablet) {
    for (row, time) in tablet.times().iter().enumerate() {
        let cell = |index: usize| tablet.column(index).map_or(Value::Null, |column| column.value(row));
        let cells =
            model.entry((vec![tag(cell(0)), tag(cell(1))], *time)).or_insert_with(|| vec![None; tablet.columns().len() - 2]);
        for (index, old) in cells.iter_mut().enumerate() {
            if let Some(new) = word(cell(index + 2)) {
                *old = Some(new);
            }
        }
    }
}

/// What to ask for, of the model as of the store.
#[derive(Debug)]
struct Question {
    times: RangeInclusive<i64>,
    tag: Option<&'static str>,
    offset: u64,
    limit: u64,
    row_budget: usize,
}

impl Question {
    fn random(random: &mut Random) -> Self {
        let start = random.below(120) as i64;
        let all = random.one_in(3);
        Self {
            times: if all { 0..=i64::MAX } else { start..=start + random.below(60) as i64 },
            tag: *random.pick(&[None, None, Some("a"), Some(""), Some("null")]),
            offset: if all { 0 } else { random.below(20) as u64 },
            limit: if all { u64::MAX } else { random.below(40) as u64 },
            row_budget: *random.pick(&[1, 3, 7, 64, 10_000]),
        }
    }

    fn of_model(&self, model: &Model) -> Vec<Row> {
        model
            .iter()
            .filter(|((tags, time), _)| self.times.contains(time) && (self.tag.is_none() || tags[0].as_deref() == self.tag))
            .skip(self.offset as usize)
            .take(usize::try_from(self.limit).unwrap_or(usize::MAX))
            .map(|((tags, time), cells)| (tags.clone(), *time, cells.clone()))
            .collect()
    }

    fn of_store(&self, store: &Store) -> Vec<Row> {
        let mut scan = store.scan("all").time(self.times.clone()).offset(self.offset).row_budget(self.row_budget);
        if self.limit != u64::MAX {
            scan = scan.limit(self.limit);
        }
        if let Some(tag) = self.tag {
            scan = scan.filter(Predicate::Compare("t1".to_owned(), CompareOp::Eq, tag.to_owned()));
        }
        let mut rows = Vec::new();
        let mut scan = scan.open().unwrap();
        while let Some(block) = scan.next_block().unwrap() {
            for (row, time) in block.times().iter().enumerate() {
                let (tags, fields) = block.columns().split_at(2);
                let tags = tags.iter().map(|column| tag(column.value(row))).collect();
                rows.push((tags, *time, fields.iter().map(|column| word(column.value(row))).collect()));
            }
        }
        rows
    }
}

/// Deletes something of the store and of the model: rows, or cells of a field.
fn delete(random: &mut Random, fields: &[String], store: &Store, model: &mut Model) {
    let question = Question::random(random);
    let (times, tag) = (question.times, question.tag);
    let field = random.one_in(2).then(|| random.below(fields.len()));
    let mut delete = store.delete("all").time(times.clone());
    if let Some(tag) = tag {
        delete = delete.filter(Predicate::Compare("t1".to_owned(), CompareOp::Eq, tag.to_owned()));
    }
    if let Some(field) = field {
        delete = delete.columns([fields[field].as_str()]);
    }
    delete.run().unwrap();
    let is_meant = |tags: &[Option<String>], time: i64| times.contains(&time) && (tag.is_none() || tags[0].as_deref() == tag);
    match field {
        None => model.retain(|(tags, time), _| !is_meant(tags, *time)),
        Some(field) => {
            let meant = model.iter_mut().filter(|((tags, time), _)| is_meant(tags, *time));
            meant.for_each(|(_, cells)| cells[field] = None);
        }
    }
}

/// Files are merged early, in the background too.
fn open(dir: &FaultDir, generator: &TabletGenerator) -> Store {
    let compaction = CompactionOptions { files: 2, ..CompactionOptions::default() };
    let options = StoreOptions { memtable_bytes_max: 1 << 20, compaction, ..StoreOptions::default() };
    let store = Store::open_dir(Arc::new(dir.clone()), options).unwrap();
    store.create_table(generator.schema()).unwrap();
    store
}

/// Every write is acknowledged, so a crash at any later moment must leave the model, to the cell.
fn check(seed: u64, operations: usize) {
    let mut random = Random::new(seed);
    let mut generator = TabletGenerator::new(seed);
    let mut dir = FaultDir::new();
    let mut store = open(&dir, &generator);
    let mut model = Model::new();
    let schema = generator.schema().clone();
    let fields: Vec<String> = schema.fields().map(|field| schema.columns()[field].name.clone()).collect();
    for operation in 0..operations {
        let context = format!("seed {seed}, operation {operation}");
        match random.below(14) {
            0..=5 => {
                let tablet = generator.next_tablet(40, 120);
                store.write(&tablet).unwrap();
                apply(&mut model, &tablet);
            }
            6 => store.flush().unwrap(),
            9 => delete(&mut random, &fields, &store, &mut model),
            10 if random.one_in(3) => store.compact().unwrap(),
            7 if random.one_in(3) => {
                drop(store);
                store = open(&dir, &generator);
            }
            8 if random.one_in(3) => {
                let mode = *random.pick(&[Unsynced::Lost, Unsynced::Kept, Unsynced::Some { seed }, Unsynced::TornLast { seed }]);
                let trace = dir.trace();
                drop(store);
                dir = trace.crash(trace.len(), mode);
                store = open(&dir, &generator);
            }
            _ => {
                let question = Question::random(&mut random);
                assert_eq!(question.of_store(&store), question.of_model(&model), "{context}: {question:?}");
            }
        }
    }
}

#[test]
fn random_operations_agree_with_a_map() {
    for seed in 0..60 {
        check(seed, 40);
    }
}
