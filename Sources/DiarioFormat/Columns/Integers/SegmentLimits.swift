import DiarioCore

/// The bounds of schema/format/segments.md, section 11, and what a writer keeps to.
package enum SegmentLimits {
    /// Events of one segment.
    package static let eventCountMax = 65_536
    /// Types of one segment.
    package static let typeCountMax = 1024
    /// Bytes of an index before compression.
    package static let indexSizeMax = 4 * 1024 * 1024
    /// Bytes of a block, stored and expanded.
    package static let blockSizeMax = 32 * 1024 * 1024
    /// Blocks of one file.
    package static let blockCountMax = 65_536
    /// Rows of a block of fields times the fields of its type and one more.
    package static let cellCountMax = 4 * 1024 * 1024
    /// Texts that columns of a segment share in one pool.
    package static let poolCountMax = 65_536
    /// Bytes of payloads after which a writer begins another block for a type.
    static let chunkSizeMax = 8 * 1024 * 1024
    /// Bytes of texts that a writer puts into one pool.
    static let poolSizeMax = 4 * 1024 * 1024
}
