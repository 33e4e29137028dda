//! Which npm packages the server embeds. They are compressed by `driver` and fetched by `tools`.

/// A package that the server embeds.
pub(crate) struct EmbeddedPackage {
    pub(crate) package: &'static str,
    /// Name of two folders: in the tools, where the package is installed, and in the server, where its compressed files
    /// are.
    pub(crate) folder: &'static str,
    /// Files of the package that the server needs, and its licence.
    pub(crate) files: &'static [&'static str],
}

/// Every package that the server embeds.
pub(crate) const EMBEDDED: [EmbeddedPackage; 2] = [
    EmbeddedPackage {
        package: "playwright-core",
        folder: "driver",
        files: DRIVER,
    },
    EmbeddedPackage {
        package: "@duckduckgo/autoconsent",
        folder: "consent",
        files: &["dist/autoconsent.standalone.js", "LICENSE"],
    },
];

/// Files that a program needs to connect to a running browser, and the licence.
const DRIVER: &[&str] = &[
    "package.json", "index.js", "browsers.json", "LICENSE", "NOTICE", "ThirdPartyNotices.txt",
    "lib/bootstrap.js", "lib/coreBundle.js", "lib/package.js", "lib/serverRegistry.js", "lib/utilsBundle.js",
];
