import DiarioCore

/// The texts of a column: one for each row that has a value.
package struct TextValues: Equatable, Sendable {
    /// For each value its index in `strings`; nil if value i is string i.
    package var codes: [UInt32]?
    /// The distinct texts, or all of them in order.
    package var strings: ByteStrings

    package var count: Int { codes?.count ?? strings.count }

    /// Where value `index` lies in the bytes of `strings`.
    package func range(_ index: Int) -> Range<Int> {
        strings.range(codes.map { Int($0[index]) } ?? index)
    }

    /// Appends value `index` with its length in front.
    func append(_ index: Int, to output: inout OutputSpan<UInt8>) {
        output.append(counted: self[index].raw)
    }

    /// The bytes of value `index`.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get { strings[codes.map { Int($0[index]) } ?? index] }
    }
}

/// What texts of a segment may refer to.
struct TextScope {
    /// Those of the segment, then those that its schemas block adds.
    var replicas: [ReplicaID] = []
    /// The pools that the block at hand names, by their number in the segment.
    var pools: [Int: ByteStrings] = [:]
    /// What the shared blocks that the block at hand names have for its rows, by their number.
    var shared: [Int: TextValues] = [:]
    /// The heads of the block at hand.
    var heads: SubjectHeads?
}
