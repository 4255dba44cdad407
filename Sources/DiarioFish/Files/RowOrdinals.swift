/// Counts the rows of a file that are equal: schema/fish/README.md, "Files of reports".
package struct RowOrdinals {
    /// By the beginnings of their hashes.
    private var counts: [UInt64: Int64] = [:]

    package init() {}

    /// The place of the next row among those of the file that are equal to it: 1, 2, 3 ...
    package mutating func next(sha256: [UInt8]) -> Int64 {
        let key = sha256.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let next = counts[key, default: 0] + 1
        counts[key] = next
        return next
    }
}
