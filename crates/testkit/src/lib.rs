//! Generators, fixtures and fault injection for tests.
