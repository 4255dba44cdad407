import DiarioCore
package import DiarioSchema

/// The type of rows that stand in a segment for events whose payloads were lost.
///
/// Of such an event the envelope is left, but for actor and subject; nobody is shown it.
package enum LostRow {
    package static let type: EventType = {
        let schema = """
            {"additionalProperties":false,"properties":{},"type":"object","x-diario-version":1}
            """
        guard
            let type = try? EventType(name: "engine.lost", canonicalSchema: Array(schema.utf8))
        else { preconditionFailure("the schema without fields is one") }
        return type
    }()

    package static let entry = TypeEntry(
        name: type.nameBytes,
        version: type.version,
        fingerprint: Fingerprint.schema(type)
    )
}

extension SegmentIndex {
    /// The type of events that were lost, if there are some.
    package var lostType: Int? { types.firstIndex { $0.entry == LostRow.entry } }
}

/// Rows of a segment whose payloads cannot be read, as far as blocks tell.
package struct HollowRows: Equatable, Sendable {
    /// By type: none of its rows can.
    private(set) var types: Set<Int> = []
    /// By type: none of its rows with a personal part can.
    private(set) var personal: Set<Int> = []

    package init() {}

    package var isEmpty: Bool { types.isEmpty && personal.isEmpty }

    /// Adds rows of a type: all, or those with a personal part.
    package mutating func insert(type: Int, isPersonal: Bool) {
        if isPersonal { personal.insert(type) } else { types.insert(type) }
    }

    func holds(_ type: Int, _ flags: RowFlags) -> Bool {
        types.contains(type) || flags.contains(.personal) && personal.contains(type)
    }
}

extension SegmentRows {
    /// Gives the rows among `rows` as rows of a further type from now on, that of lost events,
    /// and never reads their blocks.
    ///
    /// Comes before the first row is read.
    package mutating func hollow(_ rows: HollowRows) {
        precondition(
            nextEvent == reader.wanted.lowerBound,
            "what was read cannot be left out any more"
        )
        window.hollow = rows.isEmpty ? nil : rows
    }
}

extension SegmentReader {
    /// Whether the payloads of a type can be read: those of its public parts, and of its personal
    /// ones.
    ///
    /// After a no, this reader is of no use any more.
    package mutating func canRead(
        type: Int,
        isPersonal: Bool
    ) -> Bool {
        do throws(SegmentError) {
            for block in index.fieldBlocks(ofType: type) {
                if isPersonal {
                    _ = try personalFields(inBlock: block)
                } else {
                    try checkRules(try fields(inBlock: block), block: block)
                }
            }
            return true
        } catch {
            return false
        }
    }
}
