import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioSchema

// Read models, kept in memory: a file of them that is lost is only built again.

extension SyncWorld {
    /// The digests of the read models of a space, by name.
    private typealias Digests = [String: ModelDigest]

    /// Brings the read models of a device up to date; compares them with new ones if asked.
    func updateModels(_ device: Device, compares: Bool) throws {
        guard device.machine.isOn, device.machine.plannedCut == nil, !device.machine.hasFaults,
            let digests = try digests(of: device)
        else { return }
        trace.add("\(now) \(device.name) updates its models to version \(device.modelVersion)")
        guard compares else { return }
        try compareWithNew(device, digests)
    }

    /// Updates the read models with new events, as most programs do immediately.
    ///
    /// So effects of pending events are there when other events come before them.
    func followLog(_ device: Device) throws {
        guard plan.traits.contains(.models), !random.oneIn(3) else { return }
        try updateModels(device, compares: false)
    }

    /// All replicas have the same read models, and a rebuild gives them too.
    func checkModelsAtEnd() throws {
        var first: Digests?
        for device in devices {
            guard let digests = try digests(of: device) else { continue }
            if let first, first != digests {
                throw Broken(.equal, "\(device.name) has other read models than the first")
            }
            if first == nil || device.number == devices.count - 1 {
                try compareWithNew(device, digests)
            }
            first = digests
        }
    }

    private func compareWithNew(_ device: Device, _ digests: Digests) throws {
        counts.modelChecks += 1
        guard let store = device.machine.store else { return }
        try checkQuarantine(device, store, digests)
        let new = try projecting(device) { () throws in
            let space = try Space(store: store, id: device.space)
            let file = try makeModels(device, device.modelVersion)
            try ModelUpdate(space, file, chunkCount: 1000).run { _, _ in }
            return try Self.digests(file)
        }
        guard new == digests else {
            let names = digests.keys.sorted().filter { digests[$0] != new[$0] }
            throw Broken(
                .equal,
                "updated read models of \(device.name) are not those of a rebuild: "
                    + names.joined(separator: ", ")
            )
        }
    }

    /// Compares one read model and its quarantine with the events themselves.
    private func checkQuarantine(
        _ device: Device,
        _ store: LogStore,
        _ digests: Digests
    ) throws {
        let head = store[device.space].standing().head
        let rows = try attempt("a read of \(device.name)") { () throws(LogError) in
            let entries = try head == 0 ? [] : readEntries(1...head, of: device.space, in: store)
            return entries.map(\.row) + (try readLane(of: device, store).map(\.row))
        }
        var taken: Set<Int64> = []
        var expected: Set<Origin> = []
        for row in rows {
            guard case .event(let event) = row.content,
                event.kind == .note || event.kind == .other
                    || event.kind == .newNote && device.modelVersion > 1
            else { continue }
            // The second one is refused: where disks were copied, an event may be there twice.
            if event.token % 5 == 3 || !taken.insert(event.token).inserted {
                expected.insert(row.envelope.origin)
            }
        }
        let quarantined = try projecting(device) { () throws in
            try device.models?.quarantined() ?? []
        }
        let found = quarantined.filter { $0.model == "halves" && $0.rule == "sql" }.map(\.origin)
        guard Set(found) == expected, digests["halves"]?.rows == 2 * taken.count else {
            throw Broken(
                .equal,
                "\(found.count) notes are in quarantine on \(device.name), not "
                    + "\(expected.count), and of \(taken.count) others it has "
                    + "\(digests["halves"]?.rows ?? 0) rows, not \(2 * taken.count)"
            )
        }
    }

    /// Brings the read models of a device up to date; nil if it knows of no pack yet.
    private func digests(of device: Device) throws -> Digests? {
        guard let store = device.machine.store else { return nil }
        device.machine.setClock(now)
        return try projecting(device) { () throws in
            let space = try Space(store: store, id: device.space)
            guard let pack = space.packs.first(where: { $0.name == "world" }) else { return nil }
            let file: ModelFile
            if let known = device.models, device.modelVersion == pack.version {
                file = known
            } else {
                file = try makeModels(device, pack.version)
            }
            device.models = file
            device.modelVersion = pack.version
            try ModelUpdate(space, file, chunkCount: 7).run { _, _ in }
            return try Self.digests(file)
        }
    }

    private func makeModels(
        _ device: Device,
        _ version: Int
    ) throws(ProjectionError) -> ModelFile {
        try ModelFile(
            path: ":memory:",
            plan: kinds.plans[version - 1],
            space: device.space,
            .building
        )
    }

    private static func digests(_ file: ModelFile) throws(ProjectionError) -> Digests {
        var digests: Digests = [:]
        for model in file.models { digests[model.name] = try file.digest(of: model.name) }
        return digests
    }

    private func projecting<Value>(
        _ device: Device,
        _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch {
            throw Broken(.works, "the read models of \(device.name): \(error)")
        }
    }
}
