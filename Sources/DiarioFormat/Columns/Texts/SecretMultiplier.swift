/// What hash tables over bytes and numbers from outside multiply by: an odd number that is each
/// process's own.
///
/// If it were known, somebody could send values that all have one slot, and each would be compared
/// with all before it, which takes seconds for a column of a segment. Nothing that is written
/// depends on it.
enum SecretMultiplier {
    /// A hash of nothing is the seed that the process drew for its dictionaries.
    static let value = UInt64(truncatingIfNeeded: Hasher().finalize()) | 1
}
