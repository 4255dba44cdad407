import DiarioCore
package import DiarioCrypto
import DiarioProjection
import DiarioSQLite
import DiarioSchema

/// A blob to which events of a space refer.
package struct ReferredBlob: Hashable, Sendable {
    package let id: Hash32
    /// Fields of events that have its id.
    package let count: Int
    /// The bytes that are stored of it, as an event says it; nil if none does.
    package let storedSize: Int64?
    /// True if none of them has its key any more.
    package let isErased: Bool
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
            guard let question = try ask(pack.name, Self.sql(pack)) else { continue }
            try Self.read(question.answer(rowCountMax: .max), into: &found)
        }
        return found.values.sorted { $0.id.text < $1.id.text }
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
                let question = try ask(.sql(Self.sql(pack, "WHERE id IN (\(list)) "), [:]))
                try Self.read(question.answer(), into: &found)
            }
        }
        return found
    }

    private static func sql(_ pack: Pack, _ condition: String = "") -> String {
        "SELECT id, count(*), max(storedSize), min(isErased) FROM \(pack.name).\(BlobModel.name) "
            + condition + "GROUP BY id"
    }

    private static func read(
        _ answer: Answer,
        into found: inout [Hash32: ReferredBlob]
    ) throws(DiarioError) {
        while let row = try answer.next() {
            guard case .blob(let bytes) = row.values[0], let id = Hash32(bytes.span),
                case .integer(let count) = row.values[1]
            else { continue }
            let known = found[id]
            var storedSize = known?.storedSize
            if case .integer(let size) = row.values[2] { storedSize = size }
            found[id] = ReferredBlob(
                id: id,
                count: Int(clamping: count) + (known?.count ?? 0),
                storedSize: storedSize,
                isErased: row.values[3] == .integer(1) && known?.isErased ?? true
            )
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
