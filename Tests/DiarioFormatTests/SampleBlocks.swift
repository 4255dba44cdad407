import DiarioTestSupport
import Testing

/// The golden blocks: one of each shape, small enough to be looked at byte by byte.
struct SampleBlocks {
    private let vectors: BlockVectorTests.Vectors

    init() throws { vectors = try VectorFile.read("blocks-1.json") }

    /// Each with what it shows.
    func all() throws -> [(shows: String, block: [UInt8])] {
        try vectors.blocks.map { ($0.shows, try Hex.bytes($0.block)) }
    }

    func onePending() throws -> [UInt8] { try block("one pending event") }

    func mixed() throws -> [UInt8] {
        try block("two replicas, three runs, two times, two types")
    }

    /// A block that compression makes smaller.
    func repetitive() throws -> [UInt8] {
        try Hex.bytes(try #require(vectors.compressed.first).decompressed)
    }

    private func block(_ shows: String) throws -> [UInt8] {
        try Hex.bytes(try #require(vectors.blocks.first { $0.shows == shows }).block)
    }
}
