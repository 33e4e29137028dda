//! The hash for the tables of fixed names, which are built at compile time.

/// Returns the hash of a name for the tables of fixed names.
pub(super) const fn hash(name: &str) -> u32 {
    let bytes = name.as_bytes();
    let mut hash = HASH_START;
    let mut at = 0;
    while at < bytes.len() {
        hash = hash_byte(hash, bytes[at]);
        at += 1;
    }
    hash
}

/// Hash of the empty name.
pub(super) const HASH_START: u32 = 0x811c_9dc5;

/// Returns the hash of a name that continues with `byte`.
pub(super) const fn hash_byte(hash: u32, byte: u8) -> u32 {
    let mixed = (hash ^ byte as u32).wrapping_mul(0x0100_0193);
    mixed ^ (mixed >> 15)
}
