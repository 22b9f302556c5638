//! Decodes page sets into a lent block.
