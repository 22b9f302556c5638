//! Value encodings and compression framing.
