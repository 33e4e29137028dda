//! The platform of a build, under the names that each package manager has for it.

use std::env::consts::{ARCH, OS};

/// Operating system and processor of this machine.
pub(super) struct Platform {
    /// Target triple of the compiler.
    pub(super) triple: String,
    /// Oldest version of glibc that has every symbol of the program; none if it uses no glibc.
    pub(super) glibc: Option<(u32, u32)>,
}

impl Platform {
    /// Returns the platform of a program that was built on this machine.
    pub(super) fn of_host(binary: &[u8]) -> Platform {
        let system = match OS {
            "linux" => "unknown-linux-gnu",
            "macos" => "apple-darwin",
            "windows" => "pc-windows-msvc",
            other => other,
        };
        Platform {
            triple: format!("{ARCH}-{system}"),
            glibc: glibc(binary),
        }
    }

    /// Returns the platform tag of a wheel (packaging.python.org, platform compatibility tags).
    pub(super) fn wheel_tag(&self) -> String {
        match (OS, ARCH, self.glibc) {
            ("linux", _, Some((major, minor))) => format!("manylinux_{major}_{minor}_{ARCH}"),
            ("macos", "aarch64", _) => "macosx_11_0_arm64".to_owned(),
            ("macos", ..) => format!("macosx_10_12_{ARCH}"),
            ("windows", "aarch64", _) => "win_arm64".to_owned(),
            ("windows", ..) => "win_amd64".to_owned(),
            _ => format!("{OS}_{ARCH}"),
        }
    }

    /// Returns the name of the operating system in a package.json.
    pub(super) fn npm_os(&self) -> &'static str {
        match OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        }
    }

    /// Returns the name of the processor in a package.json.
    pub(super) fn npm_cpu(&self) -> &'static str {
        match ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        }
    }

    /// Returns the name of the architecture in a Debian package.
    pub(super) fn debian_architecture(&self) -> &'static str {
        match ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        }
    }
}

/// Returns the newest version of glibc that the program's symbols name.
fn glibc(binary: &[u8]) -> Option<(u32, u32)> {
    const PREFIX: &[u8] = b"GLIBC_";
    let versions = binary
        .windows(PREFIX.len())
        .enumerate()
        .filter_map(|(at, window)| {
            let rest = (window == PREFIX).then(|| &binary[at + PREFIX.len()..])?;
            let end = rest
                .iter()
                .position(|&byte| byte != b'.' && !byte.is_ascii_digit())?;
            let mut numbers = std::str::from_utf8(&rest[..end]).ok()?.split('.');
            Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
        });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_symbol_version_is_the_required_one() {
        let binary = b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.4\0GLIBC_PRIVATE\0";
        assert_eq!(glibc(binary), Some((2, 34)));
        assert_eq!(glibc(b"static"), None);
    }
}
