import DiarioCore

/// A column that all events have.
package enum EnvelopeColumn: Hashable, CaseIterable, Sendable {
    case sequences
    case clocks
    /// When the author says it happened, in milliseconds.
    case times
    /// In milliseconds; only if the events have positions.
    case accepted
    case bases
}

/// Where each event stands in its batch.
package struct EnvelopeBatches: Equatable, Sendable {
    /// The sequence minus the first one of the batch.
    package var offsets: [UInt16]
    package var counts: [UInt16]
}

/// Texts of the events that have one.
package struct EnvelopeTexts: Equatable, Sendable {
    /// The events that have a text; nil if all do.
    package var present: [Int32]?
    package var values: TextValues
}

extension Array {
    /// The rows whose element is such a one.
    @inline(__always)
    func rows(where isSuch: (Element) -> Bool) -> [Int32] {
        var rows = [Int32](repeating: 0, count: count)
        var target = rows.mutableSpan
        var found = 0
        // Written without a branch, since such rows come by chance.
        for index in indices {
            target[found] = Int32(truncatingIfNeeded: index)
            found += isSuch(self[index]) ? 1 : 0
        }
        rows.removeLast(count - found)
        return rows
    }

    /// The elements of some rows.
    @inline(__always)
    func picked(_ rows: [Int32]) -> [Element] {
        let source = span
        return rows.map { source[Int($0)] }
    }
}

extension Array where Element == Int32 {
    /// Where the first number stands that is at least `row`, in ascending ones.
    func firstPlace(notBefore row: Int) -> Int {
        sortedIndex(behindAll: { Int($0) < row })
    }
}
