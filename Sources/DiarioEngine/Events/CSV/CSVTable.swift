import DiarioCore
package import DiarioSchema

/// The events of one type as comma-separated values (RFC 4180): a header, then a row for each.
///
/// The columns are those of the envelope, whose names begin with `_` as no field's does, then the
/// fields in the order of the newest schema, then those that only older versions have.
package struct CSVTable {
    private let fieldNames: [String]
    private let cells: CellWriter
    /// For each version the index of the field of each column; nil where it has none.
    ///
    /// The type too, because only while it lives is its identifier its own.
    private var plans: [ObjectIdentifier: (type: EventType, indices: [Int?])] = [:]

    private static let envelopeNames = [
        "_position", "_origin", "_type", "_version", "_at", "_clock", "_accepted", "_actor",
        "_subject", "_base", "_batch", "_ifUnchanged",
    ]
    private static let lineEnd: [UInt8] = [0x0d, 0x0a]

    /// A table for versions of one type; the newest is the last.
    package init(
        _ types: [EventType],
        of space: Space,
        guardsFormulas: Bool
    ) throws(DiarioError) {
        cells = CellWriter(guardsFormulas: guardsFormulas)
        var names: [String] = []
        var known: Set<String> = []
        for type in types.reversed() {
            for name in try space.fieldNames(of: type) where known.insert(name).inserted {
                names.append(name)
            }
        }
        fieldNames = names
    }

    package func appendHeader(to output: inout [UInt8]) {
        output += (Self.envelopeNames + fieldNames).joined(separator: ",").utf8
        output += Self.lineEnd
    }

    /// Appends the row of an event of one of the types.
    package mutating func append(_ line: EventLine, to output: inout [UInt8]) {
        appendEnvelope(line, to: &output)
        let type = line.type
        for index in plan(type) {
            output.append(0x2c)
            if let index { cells.append(line.payload, index, type.fields[index], to: &output) }
        }
        output += Self.lineEnd
    }

    private func appendEnvelope(_ line: EventLine, to output: inout [UInt8]) {
        if let position = line.position { output += "\(position)".utf8 }
        output.append(0x2c)
        if let origin = line.origin { output += origin.text.utf8 }
        output.append(0x2c)
        output += line.type.nameBytes
        output += ",\(line.type.version),".utf8
        if let at = line.at { CivilTime.appendDateTime(at, to: &output) }
        output.append(0x2c)
        if let clock = line.clock { output += "\(clock.milliseconds)-\(clock.counter)".utf8 }
        output.append(0x2c)
        if let time = line.acceptedAt { CivilTime.appendDateTime(time, to: &output) }
        output.append(0x2c)
        if let actor = line.actor { cells.append(text: line.arena[actor], to: &output) }
        output.append(0x2c)
        if let subject = line.subject {
            cells.append(text: line.arena[subject], to: &output)
        } else if let subject = line.payloadSubject {
            cells.append(text: subject.utf8, to: &output)
        }
        output.append(0x2c)
        if let base = line.base { output += "\(base)".utf8 }
        output.append(0x2c)
        if let batch = line.batch { cells.append(text: line.arena[batch], to: &output) }
        output += ",\(line.ifUnchanged)".utf8
    }

    private mutating func plan(_ type: EventType) -> [Int?] {
        let id = ObjectIdentifier(type)
        if let known = plans[id] { return known.indices }
        let indices = fieldNames.map { type.fieldIndex($0) }
        plans[id] = (type, indices)
        return indices
    }
}

extension Space {
    /// The names of a type's fields in the order of its schema.
    ///
    /// The log keeps schemas in a canonical form, so the order is looked up in the pack's file.
    func fieldNames(of type: EventType) throws(DiarioError) -> [String] {
        let path =
            "events/\(type.name.dropFirst(type.pack.utf8.count + 1)).\(type.version).json"
        // The engine's pack and all that were adopted.
        let packs = try [PackSource.engine()] + adoptedPacks().map { $0.pack }
        for pack in packs where pack.name == type.pack {
            guard pack.types.contains(where: { $0.canonicalSchema == type.canonicalSchema }),
                let file = pack.files.first(where: { $0.path == path }),
                let schema = try? JSON.parse(file.bytes),
                case .object(let members) = schema.value.member("properties")?.item.value
            else { continue }
            return members.map { $0.key }
        }
        return type.fields.map { $0.name }
    }
}
