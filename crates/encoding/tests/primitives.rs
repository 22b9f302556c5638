//! Numbers, varints and strings: known bytes, round trips, and what happens where bytes end.
//!
//! Known bytes are from the Java classes `ReadWriteIOUtils` and `ReadWriteForEncodingUtils` as the format's
//! description quotes them.

use bytes::BufMut;
use tsloom_encoding::{
    ToWire, Truncated, WireError, WirePut, WireReader, istr_size, svar_size, svar64_size, unzigzag32, unzigzag64, uvar_size,
    uvar64_size, vstr_size, zigzag32, zigzag64,
};

fn edges() -> Vec<u64> {
    let mut all: Vec<u64> = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
    all.extend([u64::MAX, u64::MAX - 1, i32::MAX as u64, u64::from(u32::MAX)]);
    all
}

#[test]
fn varints_have_known_bytes() {
    let cases: [(u32, &[u8]); 5] =
        [(0, &[0]), (127, &[0x7f]), (128, &[0x80, 1]), (300, &[0xac, 2]), (u32::MAX, &[0xff, 0xff, 0xff, 0xff, 0x0f])];
    for (value, bytes) in cases {
        let mut out = Vec::new();
        out.put_uvar(value);
        assert_eq!(out, bytes);
    }
    let cases: [(i32, &[u8]); 5] = [
        (0, &[0]),
        (-1, &[1]),
        (2, &[4]),
        (i32::MAX, &[0xfe, 0xff, 0xff, 0xff, 0x0f]),
        (i32::MIN, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
    ];
    for (value, bytes) in cases {
        let mut out = Vec::new();
        out.put_svar(value);
        assert_eq!(out, bytes);
    }
}

#[test]
fn varints_come_back_and_have_the_size_they_say() {
    for value in edges() {
        let mut out = Vec::new();
        out.put_uvar64(value);
        assert_eq!(out.len(), uvar64_size(value));
        assert_eq!(WireReader::new(&out).uvar64(), Ok(value));

        let signed = value as i64;
        assert_eq!(unzigzag64(zigzag64(signed)), signed);
        out.clear();
        out.put_svar64(signed);
        assert_eq!(out.len(), svar64_size(signed));
        assert_eq!(WireReader::new(&out).svar64(), Ok(signed));

        let small = value as u32;
        out.clear();
        out.put_uvar(small);
        assert_eq!(out.len(), uvar_size(small));
        assert_eq!(WireReader::new(&out).uvar(), Ok(small));

        let signed = value as i32;
        assert_eq!(unzigzag32(zigzag32(signed)), signed);
        out.clear();
        out.put_svar(signed);
        assert_eq!(out.len(), svar_size(signed));
        assert_eq!(WireReader::new(&out).svar(), Ok(signed));
    }
}

#[test]
fn a_varint_past_its_width_is_refused() {
    let too_long = Err(WireError::VarintTooLong { at: 10 });
    for bytes in [&[0xff, 0xff, 0xff, 0xff, 0x10][..], &[0x80; 5], &[0x80, 0x80, 0x80, 0x80, 0x80, 0]] {
        let mut wire = WireReader::with_base(bytes, 10);
        assert_eq!(wire.uvar(), too_long);
        assert_eq!((wire.position(), wire.remaining()), (10, bytes.len()), "a failed read stays");
    }
    let mut ten = [0xff; 10];
    ten[9] = 1;
    assert_eq!(WireReader::new(&ten).uvar64(), Ok(u64::MAX));
    ten[9] = 2;
    assert_eq!(WireReader::with_base(&ten, 10).uvar64(), Err(WireError::VarintTooLong { at: 10 }));
    assert_eq!(WireReader::with_base(&[0x80; 30], 10).uvar64(), Err(WireError::VarintTooLong { at: 10 }));
}

#[test]
fn a_varint_that_ends_too_early_is_truncated() {
    for size in 0..5 {
        let truncated = Truncated { need: size + 1, have: size, at: 3 };
        assert_eq!(WireReader::with_base(&[0x80; 5][..size], 3).uvar(), Err(truncated.into()));
    }
    for size in 0..10 {
        let truncated = Truncated { need: size + 1, have: size, at: 3 };
        assert_eq!(WireReader::with_base(&[0xff; 10][..size], 3).uvar64(), Err(truncated.into()));
    }
}

#[test]
fn numbers_come_back() {
    let bytes: Vec<u8> = (0x81..0x81 + 46).collect();
    let mut wire = WireReader::new(&bytes);
    assert_eq!(wire.u8(), Ok(0x81));
    assert_eq!(wire.i8(), Ok(0x82_u8 as i8));
    assert_eq!(wire.u16(), Ok(0x8384));
    assert_eq!(wire.i16(), Ok(0x8586_u16 as i16));
    assert_eq!(wire.u32(), Ok(0x8788_898a));
    assert_eq!(wire.i32(), Ok(0x8b8c_8d8e_u32 as i32));
    assert_eq!(wire.u64(), Ok(0x8f90_9192_9394_9596));
    assert_eq!(wire.i64(), Ok(0x9798_999a_9b9c_9d9e_u64 as i64));
    assert_eq!(wire.f32().map(f32::to_bits), Ok(0x9fa0_a1a2));
    assert_eq!(wire.f64().map(f64::to_bits), Ok(0xa3a4_a5a6_a7a8_a9aa));
    assert_eq!(wire.array(), Ok([0xab, 0xac]));
    assert_eq!(wire.skip(1), Ok(()));
    assert_eq!(wire.position(), 45);
    assert_eq!(wire.rest(), [0xae]);
    assert_eq!(wire.i32(), Err(Truncated { need: 4, have: 1, at: 45 }.into()));
    assert_eq!(wire.bytes(1), Ok(&[0xae][..]));
    assert!(wire.is_empty());
}

#[test]
fn a_flag_is_zero_or_one() {
    let mut wire = WireReader::with_base(&[0, 1, 2], 5);
    assert_eq!(wire.bool(), Ok(false));
    assert_eq!(wire.bool(), Ok(true));
    assert_eq!(wire.bool(), Err(WireError::BadBool { at: 7, byte: 2 }));
    assert_eq!(WireReader::new(&[]).bool(), Err(Truncated { need: 1, have: 0, at: 0 }.into()));
}

#[test]
fn strings_come_back_null_and_empty_apart() {
    let long = "ä".repeat(100);
    for text in [None, Some(""), Some("s1"), Some(long.as_str())] {
        let bytes = text.map(str::as_bytes);
        let mut out = Vec::new();
        out.put_vstr(bytes);
        assert_eq!(out.len(), vstr_size(bytes));
        let vstr_end = out.len();
        out.put_istr(bytes);
        assert_eq!(out.len() - vstr_end, istr_size(bytes));

        let mut wire = WireReader::new(&out);
        assert_eq!(wire.clone().vstr(), Ok(bytes));
        assert_eq!(wire.vstr_utf8(), Ok(text));
        assert_eq!(wire.clone().istr(), Ok(bytes));
        assert_eq!(wire.istr_utf8(), Ok(text));
        assert!(wire.is_empty());

        let null = WireError::NullString { at: 0 };
        assert_eq!(WireReader::new(&out).vstr_present(), text.ok_or(null));
        let null = WireError::NegativeLength { at: 0, length: -1 };
        assert_eq!(WireReader::new(&out).vbin(), bytes.ok_or(null));
        let null = WireError::NullString { at: vstr_end };
        assert_eq!(WireReader::with_base(&out[vstr_end..], vstr_end).istr_present(), text.ok_or(null));
        let null = WireError::NegativeLength { at: 0, length: -1 };
        assert_eq!(WireReader::new(&out[vstr_end..]).ibin(), bytes.ok_or(null));
    }
    let mut out = Vec::new();
    out.put_vstr(None);
    out.put_istr(None);
    assert_eq!(out, [1, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn bad_strings_name_their_length_field() {
    let check = |bytes: &[u8], expected: WireError| {
        let mut wire = WireReader::with_base(bytes, 100);
        assert_eq!(wire.istr_utf8(), Err(expected));
        assert_eq!((wire.position(), wire.remaining()), (100, bytes.len()), "a failed read stays");
        assert_eq!(expected.at(), if matches!(expected, WireError::Truncated(_)) { 104 } else { 100 });
    };
    check(&[0xff, 0xff, 0xff, 0xfe], WireError::NegativeLength { at: 100, length: -2 });
    check(&[0x80, 0, 0, 0], WireError::NegativeLength { at: 100, length: i64::from(i32::MIN) });
    check(&[0, 0, 0, 2, 0xc3, 0x28], WireError::NotUtf8 { at: 100 });
    check(&[0x7f, 0xff, 0xff, 0xff, 1], Truncated { need: 0x7fff_ffff, have: 1, at: 104 }.into());

    let mut wire = WireReader::with_base(&[3], 100);
    assert_eq!(wire.vstr(), Err(WireError::NegativeLength { at: 100, length: -2 }));
}

#[test]
fn every_cut_of_a_record_is_truncated_and_nothing_else() {
    let mut out = Vec::new();
    out.put_vstr(Some(b"root.sg"));
    out.put_ibin(b"\x00\xff");
    out.put_uvar64(u64::MAX);
    out.put_f64(-0.0);
    let read = |bytes: &[u8]| -> Result<(), WireError> {
        let mut wire = WireReader::new(bytes);
        wire.vstr()?;
        wire.ibin()?;
        wire.uvar64()?;
        wire.f64()?;
        Ok(())
    };
    assert_eq!(read(&out), Ok(()));
    for cut in 0..out.len() {
        assert!(matches!(read(&out[..cut]), Err(WireError::Truncated(_))), "cut at {cut}");
    }
}

#[test]
fn a_position_past_the_address_space_does_not_wrap() {
    let mut wire = WireReader::with_base(&[0; 8], usize::MAX - 2);
    assert_eq!(wire.skip(4), Ok(()));
    assert_eq!(wire.position(), usize::MAX);
}

#[test]
fn to_wire_writes_after_what_is_there() {
    struct Pair(u32, &'static [u8]);
    impl ToWire for Pair {
        fn wire_size(&self) -> usize {
            uvar_size(self.0) + istr_size(Some(self.1))
        }
        fn write_to<B: bytes::BufMut>(&self, out: &mut B) {
            out.put_uvar(self.0);
            out.put_ibin(self.1);
        }
    }
    let pair = Pair(300, b"x");
    assert_eq!(pair.to_vec(), [0xac, 2, 0, 0, 0, 1, b'x']);
    let mut place = [7; 9];
    let mut middle = &mut place[1..8];
    pair.write_to(&mut middle);
    assert!(middle.is_empty());
    assert_eq!(place, [7, 0xac, 2, 0, 0, 0, 1, b'x', 7]);
}
