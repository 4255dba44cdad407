import DiarioCore
package import DiarioSchema

extension SegmentReader {
    /// A type of the segment, from what is known or from the schema that came along.
    package mutating func eventType(_ type: Int) throws(SegmentError) -> EventType {
        if let known = cache.types[type] { return known }
        let entry = index.types[type].entry
        if let known = cache.known[entry] {
            cache.types[type] = known
            return known
        }
        try readSchemas()
        guard let schemas = cache.schemas, type < schemas.count,
            let made = try? EventType(
                name: String(decoding: entry.name, as: UTF8.self),
                canonicalSchema: Array(cache.schemaBytes[schemas[type]])
            ), made.version == entry.version, Fingerprint.schema(made) == entry.fingerprint
        else { throw .unknownType(entry) }
        cache.types[type] = made
        return made
    }

    /// How payloads of a type are laid out.
    mutating func plan(_ type: Int) throws(SegmentError) -> PayloadPlan {
        if let known = cache.plans[type] { return known }
        let plan = PayloadPlan(try eventType(type))
        cache.plans[type] = plan
        return plan
    }

    /// All types of the segment, by index.
    package mutating func eventTypes() throws(SegmentError) -> [EventType] {
        var types: [EventType] = []
        for type in index.types.indices { types.append(try eventType(type)) }
        return types
    }

    /// The canonical schema of a type, as it came along.
    package mutating func schema(_ type: Int) throws(SegmentError) -> [UInt8] {
        try readSchemas()
        guard let schemas = cache.schemas, type < schemas.count else { return [] }
        return Array(cache.schemaBytes[schemas[type]])
    }

    /// Does without the block of schemas if that is damaged: types that are not known and texts
    /// that name foreign replicas are refused then.
    package mutating func forgoDamagedSchemas() {
        do throws(SegmentError) { try readSchemas() } catch {
            cache.schemas = []
            cache.texts.replicas = index.replicas.map(\.replica)
        }
    }

    mutating func readSchemas() throws(SegmentError) {
        guard cache.schemas == nil else { return }
        let number = number(of: .schemas)
        let size = index.blocks[number].expandedSize
        let bytes = try decode(number) { (reader, memory) throws(FormatError) in
            try reader.nextBytes(size: size, &memory)
        }
        let typeCount = index.types.count
        let (schemas, foreign) = try Self.checked(
            .segment,
            block: number,
            at: index.blocks[number].offset
        ) { () throws(FormatError) in
            var reader = ByteReader(bytes.span.raw)
            var schemas: [Range<Int>] = []
            for _ in 0..<typeCount { schemas.append(try reader.nextBytes()) }
            let count = try reader.nextVarint()
            guard count == UInt64(reader.remaining / 8), reader.remaining % 8 == 0 else {
                throw .malformed(.replica, at: reader.offset)
            }
            var foreign: [ReplicaID] = []
            while !reader.isAtEnd {
                let start = reader.offset
                guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
                    throw .malformed(.replica, at: start)
                }
                foreign.append(replica)
            }
            return (schemas, foreign)
        }
        cache.schemas = schemas
        cache.schemaBytes = bytes
        cache.texts.replicas = index.replicas.map(\.replica) + foreign
    }

    /// Reads a pool, which stays.
    mutating func readPool(_ pool: Int, for block: Int) throws(SegmentError) {
        guard cache.texts.pools[pool] == nil else { return }
        guard let number = index.block(.pool, key: pool) else { throw fault(.body, block: block) }
        try readSchemas()
        let texts = cache.texts
        let count = index.blocks[number].rowCount
        cache.texts.pools[pool] = try decode(number) { (reader, memory) throws(FormatError) in
            let all = ColumnPart(all: count)
            return try reader.nextStrings(all, isText: true, texts, &memory)
        }
    }
}
