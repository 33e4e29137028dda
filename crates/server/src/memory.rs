//! The allocator on Linux: jemalloc, also for the C code of SQLite and the compression libraries. It takes a seventh
//! less CPU time than glibc's allocator at about the same peak memory (docs/PERFORMANCE.md).

/// Settings of jemalloc: an arena for each core. Unused memory returns to the system after half a second, even if the
/// process allocates nothing; allocations above 256 KiB return at once, as those of large pages make up the peak.
#[expect(
    unsafe_code,
    reason = "jemalloc reads its settings from a symbol of this name"
)]
// SAFETY: jemalloc declares the symbol as a pointer to a string that ends with a null byte.
#[unsafe(export_name = "malloc_conf")]
static SETTINGS: &u8 = &b"percpu_arena:percpu,background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0,\
    oversize_threshold:262144\0"[0];

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
