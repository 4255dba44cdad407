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

    /// The bytes of value `index`.
    package subscript(index: Int) -> Span<UInt8> {
        @_lifetime(borrow self)
        get { strings[codes.map { Int($0[index]) } ?? index] }
    }
}

/// Texts that several columns have in common, as a reader keeps them.
struct TextPool {
    let strings: ByteStrings
    /// By type index: for each of its rows the index of its text; nothing for types that do not
    /// share one column.
    var codes: [Int: [UInt32]] = [:]
}

/// What texts of a block may refer to.
struct TextScope {
    /// Those of the segment, then those that its schemas block adds.
    var replicas: [ReplicaID] = []
    /// By their number in the segment.
    var pools: [TextPool] = []
    /// The type of the block's rows, and these among all of the type.
    var type = 0
    var rows = 0..<0
}
