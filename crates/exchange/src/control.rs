//! The payloads of control frames.
//!
//! ```text
//! OPEN     vstr id   u8 role (0 the opener sends, 1 the opener receives)   u8 codec (0 blocks, 1 tablets)
//!          uvar64 deadline in ms from now (0 = none)   credit   uvar column_count, each: vstr name, u8 type code   vbin request
//! ACCEPT   credit                      CREDIT  credit
//! credit   uvar64 bytes   uvar64 blocks
//! EOS      stats                       stats   uvar count, each: vstr name, uvar64 value
//! ERROR    u8 end   vstr origin   vstr text   stats
//! CANCEL   vstr reason                 PING    any 8 bytes, which come back
//! ```
//!
//! Numbers and strings are those of crate `encoding`. What it is not: policy; limits on lengths are those of the frame, and no
//! count is believed that the bytes that are left could not hold.

use bytes::BufMut;
use tsloom_block::BlockColumn;
use tsloom_encoding::{WirePut, WireReader};
use tsloom_model::{DataType, Error, ErrorKind, Result};

use crate::frame::FrameKind;
use crate::state::End;

/// Room that a receiver promises: payload bytes and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credit {
    /// Payload bytes of blocks.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
}

/// Which side opened the mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The opener sends blocks.
    Sender,
    /// The opener receives blocks.
    Receiver,
}

/// What the data frames of a mailbox hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadCodec {
    /// Blocks: columns as they lie in memory.
    Block,
    /// Tablets in their wire form.
    Tablet,
}

/// Makes a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Names the mailbox for people and for the other side.
    pub id: String,
    /// Which side opened it.
    pub role: Role,
    /// What its data frames hold.
    pub codec: PayloadCodec,
    /// Milliseconds until it ends by itself.
    pub deadline_ms: Option<u64>,
    /// Room that the opener promises when it receives; 0 when it sends.
    pub credit: Credit,
    /// Columns of its blocks; empty when the receiver opens it and does not know them, or for tablets.
    pub schema: Vec<BlockColumn>,
    /// What the opener asks for, in the words of the service behind it.
    pub request: Vec<u8>,
}

/// Named figures that travel with the end of a mailbox.
pub type Stats = Vec<(String, u64)>;

/// Why a mailbox ended without success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of end it was; never success.
    pub end: End,
    /// Server, stage or worker where it happened.
    pub origin: String,
    /// For people.
    pub text: String,
    /// What was done until then.
    pub stats: Stats,
}

/// A control frame's payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// Makes a mailbox.
    Open(Open),
    /// The other side has it too. When it receives, this is the room it promises; when it sends, these are the columns.
    Accept {
        /// Room that the accepting side promises; 0 when it sends.
        credit: Credit,
        /// Columns of its blocks when it sends blocks; else empty.
        schema: Vec<BlockColumn>,
    },
    /// No more blocks: success.
    Eos(Stats),
    /// No more blocks: anything else.
    Error(Failure),
    /// More room.
    Credit(Credit),
    /// The reader wants no more blocks.
    EarlyTerminate,
    /// One side gives up.
    Cancel(String),
    /// The unfinished block is void.
    ResetBlock,
    /// Comes back as it is.
    Ping([u8; 8]),
}

impl Control {
    /// The kind of frame it travels in.
    pub fn kind(&self) -> FrameKind {
        match self {
            Self::Open(_) => FrameKind::Open,
            Self::Accept { .. } => FrameKind::Accept,
            Self::Eos(_) => FrameKind::Eos,
            Self::Error(_) => FrameKind::Error,
            Self::Credit(_) => FrameKind::Credit,
            Self::EarlyTerminate => FrameKind::EarlyTerminate,
            Self::Cancel(_) => FrameKind::Cancel,
            Self::ResetBlock => FrameKind::ResetBlock,
            Self::Ping(_) => FrameKind::Ping,
        }
    }

    /// Appends the payload.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        match self {
            Self::Open(open) => {
                out.put_vstr(Some(open.id.as_bytes()));
                out.put_u8(matches!(open.role, Role::Receiver).into());
                out.put_u8(matches!(open.codec, PayloadCodec::Tablet).into());
                out.put_uvar64(open.deadline_ms.map_or(0, |ms| ms.max(1)));
                put_credit(out, open.credit);
                put_schema(out, &open.schema);
                out.put_vbin(&open.request);
            }
            Self::Accept { credit, schema } => {
                put_credit(out, *credit);
                put_schema(out, schema);
            }
            Self::Eos(stats) => put_stats(out, stats),
            Self::Error(failure) => {
                out.put_u8(end_code(failure.end));
                out.put_vstr(Some(failure.origin.as_bytes()));
                out.put_vstr(Some(failure.text.as_bytes()));
                put_stats(out, &failure.stats);
            }
            Self::Credit(credit) => put_credit(out, *credit),
            Self::Cancel(reason) => out.put_vstr(Some(reason.as_bytes())),
            Self::Ping(bytes) => out.put_slice(bytes),
            Self::EarlyTerminate | Self::ResetBlock => {}
        }
    }

    /// Reads the payload of a control frame.
    ///
    /// # Errors
    /// `Truncated` and `Corrupt` with the position in the payload; a data frame is an `InvalidArgument`.
    pub fn parse(kind: FrameKind, payload: &[u8]) -> Result<Self> {
        let mut wire = WireReader::new(payload);
        let control = read(kind, &mut wire).map_err(|error| error.in_place("control frame"))?;
        if !wire.is_empty() {
            return Err(corrupt(format!("{} bytes after the end of a frame of kind {kind:?}", wire.remaining())));
        }
        Ok(control)
    }
}

fn read(kind: FrameKind, wire: &mut WireReader<'_>) -> Result<Control> {
    Ok(match kind {
        FrameKind::Open => Control::Open(Open {
            id: wire.vstr_present()?.to_owned(),
            role: if wire.bool()? { Role::Receiver } else { Role::Sender },
            codec: if wire.bool()? { PayloadCodec::Tablet } else { PayloadCodec::Block },
            deadline_ms: Some(wire.uvar64()?).filter(|&ms| ms > 0),
            credit: credit(wire)?,
            schema: schema(wire)?,
            request: wire.vbin()?.to_vec(),
        }),
        FrameKind::Accept => Control::Accept { credit: credit(wire)?, schema: schema(wire)? },
        FrameKind::Eos => Control::Eos(stats(wire)?),
        FrameKind::Error => {
            let code = wire.u8()?;
            let end = end_of(code).ok_or_else(|| corrupt(format!("unknown end {code}")))?;
            let (origin, text) = (wire.vstr_present()?.to_owned(), wire.vstr_present()?.to_owned());
            Control::Error(Failure { end, origin, text, stats: stats(wire)? })
        }
        FrameKind::Credit => Control::Credit(credit(wire)?),
        FrameKind::EarlyTerminate => Control::EarlyTerminate,
        FrameKind::Cancel => Control::Cancel(wire.vstr_present()?.to_owned()),
        FrameKind::ResetBlock => Control::ResetBlock,
        FrameKind::Ping => Control::Ping(wire.array()?),
        FrameKind::Data => return Err(Error::new(ErrorKind::InvalidArgument, "a data frame holds no control payload")),
    })
}

fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message)
}

/// Codes of the ends that a failure can have; success is no failure.
fn end_code(end: End) -> u8 {
    End::ALL.iter().position(|&other| other == end).map_or(0, |index| index as u8)
}

fn end_of(code: u8) -> Option<End> {
    End::ALL.get(usize::from(code)).copied().filter(|&end| end != End::Success)
}

fn put_credit(out: &mut Vec<u8>, credit: Credit) {
    out.put_uvar64(credit.bytes);
    out.put_uvar64(credit.blocks);
}

fn credit(wire: &mut WireReader<'_>) -> Result<Credit> {
    Ok(Credit { bytes: wire.uvar64()?, blocks: wire.uvar64()? })
}

fn put_schema(out: &mut Vec<u8>, schema: &[BlockColumn]) {
    out.put_uvar(schema.len() as u32);
    for column in schema {
        out.put_vstr(Some(column.name.as_bytes()));
        out.put_u8(column.data_type.code());
    }
}

fn schema(wire: &mut WireReader<'_>) -> Result<Vec<BlockColumn>> {
    (0..count(wire, 2)?)
        .map(|_| {
            let (name, code) = (wire.vstr_present()?.to_owned(), wire.u8()?);
            let data_type = DataType::from_code(code).ok_or_else(|| corrupt(format!("unknown data type {code}")))?;
            Ok(BlockColumn { name, data_type })
        })
        .collect()
}

fn put_stats(out: &mut Vec<u8>, stats: &Stats) {
    out.put_uvar(stats.len() as u32);
    for (name, value) in stats {
        out.put_vstr(Some(name.as_bytes()));
        out.put_uvar64(*value);
    }
}

fn stats(wire: &mut WireReader<'_>) -> Result<Stats> {
    (0..count(wire, 2)?).map(|_| Ok((wire.vstr_present()?.to_owned(), wire.uvar64()?))).collect()
}

/// A count of things of at least `size` bytes each: no more than the bytes that are left can hold.
fn count(wire: &mut WireReader<'_>, size: usize) -> Result<u32> {
    let count = wire.uvar()?;
    if count as usize > wire.remaining() / size {
        return Err(corrupt(format!("{count} entries in {} bytes", wire.remaining())));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<(Control, &'static [u8])> {
        let open = Open {
            id: "q1".into(),
            role: Role::Receiver,
            codec: PayloadCodec::Block,
            deadline_ms: Some(300),
            credit: Credit { bytes: 1 << 20, blocks: 4 },
            schema: vec![BlockColumn { name: "t".into(), data_type: DataType::Double }],
            request: b"scan".to_vec(),
        };
        let failure = Failure { end: End::Failed, origin: "s1".into(), text: "no".into(), stats: vec![("rows".into(), 7)] };
        vec![
            (Control::Open(open), b"\x04q1\x01\x00\xac\x02\x80\x80\x40\x04\x01\x02t\x04\x08scan"),
            (Control::Accept { credit: Credit { bytes: 1, blocks: 2 }, schema: vec![] }, &[1, 2, 0]),
            (Control::Eos(vec![("rows".into(), 300)]), b"\x01\x08rows\xac\x02"),
            (Control::Error(failure), b"\x01\x04s1\x04no\x01\x08rows\x07"),
            (Control::Credit(Credit { bytes: 128, blocks: 1 }), &[0x80, 1, 1]),
            (Control::EarlyTerminate, &[]),
            (Control::Cancel("why".into()), b"\x06why"),
            (Control::ResetBlock, &[]),
            (Control::Ping(*b"12345678"), b"12345678"),
        ]
    }

    #[test]
    fn golden_payloads_both_ways() {
        for (control, bytes) in examples() {
            let mut written = Vec::new();
            control.write_to(&mut written);
            assert_eq!(written, bytes, "{control:?}");
            assert_eq!(Control::parse(control.kind(), bytes).unwrap(), control);
        }
    }

    #[test]
    fn every_truncation_and_every_byte_ends_in_an_error_or_a_value() {
        for (control, bytes) in examples() {
            for len in 0..bytes.len() {
                assert!(Control::parse(control.kind(), &bytes[..len]).is_err(), "{control:?} {len}");
            }
            for at in 0..bytes.len() {
                for byte in 0..=u8::MAX {
                    let mut changed = bytes.to_vec();
                    changed[at] = byte;
                    let _ = Control::parse(control.kind(), &changed);
                }
            }
            let longer = [bytes, &[0]].concat();
            assert!(Control::parse(control.kind(), &longer).is_err());
        }
        let many = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
        let error = Control::parse(FrameKind::Eos, &many).unwrap_err();
        assert_eq!(error.to_string(), "control frame: 4294967295 entries in 2 bytes");
    }
}
