import DiarioCore

/// Reads events from lines of JSON and checks their payloads in the same pass.
///
/// Keep one for many lines: it reuses its memory. Keys may come in any order; that of
/// `EventLineWriter` is read fastest.
package struct EventLineReader: Sendable {
    /// Keys and forms that a line may have besides those of `record`.
    package struct Options: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `"#3"` in a reference is the id that the third event of the batch makes.
        package static let batchReferences = Options(rawValue: 1)
        /// The keys of an export: `origin`, `position`, `base`, `clock`, `acceptedAt`.
        package static let exportKeys = Options(rawValue: 2)
        /// `origin` and `base`, from clients that number their own events.
        package static let originKeys = Options(rawValue: 4)
    }

    package let catalog: TypeCatalog
    package let options: Options

    /// The characters of a replica's text.
    static let replicaSize = 13

    var payloadReader = PayloadReader()
    private let tokens: [UInt8]
    private let tokenRanges: [SchemaRange]

    package init(catalog: TypeCatalog, options: Options) {
        self.catalog = catalog
        self.options = options
        (tokens, tokenRanges) = EnvelopeKey.tokens
    }

    /// Reads `text`, one line without its line feed, into `line`.
    ///
    /// After an error `line` is undefined. The caller adds the line's number to the error.
    /// A line that gives no version has `version`, or the newest if that is nil.
    package mutating func read(
        _ text: Span<UInt8>,
        into line: inout EventLine,
        version: Int? = nil
    ) throws(SchemaError) {
        do throws(Fault) {
            guard text.count <= Limits.lineSizeMax else { throw Fault(.tooLarge, at: 0) }
            try readLine(text, into: &line, version: version)
        } catch {
            throw SchemaError(explaining: error, inLine: text, catalog: catalog)
        }
    }

    /// Keys of the line that were read so far.
    private struct Progress {
        /// One bit for each key that was there.
        var seenKeys: UInt32 = 0
        var known: TypeCatalog.Entry?
        var version: Int?
        var versionOffset = 0
        var subjectOffset = 0
        /// The offset of a payload that came before its type.
        var pendingPayload: Int?
    }

    private mutating func readLine(
        _ text: Span<UInt8>,
        into line: inout EventLine,
        version: Int?
    ) throws(Fault) {
        line.reset()
        var progress = Progress()
        progress.version = version
        var cursor = JSONCursor(text)
        cursor.skipSpace()
        let start = cursor.offset
        guard cursor.take(0x7b) else { throw payloadReader.mismatch(cursor, node: -1) }
        cursor.skipSpace()
        if !cursor.take(0x7d) {
            var expected = 0
            while true {
                let keyStart = cursor.offset
                let key = try readKey(&cursor, expected: expected)
                let bit: UInt32 = 1 << UInt32(key.rawValue)
                guard progress.seenKeys & bit == 0 else {
                    throw Fault(.duplicateKey, at: keyStart)
                }
                progress.seenKeys |= bit
                cursor.skipSpace()
                try readValue(of: key, &cursor, &progress, into: &line)
                cursor.skipSpace()
                if cursor.take(0x7d) { break }
                try cursor.expect(0x2c)
                cursor.skipSpace()
                expected = Int(key.rawValue) + 1
            }
        }
        try cursor.expectEnd()
        try finish(progress, text, start: start, into: &line)
    }

    /// Settles the version, and reads a payload that came before it was settled.
    @inline(__always)
    private mutating func finish(
        _ progress: Progress,
        _ text: Span<UInt8>,
        start: Int,
        into line: inout EventLine
    ) throws(Fault) {
        guard let known = progress.known else {
            throw Fault(.missingKey, at: start, node: Int(EnvelopeKey.type.rawValue))
        }
        guard progress.seenKeys & 1 << UInt32(EnvelopeKey.payload.rawValue) != 0 else {
            throw Fault(.missingKey, at: start, node: Int(EnvelopeKey.payload.rawValue))
        }
        var type = known.type
        if let version = progress.version, version != type.version {
            guard let older = catalog.type(of: known, version: version) else {
                throw Fault(.unknownVersion, at: progress.versionOffset)
            }
            type = older
        }
        if line.type !== type { line.type = type }
        line.givesVersion = progress.seenKeys & 1 << UInt32(EnvelopeKey.version.rawValue) != 0
        if let offset = progress.pendingPayload {
            var cursor = JSONCursor(text, at: offset)
            try payloadReader.readFields(
                &cursor,
                of: type,
                options: options,
                into: &line.payload
            )
        }
        if line.subject != nil, type.subjectFieldIndex != nil {
            throw Fault(.subjectNotAllowed, at: progress.subjectOffset)
        }
    }

    /// Reads a key with its colon, looking first for those that come next in a written line.
    @inline(__always)
    @_lifetime(cursor: copy cursor)
    private mutating func readKey(
        _ cursor: inout JSONCursor,
        expected: Int
    ) throws(Fault) -> EnvelopeKey {
        let start = cursor.offset
        for index in expected..<tokenRanges.count
        where cursor.take(tokenRanges[index], of: tokens.span) {
            return try allowed(index, at: start)
        }
        return try searchKey(&cursor)
    }

    @inline(never)
    @_lifetime(cursor: copy cursor)
    private mutating func searchKey(_ cursor: inout JSONCursor) throws(Fault) -> EnvelopeKey {
        let start = cursor.offset
        let token = try cursor.readString()
        cursor.skipSpace()
        try cursor.expect(0x3a)
        payloadReader.decode(token, from: cursor)
        for index in tokenRanges.indices {
            let range = tokenRanges[index].indices
            if tokens[range.lowerBound + 1..<range.upperBound - 2].elementsEqual(
                payloadReader.scratch
            ) {
                return try allowed(index, at: start)
            }
        }
        throw Fault(.unknownKey, at: start)
    }

    @inline(__always)
    private func allowed(_ index: Int, at offset: Int) throws(Fault) -> EnvelopeKey {
        guard let key = EnvelopeKey(rawValue: UInt8(index)),
            !key.isExported || options.contains(.exportKeys)
                || key.isOfOrigin && options.contains(.originKeys)
        else { throw Fault(.unknownKey, at: offset) }
        return key
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    private mutating func readValue(
        of key: EnvelopeKey,
        _ cursor: inout JSONCursor,
        _ progress: inout Progress,
        into line: inout EventLine
    ) throws(Fault) {
        let start = cursor.offset
        switch key {
        case .type:
            progress.known = try readType(&cursor)
        case .version:
            progress.versionOffset = start
            progress.version = Int(
                try readCount(&cursor, 1...UInt64(SchemaNames.versionMax), key: key)
            )
        case .payload: try readPayload(&cursor, &progress, into: &line)
        case .subject:
            progress.subjectOffset = start
            line.subject = try readText(
                &cursor,
                sizes: 1...Limits.subjectSizeMax,
                key: key,
                into: &line
            )
        case .actor:
            line.actor = try readText(
                &cursor,
                sizes: 1...Limits.actorSizeMax,
                key: key,
                into: &line
            )
        case .batch:
            // Any text: it only tells lines apart.
            line.batch = try readText(&cursor, sizes: 0...Limits.lineSizeMax, key: key, into: &line)
        case .at: line.at = try readTime(&cursor, key: key)
        case .acceptedAt: line.acceptedAt = try readTime(&cursor, key: key)
        case .ifUnchanged: line.ifUnchanged = try payloadReader.readBoolean(&cursor, node: -1)
        case .position: line.position = try readCount(&cursor, 1...UInt64(Int64.max), key: key)
        case .base: line.base = try readCount(&cursor, 0...UInt64(Int64.max), key: key)
        case .origin: line.origin = try readOrigin(&cursor)
        case .clock: line.clock = try readClock(&cursor)
        }
    }

    /// Reads the payload if its type is known, and otherwise skips it.
    @inline(__always)
    @_lifetime(cursor: copy cursor)
    private mutating func readPayload(
        _ cursor: inout JSONCursor,
        _ progress: inout Progress,
        into line: inout EventLine
    ) throws(Fault) {
        guard let type = certainType(progress) else {
            progress.pendingPayload = cursor.offset
            try cursor.skipValue()
            return
        }
        try payloadReader.readFields(&cursor, of: type, options: options, into: &line.payload)
    }

    /// The type of the payload, unless later keys may change it.
    @inline(__always)
    private func certainType(_ progress: Progress) -> EventType? {
        guard let known = progress.known else { return nil }
        guard let version = progress.version else { return known.count == 1 ? known.type : nil }
        return version == known.type.version
            ? known.type : catalog.type(of: known, version: version)
    }

    @inline(__always)
    @_lifetime(cursor: copy cursor)
    private mutating func readType(
        _ cursor: inout JSONCursor
    ) throws(Fault) -> TypeCatalog.Entry {
        let token = try payloadReader.readStringToken(&cursor, node: -1)
        let found = payloadReader.withContent(of: token, from: cursor) { catalog.find($0) }
        guard let found else { throw Fault(.unknownType, at: token.start - 1) }
        return found
    }
}
