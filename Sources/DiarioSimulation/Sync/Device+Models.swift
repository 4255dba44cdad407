import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioProjection
import DiarioSchema

// Read models, kept in memory: a file of them that is lost is only built again.

extension Device {
    /// The digests of the read models of a space, by name.
    typealias Digests = [String: ModelDigest]

    /// Brings the read models up to date; nil if the device knows of no pack yet.
    func updateModels() throws -> Digests? {
        guard let store else { return nil }
        return try projecting {
            let space = try Space(store: store, id: space)
            guard let pack = space.packs.first(where: { $0.name == "world" }) else { return nil }
            if models == nil || modelVersion != pack.version {
                models = try makeModels(pack.version)
                modelVersion = pack.version
            }
            return try models.map { try Self.digests($0, of: space, chunkCount: 7) }
        }
    }

    /// Compares read models with the events themselves, and with new ones.
    func compareModels(_ digests: Digests) throws {
        guard let store else { return }
        try checkQuarantine(digests)
        let new = try projecting {
            let space = try Space(store: store, id: space)
            let new = try makeModels(modelVersion, .deferring)
            return try Self.digests(new, of: space, chunkCount: 1000)
        }
        guard new == digests else {
            let names = digests.keys.sorted().filter { digests[$0] != new[$0] }
            throw Broken(
                .equal,
                "updated read models of \(name) are not those of a rebuild: "
                    + names.joined(separator: ", ")
            )
        }
    }

    /// Compares one read model and its quarantine with the events themselves.
    private func checkQuarantine(_ digests: Digests) throws {
        let canonical = try head == 0 ? [] : entries(1...head).map(\.row)
        var taken: Set<Int64> = []
        var expected: Set<Origin> = []
        var tooLong: Set<Origin> = []
        for row in try canonical + lane().map(\.row) {
            guard case .event(let event) = row.content,
                event.kind == .note || event.kind == .other
                    || event.kind == .newNote && modelVersion > 1
            else { continue }
            // Version 2 may not get a text from version 1 that it does not allow.
            if event.kind != .newNote, modelVersion > 1,
                event.text.count > SyncPacks.textLengthMax
            {
                tooLong.insert(row.envelope.origin)
                continue
            }
            // The second one is refused: where disks were copied, an event may be there twice.
            if event.token % 5 == 3 || !taken.insert(event.token).inserted {
                expected.insert(row.envelope.origin)
            }
        }
        let quarantined = try projecting { try models?.quarantined() ?? [] }
            .filter { $0.model == "halves" }
        let notCast = quarantined.filter { $0.rule == "upcast" }.map(\.origin)
        guard Set(notCast) == tooLong else {
            throw Broken(
                .equal,
                "\(notCast.count) notes of version 1 are in quarantine on \(name), not "
                    + "\(tooLong.count)"
            )
        }
        let found = quarantined.filter { $0.rule == "sql" }.map(\.origin)
        guard Set(found) == expected, digests["halves"]?.rows == 2 * taken.count else {
            throw Broken(
                .equal,
                "\(found.count) notes are in quarantine on \(name), not \(expected.count), and of "
                    + "\(taken.count) others it has \(digests["halves"]?.rows ?? 0) rows, not "
                    + "\(2 * taken.count)"
            )
        }
    }

    private func makeModels(
        _ version: Int,
        _ mode: ModelFile.Mode = .building
    ) throws -> ModelFile {
        try ModelFile(path: ":memory:", plan: kinds.plans[version - 1], space: space, mode)
    }

    private static func digests(
        _ file: ModelFile,
        of space: Space,
        chunkCount: Int
    ) throws -> Digests {
        try ModelUpdate(space, file, chunkCount: chunkCount).run { _, _ in }
        var digests: Digests = [:]
        for model in file.models { digests[model.name] = try file.digest(of: model.name) }
        return digests
    }

    private func projecting<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            throw Broken(.works, "the read models of \(name): \(error)")
        }
    }
}
