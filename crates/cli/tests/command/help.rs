//! What the command says about itself, and how it ends when the command line is wrong.

use crate::lab::Lab;

const VERBS: [&str; 16] = [
    "ls", "meta", "schema", "stats", "count", "head", "cat", "export", "import", "convert", "merge", "sketch", "verify",
    "recover", "plot", "write",
];

fn help(words: &str) -> String {
    let text = Lab::new().good(words);
    // Lines as printed, without the spaces that clap puts at their ends.
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn help_goes_to_standard_output() {
    insta::assert_snapshot!("help", help("--help"));
    for verb in VERBS {
        insta::assert_snapshot!(format!("help_{verb}"), help(&format!("{verb} --help")));
    }
    for verb in ["init", "scan", "flush", "compact", "verify", "stats", "backup", "delete"] {
        insta::assert_snapshot!(format!("help_store_{verb}"), help(&format!("store {verb} --help")));
    }
    for verb in ["dump", "verify", "repair"] {
        insta::assert_snapshot!(format!("help_wal_{verb}"), help(&format!("wal {verb} --help")));
    }
    insta::assert_snapshot!("help_tablet_dump", help("tablet dump --help"));
    insta::assert_snapshot!("help_tablet_reencode", help("tablet reencode --help"));
}

#[test]
fn version_is_that_of_the_package() {
    assert_eq!(Lab::new().good("--version"), concat!("tsloom ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_wrong_command_line_ends_with_1() {
    for words in [
        "",
        "frobnicate",
        "cat",
        "cat a.tsfile --store b",
        "cat a.tsfile --no-such-flag",
        "cat a.tsfile --start yesterday",
        "cat a.tsfile -f parquet",
        "cat a.tsfile --tag-filter site like x",
        "cat a.tsfile -t a -d b",
        "convert a.tsfile",
        "convert a.tsfile --out b --encoding HUFFMAN",
        "merge --out b",
        "export a.tsfile",
        "export a.tsfile -o b --output-dir c",
        "plot a.tsfile",
        "recover a.tsfile --like b",
        "verify",
        "cat a.tsfile --where-tag nonsense",
        "cat a.tsfile --schema",
        "import a.csv",
        "import a.csv --out b --store c",
        "import a.csv --out b --ack",
        "import a.csv --out b --batch-rows 7",
        "import a.csv --store b --batch-rows 0",
        "import a.csv --out b --type v=DECIMAL",
        "import a.csv --out b --type v",
        "tablet",
        "tablet dump",
        "tablet dump a.bin --json -n 3",
        "tablet reencode a.bin",
    ] {
        let ended = Lab::new().run(words);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{words}");
        assert!(!ended.stderr.is_empty(), "{words}");
    }
}
