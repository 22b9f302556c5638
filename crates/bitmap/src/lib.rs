//! Bits about rows, in the three dialects this format family speaks, and the crossings between them.
//!
//! ```text
//! dialect               where                        bit of row i            a set bit says   bytes for n rows
//! tablet bitmap         Tablet wire form, FloatEncoder  1 << (i % 8)            null             n / 8 + 1
//! page presence         value pages of a TsFile      0x80 >> (i % 8)         present          ceil(n / 8)
//! validity              Arrow                        1 << (i % 8)            valid            ceil(n / 8), in words here
//! ```
//!
//! In memory there is one more form, and it is the common ground: **null words**, `&[u64]`, low bit first,
//! 1 = null, beginning at any bit ([`NullWords`]). Each dialect is a type or module of its own, so that one
//! cannot be taken for another: [`BitMap`] and [`BitMapView`], [`PresenceView`] and [`presence`],
//! [`validity`]. Every crossing is a named function that works 64 rows at a time and leaves no bit set past
//! the last row.
//!
//! [`place`] moves values by such bits: packed ones to their rows, kept ones together.
//!
//! What it is not: a general bit vector. Storage of [`BitMap`] is [`bitvec`]'s `BitVec<u64, Lsb0>` and its
//! per-bit view is public; range operations work on raw words ([`words`]) and are proved equal to bitvec's
//! by enumeration. Nothing here does I/O, and only [`BitMap::new`] and the `Vec`s of the caller allocate.
//!
//! Upstream: `BitMap.java`, `Tablet.java`, `ValuePageWriter.java` of apache/tsfile. Proof:
//! `fixtures/tablet` (bitmaps), `fixtures/java` (presence).
//!
//! ```
//! use tsloom_bitmap::{BitMap, NullWords, PresenceView, presence};
//!
//! let mut nulls = BitMap::new(10);
//! nulls.mark(3);
//! let mut wire = [0_u8; 2];
//! nulls.write_wire(10, &mut wire);
//! assert_eq!(wire, [0b0000_1000, 0]);
//!
//! let mut page = Vec::new();
//! presence::append_from_nulls(Some(nulls.nulls()), 10, &mut page);
//! assert_eq!(page, [0b1110_1111, 0b1100_0000]);
//! assert_eq!(PresenceView::new(&page, 10).unwrap().present_count(), 9);
//! ```

mod bitmap;
mod dispatch;
mod nulls;
pub mod place;
pub mod presence;
pub mod validity;
pub mod words;

pub use bitmap::{BitMap, BitMapView};
pub use nulls::NullWords;
pub use presence::PresenceView;
pub use words::Run;
