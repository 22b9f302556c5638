//! Golden vectors: whole encoded columns that the real encoders of Java and libtsfile produced from these inputs.
//! Encoding gives the same bytes, decoding gives the values back.

mod support;

use support::{back, back_with, encoded, from_hex, hex, values};
use tsloom_codec::{DecodeOptions, DecodeScratch, EncodeOptions, RlbeFloats};
use tsloom_model::{DataType, Encoding, Values};

#[expect(clippy::approx_constant, reason = "3.14 is the value of the vectors")]
fn input(data_type: DataType) -> Values {
    const HIGH: i64 = 10_000_000_000;
    match data_type {
        DataType::Boolean => Values::Boolean([[true; 9].as_slice(), &[false]].concat()),
        DataType::Int32 | DataType::Date => Values::Int32(vec![3, 5, 5, -2, 100, 100, 100, 100, 100, 100, 100, 100, 100, 7]),
        DataType::Int64 | DataType::Timestamp => Values::Int64(vec![3, 5, 5, -2, HIGH, HIGH, 7]),
        DataType::Float => Values::Float(vec![1.5, 1.5, -2.25, 3.14, 100.0]),
        DataType::Double => Values::Double(vec![1.5, 1.5, -2.25, 3.14, 100.0]),
        DataType::Text | DataType::String | DataType::Blob => values(&["a", "bb", "a", "é"]),
    }
}

/// What scaled encodings and such give back is written here; every other column comes back bit for bit.
const TWO_DECIMALS: EncodeOptions = EncodeOptions { max_point_number: Some(2) };

const COLUMNS: &[(DataType, Encoding, &str)] = &[
    (DataType::Boolean, Encoding::Plain, "01010101010101010100"),
    (DataType::Int32, Encoding::Plain, "060a0a03c801c801c801c801c801c801c801c801c8010e"),
    (DataType::Int32, Encoding::Ts2Diff, "0000000d00000008ffffffa3000000035f5d56c35d5d5d5d5d5d5d5d00"),
    (DataType::Int32, Encoding::Gorilla, "00000003fa1d83ffffffff77fffffcd004000000c74000000380"),
    (
        DataType::Int64,
        Encoding::Plain,
        "000000000000000300000000000000050000000000000005fffffffffffffffe00000002540be40000000002540be4000000000000000007",
    ),
    (
        DataType::Int64,
        Encoding::Ts2Diff,
        "0000000600000023fffffffdabf41c0700000000000000034a817c7f69502f8fe52a05f1f94a817c7fb4a817c7f20000000000",
    ),
    (
        DataType::Int64,
        Encoding::Gorilla,
        "0000000000000003fd07607ffffffffffffffff77ffffffed5fa0dff200000002540be407a000000000000001c",
    ),
    (DataType::Float, Encoding::Plain, "3fc000003fc00000c01000004048f5c342c80000"),
    (DataType::Float, Encoding::Ts2Diff, "02000000040000000efffffe890000009605dc0000e4a74d"),
    (DataType::Float, Encoding::Gorilla, "3fc00000605ffee0fc02c7ae1c0501eb871e84000000"),
    (DataType::Double, Encoding::Plain, "3ff80000000000003ff8000000000000c00200000000000040091eb851eb851f4059000000000000"),
    (DataType::Double, Encoding::Ts2Diff, "02000000040000000efffffffffffffe89000000000000009605dc0000e4a74d"),
    (DataType::Double, Encoding::Gorilla, "3ff8000000000000601dfff703f800b1eb851eb851f801407ae147ae147e3fa100000000000000"),
    (DataType::Text, Encoding::Plain, "0261046262026104c3a9"),
    (DataType::Boolean, Encoding::Rle, "06011201030100"),
    (
        DataType::Int32,
        Encoding::Rle,
        "43200506000000030000000500000005fffffffe000000640000006400000064000000640000006400000064000000640000006400000064000000070000000000000000",
    ),
    (DataType::Int32, Encoding::ZigZag, "170e060a0a03c801c801c801c801c801c801c801c801c8010e"),
    (
        DataType::Int64,
        Encoding::Rle,
        "43400307000000000000000300000000000000050000000000000005fffffffffffffffe00000002540be40000000002540be40000000000000000070000000000000000",
    ),
    (DataType::Int64, Encoding::ZigZag, "0f07060a0a038090dfc04a8090dfc04a0e"),
    (DataType::Float, Encoding::Rle, "02232003050000009600000096ffffff1f0000013a00002710000000000000000000000000"),
    (
        DataType::Double,
        Encoding::Rle,
        "024340030500000000000000960000000000000096ffffffffffffff1f000000000000013a0000000000002710000000000000000000000000000000000000000000000000",
    ),
    (DataType::Text, Encoding::Dictionary, "06026104626204c3a9050203041200"),
    (DataType::Int32, Encoding::Chimp, "00000003f8300e3ffffffeeffffff9a0405060708090a0bfb1e20000001c"),
    (DataType::Int32, Encoding::Sprintz, "080303000ecb03000000850a070305c9932640e00000"),
    (DataType::Int32, Encoding::Rlbe, "0000000e09f03a0dffffffe47f30218041bfffffd180"),
    (
        DataType::Int64,
        Encoding::Chimp,
        "0000000000000003f80000000030071fffffffffffffff77ffffffed5fa0dff013e04a817c80f8800000000000000700",
    ),
    (
        DataType::Int64,
        Encoding::Sprintz,
        "8743400307000000000000000300000000000000050000000000000005fffffffffffffffe00000002540be40000000002540be40000000000000000070000000000000000",
    ),
    (DataType::Int64, Encoding::Rlbe, "0000000704f80e81bffffffffffffffca2e540be40203a06fffffffb57e8380e"),
    (DataType::Float, Encoding::Chimp, "3fc0000000410cffdc402c7ae1a106c16d1034f420"),
    (DataType::Float, Encoding::Sprintz, "853fc00000605ffee0fc02c7ae1c0501eb871e84000000"),
    (DataType::Float, Encoding::Rlbe, "000000057bff0000001d03005000000038f5c36b9fc28f40"),
    (DataType::Double, Encoding::Chimp, "3ff8000000000000002041ffff7100163d70a3d70a3e8208402da10207f420"),
    (DataType::Double, Encoding::Sprintz, "853ff8000000000000601dfff703f800b1eb851eb851f801407ae147ae147e3fa100000000000000"),
    (DataType::Double, Encoding::Rlbe, "000000057dfff0000000000000074060014000000000000000e3d70a3d70a3edf9fc28f5c28f5c20"),
    (DataType::Double, Encoding::Camel, "ce023ff8000000000000400300c1068020823861408000"),
];

#[test]
fn columns_are_those_of_upstream() {
    for &(data_type, encoding, expected) in COLUMNS {
        let input = input(data_type);
        let bytes = encoded(encoding, data_type, &input, TWO_DECIMALS).unwrap();
        assert_eq!(hex(&bytes), expected, "{data_type} {encoding}");
        let back = back(encoding, data_type, &bytes, input.len()).unwrap();
        assert_eq!(support::bits(&back), support::bits(&input), "{data_type} {encoding}");
    }
}

#[test]
fn types_of_one_form_share_their_bytes() {
    let twins = [
        (DataType::Date, DataType::Int32),
        (DataType::Timestamp, DataType::Int64),
        (DataType::String, DataType::Text),
        (DataType::Blob, DataType::Text),
    ];
    for (twin, data_type) in twins {
        for &(of, encoding, expected) in COLUMNS {
            if of == data_type && twin.allows(encoding) {
                assert_eq!(hex(&encoded(encoding, twin, &input(twin), TWO_DECIMALS).unwrap()), expected, "{twin} {encoding}");
            }
        }
    }
}

/// Columns that are read and not written.
#[test]
fn older_columns_are_read() {
    let old_floats = || DecodeScratch::with_options(DecodeOptions { rlbe_floats: RlbeFloats::Old, ..DecodeOptions::default() });
    let columns = [
        (DataType::Float, Encoding::GorillaV1, "0000c03f6033ff704100b1eb870280f5c39e84"),
        (DataType::Double, Encoding::GorillaV1, "000000000000f83f600ffffb8102002c7ae147ae147e00a03d70a3d70a3f3fa1"),
        (DataType::Float, Encoding::Rlbe, "000000057bff0000001d0680e00000fb8158f5c50b06e148"),
        (DataType::Double, Encoding::Rlbe, "000000057dfff00000000000000740d0038000000000001fb802b1eb851eb85210160dc28f5c28f5c0"),
    ];
    for (data_type, encoding, column) in columns {
        let mut input = input(data_type);
        if encoding == Encoding::Rlbe {
            // What Java reads: -2.25 and the stored difference add up to the next float.
            match &mut input {
                Values::Float(values) => values[3] = values[3].next_up(),
                Values::Double(values) => values[3] = values[3].next_up(),
                _ => unreachable!("the table holds floats"),
            }
        }
        let back = back_with(encoding, data_type, &from_hex(column), input.len(), &mut old_floats()).unwrap();
        assert_eq!(support::bits(&back), support::bits(&input), "{data_type} {encoding}");
    }
    let regular = back(Encoding::Regular, DataType::Int32, &from_hex("010000000117000000050000000a0000000a"), 4).unwrap();
    assert_eq!(support::bits(&regular), support::bits(&Values::Int32(vec![10, 20, 30, 50])));
    let column = from_hex("01000000011700000005000000000000000a000000000000000a");
    let regular = back(Encoding::Regular, DataType::Int64, &column, 4).unwrap();
    assert_eq!(support::bits(&regular), support::bits(&Values::Int64(vec![10, 20, 30, 50])));
}

/// Scaled columns in which some values are not scaled, by libtsfile.
#[test]
fn overflow_prefixes_are_those_of_libtsfile() {
    let nan_32 = f32::from_bits(0x7fc0_0000);
    let nan_64 = f64::from_bits(0x7ff8_0000_0000_0000);
    let floats = |values: &[f32]| Values::Float(values.to_vec());
    let doubles = |values: &[f64]| Values::Double(values.to_vec());
    let columns = [
        (
            DataType::Float,
            floats(&[1.5, 3e8, -2.25, 7.0]),
            "ffffffff07040d02000000030000001eee1e5c1f000000968f0d192c000000047869df80",
        ),
        (
            DataType::Float,
            floats(&[1.5, 1e30, nan_32, 3e8, -1.25]),
            "feffffff0705110602 00000004000000209221a30000000096df284f347c546a36000000005bfcb983",
        ),
        (
            DataType::Double,
            doubles(&[1.5, 1e300, nan_64, 5e17, -1.25]),
            "feffffff0705110602000000040000004086f85b59d3b200000000000000000096f73f88e2b44e75067ac7c069a44d8a6400000000000000007217494c589bff83",
        ),
    ];
    for (data_type, input, expected) in columns {
        let bytes = encoded(Encoding::Ts2Diff, data_type, &input, TWO_DECIMALS).unwrap();
        assert_eq!(hex(&bytes), expected.replace(' ', ""), "{data_type}");
        let back = back(Encoding::Ts2Diff, data_type, &bytes, input.len()).unwrap();
        assert_eq!(support::bits(&back), support::bits(&input), "{data_type}");
    }
}

#[test]
fn times_are_those_of_upstream() {
    let mut bytes = Vec::new();
    tsloom_codec::encode_times(&[100, 101, 102], &mut bytes);
    assert_eq!(hex(&bytes), "000000020000000000000000000000010000000000000064");
}
