import DiarioCore

/// A batch ready to be appended: payloads encoded, no sequences, clocks or positions yet.
package struct DraftBatch: Sendable {
    /// What a block says of each of the types.
    package private(set) var entries: [TypeEntry] = []
    package private(set) var events: [DraftEvent] = []
    package private(set) var bytes: [UInt8] = []
    private var references: [DraftReference] = []

    package init() {}

    var rowsSizeMax: Int {
        bytes.count + events.count * (RowSize.headMax + PublicPart.prefixSizeMax)
            + references.count * DraftReference.sizeMax
    }

    package var sizeInBlockMax: Int {
        entries.reduce(rowsSizeMax + 64) { $0 + $1.size }
    }

    func references(of event: DraftEvent) -> ArraySlice<DraftReference> {
        let first = Int(event.firstReference)
        return references[first..<first + Int(event.referenceCount)]
    }
}
