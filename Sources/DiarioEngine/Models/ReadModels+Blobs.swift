import DiarioCore
package import DiarioCrypto
import DiarioProjection
import DiarioSQLite
import DiarioSchema

/// A blob to which events of a space refer.
package struct ReferredBlob: Hashable, Sendable {
    package let id: Hash32
    /// Fields of events that have its id.
    package fileprivate(set) var count = 0
    /// The bytes that are stored of it, as an event says it; nil if none does.
    package fileprivate(set) var storedSize: Int64?
    /// True if none of them has its key any more.
    package fileprivate(set) var isErased = true
    /// True if it is not about anyone.
    package fileprivate(set) var isPublic = false
    /// Those of the events; `-` for events without one.
    package fileprivate(set) var actors: Set<String> = []
    /// True if an event that was recorded here refers to it.
    package fileprivate(set) var isRecordedHere = false
    /// The actors of the first events by whose fields it stays, and those for whom it is released.
    fileprivate var keepers: Set<String> = []
    fileprivate var keptSince = Int64.max
    fileprivate var released: Set<String> = []

    /// True if its bytes go nowhere: schema/format/models.md, section 2.
    package var stays: Bool { !keepers.isSubset(of: released) }

    /// Notes an event by whose field it stays; what is pending has no position yet.
    fileprivate mutating func keep(for actor: String, since position: Int64) {
        if position < keptSince { (keepers, keptSince) = ([], position) }
        if position == keptSince { keepers.insert(actor) }
    }

    /// True if whoever may read the space may have its bytes.
    package var isGivenOut: Bool { !isErased && !stays }

    /// True if its bytes come without being asked for.
    package func isOwn(of actor: String?) -> Bool {
        isPublic || actors.contains(BlobModel.nobody) || actor.map { actors.contains($0) } ?? false
    }

    fileprivate init(_ id: Hash32) { self.id = id }
}

/// What an event says of a blob.
package struct BlobReference: Hashable, Sendable {
    package let size: Int64
    /// Its media type.
    package let type: String
    package let isPublic: Bool
    /// Nil if the blob is public or erased.
    package let key: [UInt8]?
}

extension ReadModels {
    private var packsWithBlobs: [Pack] {
        packs.filter { $0.sql.readModels.contains { $0.name == BlobModel.name } }
    }

    /// The blobs to which events refer, in the order of their ids.
    package func referredBlobs(
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> [ReferredBlob] {
        try referredBlobs { (_, sql) throws(DiarioError) in
            try ask(.sql(sql, [:]), progress: progress)
        }
    }

    /// The same without what the read models have not followed yet, which may be all.
    package func knownBlobs() throws(DiarioError) -> [ReferredBlob] {
        try referredBlobs { (pack, sql) throws(DiarioError) in
            source(of: pack) == nil ? nil : PreparedQuestion(sql, [:], self)
        }
    }

    private func referredBlobs(
        _ ask: (_ pack: String, _ sql: String) throws(DiarioError) -> PreparedQuestion?
    ) throws(DiarioError) -> [ReferredBlob] {
        var found: [Hash32: ReferredBlob] = [:]
        for pack in packsWithBlobs {
            for sql in try statements(pack) {
                guard let question = try ask(pack.name, sql) else { continue }
                try Self.read(question.answer(rowCountMax: .max), into: &found)
            }
        }
        return found.values.filter { $0.count > 0 }.sorted { $0.id.text < $1.id.text }
    }

    /// Those of these blobs to which events refer.
    package func referredBlobs(
        among ids: [Hash32]
    ) throws(DiarioError) -> [Hash32: ReferredBlob] {
        var found: [Hash32: ReferredBlob] = [:]
        for pack in packsWithBlobs {
            for start in stride(from: 0, to: ids.count, by: Self.listCountMax) {
                let some = ids[start..<min(start + Self.listCountMax, ids.count)]
                let list = some.map { "x'\($0.text)'" }.joined(separator: ",")
                for sql in try statements(pack, "WHERE id IN (\(list)) ") {
                    try Self.read(ask(.sql(sql, [:])).answer(rowCountMax: .max), into: &found)
                }
            }
        }
        return found.filter { $0.value.count > 0 }
    }

    /// What a pack says of blobs, and for whom they are released.
    private func statements(
        _ pack: Pack,
        _ condition: String = ""
    ) throws(DiarioError) -> [String] {
        let replica = try space.state().replica.text
        let table = "\(pack.name).\(BlobModel.name)"
        // Where a view says who released a blob, events that refer to it do not.
        let stays = pack.hasReleasedView ? "nullif(stays, 0)" : "stays"
        let references =
            "SELECT id, actor, \(stays), count(*), max(storedSize), min(isErased), max(isPublic), "
            + "max(substr(origin, 1, \(replica.utf8.count)) = '\(replica)'), min(position) "
            + "FROM \(table) \(condition)GROUP BY id, actor, stays"
        guard pack.hasReleasedView else { return [references] }
        return [
            references,
            "SELECT id, actor, NULL FROM \(pack.name).\(Pack.releasedView) \(condition)",
        ]
    }

    private static func read(
        _ answer: Answer,
        into found: inout [Hash32: ReferredBlob]
    ) throws(DiarioError) {
        while let row = try answer.next() {
            let values = row.values
            guard case .blob(let bytes) = values[0], let id = Hash32(bytes.span),
                case .text(let actor) = values[1]
            else { continue }
            var blob = found[id] ?? ReferredBlob(id)
            defer { found[id] = blob }
            guard values.count > 3, case .integer(let count) = values[3] else {
                blob.released.insert(actor)
                continue
            }
            blob.actors.insert(actor)
            switch values[2] {
            case .integer(1):
                var position = Int64.max
                if case .integer(let known) = values[8] { position = known }
                blob.keep(for: actor, since: position)
            case .integer: blob.released.insert(actor)
            default: break
            }
            blob.count += Int(clamping: count)
            if case .integer(let size) = values[4] { blob.storedSize = size }
            if values[5] != .integer(1) { blob.isErased = false }
            if values[6] == .integer(1) { blob.isPublic = true }
            if values[7] == .integer(1) { blob.isRecordedHere = true }
        }
    }

    /// Ids that one statement lists.
    private static let listCountMax = 250

    /// How an event refers to a blob, rather one that has its key; nil if none does.
    package func reference(
        to id: Hash32,
        progress: Progress = { _, _, _ in }
    ) throws(DiarioError) -> BlobReference? {
        var found: BlobReference?
        for pack in packsWithBlobs {
            let table = "\(pack.name).\(BlobModel.name)"
            let question = try ask(
                .sql(
                    "SELECT origin, field FROM \(table) WHERE id = :id "
                        + "ORDER BY isErased, origin LIMIT 1",
                    ["id": .blob(id.bytes)]
                ),
                progress: progress
            )
            guard let row = try question.answer().next(), case .text(let origin) = row.values[0],
                case .text(let field) = row.values[1], let name = EventName(origin),
                let line = try space.event(name)?.line,
                let blob = line.type.blobs.first(where: { $0.name == field })
            else { continue }
            let reference = BlobReference(blob, line.payload)
            if reference.isPublic || reference.key != nil { return reference }
            found = reference
        }
        return found
    }
}

extension BlobReference {
    fileprivate init(_ blob: BlobField, _ payload: Payload) {
        var (size, type): (Int64, String) = (0, "")
        if case .integer(let value) = payload.slots[blob.sizeIndex] { size = value }
        if case .integer(let value) = payload.slots[blob.typeIndex],
            blob.types.indices.contains(Int(value))
        {
            type = blob.types[Int(value)]
        }
        self.init(
            size: size,
            type: type,
            isPublic: blob.isPublic,
            key: blob.keyIndex.flatMap { payload.bytes(at: $0) }.map { Array($0) }
        )
    }
}
