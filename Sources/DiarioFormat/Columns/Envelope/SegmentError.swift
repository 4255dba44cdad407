/// What can be wrong with a segment, its sidecar, or the way to them.
package enum SegmentError: Error, Equatable {
    /// The file is damaged or was not written as `schema/format/segments.md` says.
    case fault(SegmentFault)
    /// The sidecar belongs to another segment.
    case otherSidecar
    /// The source cannot give the bytes from this offset on; it knows why.
    case unreadable(SegmentFile, at: Int)
    /// A personal column is asked for, and no sidecar was given.
    case noSidecar
    /// No schema came with the event's type, or one with another fingerprint.
    case unknownType(TypeEntry)

    /// One sentence for a person; says what and where, not which file of a folder.
    package var message: String {
        switch self {
        case .fault(let fault): fault.message
        case .otherSidecar: "the sidecar belongs to another segment"
        case .unreadable(let file, let offset):
            "the \(file.rawValue) cannot be read from byte \(offset) on"
        case .noSidecar: "personal fields lie in the sidecar, which is missing"
        case .unknownType(let type):
            "the schema of \(String(decoding: type.name, as: UTF8.self)) is missing"
        }
    }
}

/// The two files of a sealed run of events.
package enum SegmentFile: String, Sendable {
    case segment
    case sidecar
}

/// What is wrong with the bytes of a file, and where.
package struct SegmentFault: Error, Equatable {
    package let file: SegmentFile
    /// The number of the block in the file's index; nil in front of the blocks.
    package let block: Int?
    /// From the start of the file.
    package let offset: Int
    /// What is wrong; its own offset counts from the start of the block, or of the index.
    package let reason: FormatError

    package var message: String {
        let place = block.map { "block \($0)" } ?? "index"
        return "the \(place) of the \(file.rawValue) at byte \(offset): \(reason.message)"
    }
}
