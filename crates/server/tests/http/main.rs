//! The server through its real router, with a store of its own and no network beyond this machine.

mod app;
mod auth;
mod bodies;
mod connections;
mod console;
mod crawl;
mod edge;
mod routes;
mod site;
mod socket;
