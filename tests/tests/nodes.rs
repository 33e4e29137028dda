//! Several real servers on one PostgreSQL database. They use the PostgreSQL server that `HARVESTMAN_TEST_POSTGRES` names.

#![allow(clippy::unwrap_used)]

mod nodes {
    pub(crate) mod clocks;
    pub(crate) mod cluster;
    pub(crate) mod faults;
    pub(crate) mod idle;
    pub(crate) mod limits;
    pub(crate) mod migrate;
    pub(crate) mod monitors;
    pub(crate) mod rolling;
    pub(crate) mod settings;
}
