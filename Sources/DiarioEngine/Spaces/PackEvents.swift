package import DiarioCrypto
package import DiarioFormat
package import DiarioSchema

/// The events that record that a space uses a pack: that it was adopted, and the rows of its
/// reference data.
package struct PackEvents {
    package let pack: Pack
    package let fingerprint: Hash32
    /// The number of rows of reference data.
    let rowCount: Int

    package init(_ pack: Pack) {
        self.pack = pack
        fingerprint = Fingerprint.pack(pack.files)
        rowCount = pack.references.reduce(0) { $0 + $1.rows.count }
    }

    /// Those for a space that has none of the pack; `type` is that of an adoption.
    package func batches(_ type: EventType) throws(DiarioError) -> [DraftBatch] {
        [try adoption(type)] + (try Self.batches(of: rows))
    }

    /// The event that says that a space uses the pack from now on.
    package func adoption(_ type: EventType) throws(DiarioError) -> DraftBatch {
        var payload = Payload()
        payload.reset(fieldCount: type.fields.count)
        for (index, field) in type.fields.enumerated() {
            switch field.name {
            case "fingerprint": payload.setBytes(Array(fingerprint.text.utf8).span, at: index)
            case "pack": payload.setBytes(Array(pack.name.utf8).span, at: index)
            case "version": payload.slots[index] = .integer(Int64(pack.version))
            default: preconditionFailure("the engine's pack has no other field here")
            }
        }
        var batch = DraftBatch()
        do { try batch.append(payload, type: type) } catch { throw DiarioError(error) }
        return batch
    }

    /// Rows in as few batches as the limits allow.
    static func batches(of rows: [Row]) throws(DiarioError) -> [DraftBatch] {
        var batches: [DraftBatch] = []
        var batch = DraftBatch()
        do throws(FormatError) {
            for row in rows {
                do throws(FormatError) { try batch.append(row.payload, type: row.type) } catch {
                    guard !batch.isEmpty else { throw error }
                    batches.append(batch)
                    batch.removeAll()
                    try batch.append(row.payload, type: row.type)
                }
            }
        } catch {
            throw DiarioError(error)
        }
        return batch.isEmpty ? batches : batches + [batch]
    }

    // MARK: Reference data

    /// A row of reference data.
    struct Row {
        let type: EventType
        let payload: Payload

        /// The text of the whole row.
        var content: [UInt8] {
            var bytes: [UInt8] = []
            PayloadWriter.append(payload, of: type, to: &bytes)
            return bytes
        }

        /// What it is a row about: its subject, or the whole row if its type has none.
        var key: Key {
            if let index = type.subjectFieldIndex, let bytes = payload.bytes(at: index) {
                return Key(type: type.name, subject: Array(bytes))
            }
            return Key(type: type.name, subject: content)
        }
    }

    struct Key: Hashable {
        let type: String
        let subject: [UInt8]
    }

    private var rows: [Row] {
        pack.references.flatMap { table in
            table.rows.map { Row(type: table.type, payload: $0.payload) }
        }
    }

    /// The rows that a space does not have as they are, in file order.
    func rows(newTo space: Space) throws(DiarioError) -> [Row] {
        let names = Set(pack.references.map { $0.type.name })
        guard !names.isEmpty else { return [] }
        var known: [Key: [UInt8]] = [:]
        let filter = EventFilter(types: Array(names), authorityOnly: true)
        var reader = try EventReader(space, filter)
        while let line = try reader.next() {
            let row = Row(type: line.type, payload: line.payload)
            known[row.key] = row.content
        }
        return rows.filter { row in
            let content = row.content
            return known.updateValue(content, forKey: row.key) != content
        }
    }
}
