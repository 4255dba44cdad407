import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import Testing

/// Event types that together have every kind of field, and what turns lines of JSON into rows.
enum Fixtures {
    /// Each kind of field, public; a new id; more than eight fields, so two bytes of bitmap.
    static let made = """
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "probe.thing.made",
        "description": "One field of each kind.", "x-diario-version": 3, "x-diario-subject": "id",
        "type": "object", "additionalProperties": false, "required": [], "properties": {
        "id": {"type": "string", "x-diario-id": "new", "description": "Made by this event."},
        "anInteger": {"type": "integer", "x-diario-unit": "mm"},
        "aNumber": {"type": "number"},
        "aString": {"type": "string"},
        "aBoolean": {"type": "boolean"},
        "anEnum": {"enum": ["red", "green", "blue"]},
        "aDate": {"type": "string", "format": "date"},
        "aDateTime": {"type": "string", "format": "date-time"},
        "aUuid": {"type": "string", "format": "uuid"},
        "someBytes": {"type": "string", "contentEncoding": "base64"},
        "anArray": {"type": "array", "items": {"type": "integer"}},
        "anObject": {"type": "object", "additionalProperties": false, "properties": {
        "title": {"type": "string", "description": "A member named like an annotation."}}},
        "parent": {"type": "string", "x-diario-id": "thing"}}}
        """
    /// Each kind of field, personal, beside one public field.
    static let told = """
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "probe.thing.told",
        "x-diario-version": 1, "type": "object", "additionalProperties": false, "properties": {
        "open": {"type": "integer"},
        "pInteger": {"type": "integer", "x-diario-personal": true},
        "pNumber": {"type": "number", "x-diario-personal": true},
        "pString": {"type": "string", "x-diario-personal": true},
        "pBoolean": {"type": "boolean", "x-diario-personal": true},
        "pEnum": {"enum": ["x", "y"], "x-diario-personal": true},
        "pDate": {"type": "string", "format": "date", "x-diario-personal": true},
        "pDateTime": {"type": "string", "format": "date-time", "x-diario-personal": true},
        "pUuid": {"type": "string", "format": "uuid", "x-diario-personal": true},
        "pBytes": {"type": "string", "contentEncoding": "base64", "x-diario-personal": true},
        "pArray": {"type": "array", "items": {"type": "string"}, "x-diario-personal": true},
        "pThing": {"type": "string", "x-diario-id": "thing", "x-diario-personal": true}}}
        """
    /// No fields at all.
    static let passed = """
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "probe.nothing.passed",
        "x-diario-version": 1, "type": "object", "additionalProperties": false, "properties": {}}
        """
    /// What only the authority may write.
    static let ruled = """
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "engine.probe.ruled",
        "x-diario-version": 200, "type": "object", "additionalProperties": false, "properties": {
        "reason": {"type": "string"}}}
        """

    static let schemas = [made, told, passed, ruled]

    static func type(_ schema: String) throws -> EventType {
        var budget = PatternBudget()
        return try EventType(schema: Array(schema.utf8), file: "probe.json", budget: &budget)
    }

    static func catalog() throws -> TypeCatalog { try TypeCatalog(schemas.map(type)) }

    /// A batch of the events that the lines tell.
    static func batch(_ lines: [String], catalog: TypeCatalog) throws -> DraftBatch {
        var reader = EventLineReader(catalog: catalog, options: [.batchReferences, .exportKeys])
        var line = EventLine()
        var batch = DraftBatch()
        for text in lines {
            let bytes = Array(text.utf8)
            try reader.read(bytes.span, into: &line)
            try batch.append(line)
        }
        return batch
    }

    static func replica(_ value: UInt64) throws -> ReplicaID {
        try #require(ReplicaID(rawValue: value))
    }

    /// The only row of a block that holds one event.
    static func onlyRow(_ block: [UInt8]) throws -> (row: BlockRow, part: PublicPart) {
        let summary = try BlockSummary.parse(block.span, verifyChecksum: true)
        var cursor = RowCursor(block.span, summary)
        let first = try cursor.next()
        let row = try #require(first)
        return (row, try PublicPart.parse(block.span, row))
    }
}

extension BlockBuilder {
    /// The block, with events that were all accepted at one time.
    func block(position: UInt64? = nil, acceptedAt: Int64 = 0) -> [UInt8] {
        let times = [
            AcceptedRun(count: eventCount, acceptedAt: Timestamp(milliseconds: acceptedAt))
        ]
        var output: [UInt8] = []
        write(
            into: &output,
            position: position,
            times: position == nil ? [] : times,
            isAuthority: types.contains(where: \.isAuthority)
        )
        return output
    }
}
