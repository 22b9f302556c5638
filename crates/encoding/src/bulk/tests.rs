//! Every detected kernel against the portable one, every length and alignment.
