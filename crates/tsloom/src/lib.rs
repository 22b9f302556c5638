//! A storage engine for aligned time series: the facade.
