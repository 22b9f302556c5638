//! Row batches and their wire form.
