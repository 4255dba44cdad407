/// A place in a file where bytes are not what the format demands.
package struct Fault: Error, Hashable, Sendable {
    /// The file, relative to the data directory.
    package let file: String
    package let offset: Int
    /// The damage and its loss, as a clause.
    package let what: String

    package init(file: String, offset: Int, what: String) {
        self.file = file
        self.offset = offset
        self.what = what
    }

    package var message: String { "\(file), offset \(offset): \(what)" }
}

/// The last bytes of a file that a crash left half written: they were never acknowledged.
package struct TornEnd: Equatable, Sendable {
    /// The file, relative to the data directory.
    package let file: String
    package let offset: Int
    package let size: Int
    /// The file that keeps the bytes; nil if this process may not write.
    package let keptIn: String?

    package init(file: String, offset: Int, size: Int, keptIn: String?) {
        self.file = file
        self.offset = offset
        self.size = size
        self.keptIn = keptIn
    }
}
