//! A file that needs a compressor which is off in this build is opened, and its pages are `Unsupported` with the name of the
//! feature. Run it with `--no-default-features`, too: then all compressors are off.

use std::path::Path;

use tsloom_file::{FileReader, VerifyOptions, check_table, verify};
use tsloom_model::{ColumnSchema, Compression, DataType, ErrorKind, TableSchema};

/// A file, its compression, the feature, and whether that is on.
const FILES: [(&str, Compression, &str, bool); 7] = [
    ("java/comp_uncompressed", Compression::Uncompressed, "", true),
    ("java/comp_snappy", Compression::Snappy, "snappy", cfg!(feature = "snappy")),
    ("java/comp_lz4", Compression::Lz4, "lz4", cfg!(feature = "lz4")),
    ("java/comp_gzip", Compression::Gzip, "gzip", cfg!(feature = "gzip")),
    ("cpp/comp_lzo", Compression::Lzo, "lzo", cfg!(feature = "lzo")),
    ("java/comp_zstd", Compression::Zstd, "zstd", cfg!(feature = "zstd")),
    ("java/comp_lzma2", Compression::Lzma2, "xz", cfg!(feature = "xz")),
];

#[test]
fn a_file_whose_compressor_is_off_names_the_feature() {
    for (name, compression, feature, is_on) in FILES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/{name}.tsfile"));
        let reader = FileReader::open(path).unwrap();
        let findings = verify(&reader, VerifyOptions::default(), &mut |_, _| {}).unwrap().findings;
        // Java and C++ compress the times of some files otherwise, so that not every finding need be of this feature.
        let is_of = |error: &tsloom_model::Error| error.kind() == ErrorKind::Unsupported && error.to_string().contains(feature);
        assert_eq!(findings.is_empty(), is_on, "{name}: {:?}", findings.first());
        assert!(is_on || findings.iter().any(|finding| is_of(&finding.error)), "{name}: {:?}", findings.first());

        let column = ColumnSchema::field("v", DataType::Int32).compression(compression);
        let refused = check_table(&TableSchema::from_stored("t", vec![column]).unwrap()).err();
        assert_eq!(refused.is_none(), is_on && compression != Compression::Lzo, "{name}: {refused:?}");
        assert!(is_on || refused.is_some_and(|error| is_of(&error)), "{name}");
    }
}
