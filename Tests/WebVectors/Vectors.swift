#if hasFeature(Embedded)
import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioSchema
import DiarioStorage
import DiarioSync
import DiarioZstd

// What golden vectors ask of the engine in a page, by tools/validators/web_vectors.mjs. Linked for
// tests alone.

// Sendable because the module has one thread.
private nonisolated(unsafe) var schemas: [EventType] = []
// Sendable because the module has one thread.
private nonisolated(unsafe) var catalog: TypeCatalog?

private func hex(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return text
}

private func unhex(_ text: String) -> [UInt8] {
    let digits = text.utf8.map { $0 > 0x60 ? $0 - 0x57 : $0 - 0x30 }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// A file of a directory as it comes from elsewhere, with the folders above it: its path, a zero
/// byte, its content.
@_cdecl("diario_vector_file")
public func vectorFile(_ start: Int, _ size: Int) -> Int32 {
    let told = bytes(start, size)
    guard let end = told.firstIndex(of: 0), let pool = worker.pool else { return 2 }
    let path = String(decoding: told[..<end], as: UTF8.self)
    do throws(StorageError) {
        try pool.makeDirectory(PooledPath.parent(of: path))
        let content = Array(told[(end + 1)...])
        try pool.open(path, .create).write(content.span, at: 0)
        return 0
    } catch {
        worker.answer = Array(error.message.utf8)
        return 1
    }
}

@_cdecl("diario_vector_schema")
public func vectorSchema(_ start: Int, _ size: Int) -> Int32 {
    var budget = PatternBudget()
    do throws(PackError) {
        let type = try EventType(
            schema: bytes(start, size),
            file: "vector.json",
            budget: &budget
        )
        schemas.append(type)
        catalog = try TypeCatalog(schemas)
        return 0
    } catch {
        worker.answer = Array(error.problems.map { $0.description }.joined(separator: "\n").utf8)
        return 1
    }
}

/// A row of the vectors, in bytes and hashes.
///
/// One field in each line: the line of the event, replica, sequence, first
/// sequence and count of the batch, clock, time, base, salt root, accepted time. The answer has
/// public part, personal part, salt, commitment, canonical row, hash and leaf, a line each.
@_cdecl("diario_vector_row")
public func vectorRow(_ start: Int, _ size: Int) -> Int32 {
    let fields = text(start, size).split(separator: "\n").map { String($0) }
    guard fields.count == 10, let catalog, let replica = ReplicaID(text: fields[1]),
        let sequence = UInt64(fields[2]), let batchFirst = UInt64(fields[3]),
        let batchCount = Int(fields[4]), let clock = UInt64(fields[5]), let at = Int64(fields[6]),
        let base = UInt64(fields[7]), let acceptedAt = Int64(fields[9])
    else { return 3 }
    let envelope = RowEnvelope(
        replica: replica,
        sequence: sequence,
        batchFirst: batchFirst,
        batchCount: batchCount,
        clock: HybridTime(rawValue: clock),
        at: Timestamp(milliseconds: at),
        base: base
    )
    let told = fields[0].dropLast() + ",\"origin\":\"\(envelope.origin.text)\"}"
    var line = EventLine()
    var batch = DraftBatch()
    var reader = EventLineReader(catalog: catalog, options: [.batchReferences, .exportKeys])
    do throws(SchemaError) { try reader.read(Array(told.utf8).span, into: &line) } catch {
        worker.answer = Array(error.message.utf8)
        return 1
    }
    do throws(FormatError) {
        try batch.append(line)
        worker.answer = Array(
            try shown(batch, envelope, saltRoot: unhex(fields[8]), acceptedAt).utf8
        )
        return 0
    } catch {
        worker.answer = Array(error.message.utf8)
        return 2
    }
}

private func shown(
    _ batch: DraftBatch,
    _ envelope: RowEnvelope,
    saltRoot: [UInt8],
    _ acceptedAt: Int64
) throws(FormatError) -> String {
    var builder = BlockBuilder()
    builder.append(event: 0, of: batch, envelope: envelope)
    var block: [UInt8] = []
    let isAuthority = builder.types.contains { $0.isAuthority }
    builder.write(into: &block, position: nil, times: [], isAuthority: isAuthority)
    let summary = try BlockSummary.parse(block.span, verifyChecksum: true)
    var cursor = RowCursor(block.span, summary)
    guard let row = try cursor.next() else { return "no row" }
    var hasher = EventHasher()
    var commitment: Hash32?
    var parts = [hex(block[row.publicPart])]
    if case .present(let range) = row.personal {
        var saltReader = ByteReader(saltRoot.span.raw)
        let (replica, sequence) = (envelope.replica, envelope.sequence)
        let seed = SaltSeed(
            replica: replica,
            group: SaltSeed.group(of: sequence),
            root: try Salt(&saltReader)
        )
        let salt = hasher.salt(seed, index: SaltSeed.index(of: sequence))
        let found = hasher.commitment(block.span.raw.extracting(range), salt: salt)
        commitment = found
        var saltBytes: [UInt8] = []
        salt.write(into: &saltBytes)
        parts += [hex(block[range]), hex(saltBytes), found.text]
    } else {
        parts += ["", "", ""]
    }
    let entry = batch.entries[0]
    let hash = hasher.eventHash(
        typeName: entry.name.span,
        version: entry.version,
        replica: envelope.replica,
        sequence: envelope.sequence,
        publicPart: block.span.raw.extracting(row.publicPart),
        commitment: commitment
    )
    var canonical: [UInt8] = []
    CanonicalRow.appendStart(
        to: &canonical,
        typeName: entry.name.span,
        version: entry.version,
        replica: envelope.replica,
        sequence: envelope.sequence
    )
    canonical += block[row.publicPart] + (commitment?.bytes ?? [])
    parts += [hex(canonical), hash.text, hasher.leaf(hash, acceptedAt: acceptedAt).text]
    return parts.joined(separator: "\n")
}

/// 0 if a message reads, and is written again as it was.
@_cdecl("diario_vector_message")
public func vectorMessage(_ start: Int, _ size: Int) -> Int32 {
    let told = bytes(start, size)
    do throws(FormatError) {
        worker.answer = try SyncMessage(told.span).encoded()
        return worker.answer == told ? 0 : 1
    } catch {
        worker.answer = Array(error.message.utf8)
        return 2
    }
}

/// The name of what is wrong with a block, as the vectors say it; empty if nothing is.
///
/// With `rebuilds` a block that is right is made again, which must give the same bytes: 1 if not.
@_cdecl("diario_vector_block")
public func vectorBlock(
    _ start: Int,
    _ size: Int,
    _ rebuilds: Int32
) -> Int32 {
    let told = bytes(start, size)
    worker.answer = []
    do throws(FormatError) {
        let (plain, rebuilt) = try readBlock(told, rebuilds: rebuilds != 0)
        return rebuilt == plain ? 0 : 1
    } catch {
        let name =
            switch error {
            case .truncated: "truncated"
            case .trailingBytes: "trailing bytes"
            case .malformed(let part, _): "malformed: \(part.rawValue)"
            case .tooLarge(let part, _, _): "too large: \(part.rawValue)"
            case .unknownVersion: "unknown version"
            case .checksumMismatch: "checksum"
            case .compression: "compression"
            default: "not of a block: \(error.message)"
            }
        worker.answer = Array(name.utf8)
        return 0
    }
}

private func readBlock(
    _ told: [UInt8],
    rebuilds: Bool
) throws(FormatError) -> (plain: [UInt8], rebuilt: [UInt8]) {
    var decompressor: Decompressor
    do throws(ZstdError) { decompressor = try Decompressor() } catch {
        throw .compression(error)
    }
    var plain: [UInt8] = []
    try Block.decompress(told.span, using: &decompressor, into: &plain)
    let head = try Block.check(plain.span)
    guard rebuilds else { return (plain, plain) }
    var builder = BlockBuilder()
    var cursor = RowCursor(plain.span, head.summary)
    while let row = try cursor.next() {
        try builder.append(row, of: plain.span, type: head.types[row.typeIndex])
    }
    for node in head.saltNodes { builder.append(node) }
    var rebuilt: [UInt8] = []
    builder.write(
        into: &rebuilt,
        position: head.summary.firstPosition,
        times: head.times,
        isAuthority: head.summary.isAuthority
    )
    return (plain, rebuilt)
}

/// The rows of a segment, each as "type replica sequence acceptedAt isAuthority public personal".
@_cdecl("diario_vector_segment")
public func vectorSegment(
    _ start: Int,
    _ size: Int,
    _ sidecarStart: Int,
    _ sidecarSize: Int
) -> Int32 {
    let (segment, sidecar) = (bytes(start, size), bytes(sidecarStart, sidecarSize))
    do throws(SegmentError) {
        let reader = try SegmentReader(
            SegmentMemory(.segment, segment),
            sidecar: SegmentMemory(.sidecar, sidecar)
        )
        var rows = try SegmentRows(reader)
        var told = ""
        while let row = try rows.next() {
            let event = row.event
            let personal =
                switch event.personal {
                case .absent: ""
                case .present(let range): "p" + hex(rows.bytes[range])
                case .erased(let range): "e" + hex(rows.bytes[range])
                }
            let time = event.acceptedAt.map { "\($0.milliseconds)" } ?? ""
            told += "\(row.typeIndex) \(event.replica.text) \(event.sequence) \(time) "
            told += "\(event.isAuthority ? 1 : 0) \(hex(rows.bytes[event.publicPart])) "
            told += "\(personal)\n"
        }
        worker.answer = Array(told.utf8)
        return 0
    } catch {
        worker.answer = Array("the segment cannot be read".utf8)
        return 2
    }
}
#endif
