//! Every kernel against bitvec, by enumeration.
