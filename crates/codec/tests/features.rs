//! A page of a compressor that is off in this build is `Unsupported`, and the message names the feature. Run it with
//! `--no-default-features`, too: then all of them are off.

use tsloom_codec::compress::{CompressScratch, check_writable, compress, decompress, decompress_into, is_supported, is_writable};
use tsloom_model::{Compression, ErrorKind, Result};

/// Every compressor, its feature, and whether that is on.
const FEATURES: [(Compression, &str, bool); 6] = [
    (Compression::Snappy, "snappy", cfg!(feature = "snappy")),
    (Compression::Lz4, "lz4", cfg!(feature = "lz4")),
    (Compression::Gzip, "gzip", cfg!(feature = "gzip")),
    (Compression::Lzo, "lzo", cfg!(feature = "lzo")),
    (Compression::Zstd, "zstd", cfg!(feature = "zstd")),
    (Compression::Lzma2, "xz", cfg!(feature = "xz")),
];

fn check_off(feature: &str, result: Result<()>) {
    let Err(error) = result else { panic!("it is off without the feature {feature}") };
    assert!(error.kind() == ErrorKind::Unsupported && error.to_string().ends_with(&format!("the feature {feature}")), "{error}");
}

#[test]
fn a_compressor_that_is_off_names_its_feature() {
    let mut scratch = CompressScratch::default();
    for (compression, feature, is_on) in FEATURES {
        assert_eq!(is_supported(compression), is_on, "{compression}");
        assert_eq!(is_writable(compression), is_on && compression != Compression::Lzo, "{compression}");
        if !is_on {
            check_off(feature, check_writable(compression));
            let mut out = vec![1];
            check_off(feature, compress(compression, b"abc", &mut out, &mut scratch));
            check_off(feature, decompress(compression, b"abc", 3, &mut out, &mut scratch));
            check_off(feature, decompress_into(compression, b"abc", &mut [0; 3], &mut scratch));
            assert_eq!(out, [1]);
        }
    }
    assert!(is_writable(Compression::Uncompressed));
}
