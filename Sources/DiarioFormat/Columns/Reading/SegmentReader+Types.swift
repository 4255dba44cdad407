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
            cache.replicas = index.replicas.map { $0.replica }
        }
    }

    private mutating func readSchemas() throws(SegmentError) {
        guard cache.schemas == nil else { return }
        let size = index.blocks[number(of: .schemas)].expandedSize
        let typeCount = index.types.count
        let (bytes, schemas, foreign) = try decode(number(of: .schemas)) {
            (reader) throws(FormatError) in
            let bytes = try reader.nextStreams(size: size)
            var content = ByteReader(bytes.span.raw)
            var schemas: [Range<Int>] = []
            for _ in 0..<typeCount { schemas.append(try content.nextBytes()) }
            let count = try content.nextVarint()
            guard count == UInt64(content.remaining / 8), content.remaining % 8 == 0 else {
                throw .malformed(.replica, at: content.offset)
            }
            var foreign: [ReplicaID] = []
            while !content.isAtEnd {
                guard let replica = ReplicaID(rawValue: try content.next(UInt64.self)) else {
                    throw .malformed(.replica, at: content.offset)
                }
                foreign.append(replica)
            }
            return (bytes, schemas, foreign)
        }
        cache.schemas = schemas
        cache.schemaBytes = bytes
        cache.replicas = index.replicas.map { $0.replica } + foreign
    }

    /// The replicas that texts name by number: the segment's own, then foreign ones.
    mutating func textReplicas() throws(SegmentError) -> [ReplicaID] {
        try readSchemas()
        return cache.replicas
    }
}
