//! How the allocator of the C library gives memory back to the system.

/// Free memory at the end of a heap above which it is given back, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIM_THRESHOLD: i32 = 1_000_000;

/// Makes glibc give memory back after large pages. Otherwise it raises its thresholds with the largest buffer that was
/// freed, up to 64 MB for each of its heaps, and the process keeps that for good (docs/PERFORMANCE.md).
///
/// Does nothing on other systems, whose allocators have no such thresholds.
pub(crate) fn give_back_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "glibc's `mallopt` has no safe interface")]
    // SAFETY: `mallopt` takes two integers, and locks what it changes.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD);
    }
}
