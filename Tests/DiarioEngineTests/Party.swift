import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioSync
import DiarioTestSupport
import Synchronization

/// A program of the loop: a log in memory, and what it is doing at the moment.
final class Party {
    let store: LogStore
    /// Nil until it is there.
    var space: Space?
    private var models: ReadModels?
    private var session: ReplicaSession?
    private var seal: LogSeal?
    private var verify: SpaceVerify?
    private let folder: TemporaryFolder
    private(set) var mergedCount = 0
    private(set) var verifiedCount = 0

    static let pack = try? Pack(
        files: [
            PackFile(path: "pack.json", bytes: Array(#"{"name":"plants","version":1}"#.utf8)),
            PackFile(
                path: "events/plant.watered.1.json",
                bytes: Array(
                    #"""
                    {"title":"plants.plant.watered","x-diario-version":1,"type":"object",
                     "additionalProperties":false,"required":["plant","amountMl"],
                     "properties":{"plant":{"type":"string","maxLength":40},
                      "amountMl":{"type":"integer","minimum":1,"maximum":20000},
                      "note":{"type":"string","maxLength":40,"x-diario-personal":true}}}
                    """#.utf8
                )
            ),
            PackFile(
                path: "readmodel/water.sql",
                bytes: Array(
                    #"""
                    -- readmodel water version 1: how much water each plant got
                    CREATE TABLE water (plant TEXT NOT NULL PRIMARY KEY, totalMl INT NOT NULL,
                        last TEXT) STRICT;
                    -- on plants.plant.watered
                    INSERT INTO water VALUES (:plant, :amountMl, :note)
                    ON CONFLICT (plant) DO UPDATE SET
                        totalMl = totalMl + excluded.totalMl, last = excluded.last;
                    """#.utf8
                )
            ),
        ]
    )

    init(_ name: String, _ clock: ManualClock, seed: UInt64) throws {
        folder = try TemporaryFolder()
        let disk = CrashDisk(machineID: name).process(0)
        try LogStore.create(in: disk)
        let engine = try PackSource.engine()
        guard let reader = EngineReader(engine.types) else {
            preconditionFailure("the engine's pack says how packs are adopted")
        }
        var sizes = LogSizes()
        sizes.segmentCount = 8
        sizes.mergedCount = 32
        store = try LogStore(
            disk,
            access: .readWrite,
            time: clock,
            entropy: SeededEntropy(seed: seed),
            engine: reader,
            types: engine.types,
            sizes: sizes
        )
    }

    // MARK: Recording and reading

    func record(_ plant: Int, _ amount: Int) throws {
        guard let space else { return }
        var recorder = LineRecorder(space)
        let line = #"{"type":"plants.plant.watered","payload":{"plant":"p\#(plant)","#
        let rest = #""amountMl":\#(amount),"note":"n\#(amount)"}}"#
        try recorder.add(Array((line + rest).utf8).span)
        recorder.finish()
        _ = try recorder.commit()
    }

    /// All events as lines of JSON, those of the authority among them.
    func lines() throws -> [String] {
        guard let space else { return [] }
        var lines: [String] = []
        var reader = try EventReader(space.refreshed(), .everything)
        while let line = try reader.next() {
            var bytes: [UInt8] = []
            EventLineWriter.append(line, to: &bytes)
            lines.append(String(decoding: bytes, as: UTF8.self))
        }
        return lines
    }

    /// What the read model says, once it is what the log says.
    func answer() throws -> [[SQLValue]] {
        guard let space else { return [] }
        let place = MemoryPlace(folder.path, store.directory)
        let models = self.models ?? ReadModels(space, in: place, chunkCount: 7)
        self.models = models
        let question = Question.sql("SELECT plant, totalMl, last FROM water ORDER BY plant", [:])
        let answer = try models.ask(question).answer()
        var rows: [[SQLValue]] = []
        while let row = try answer.next() { rows.append(row.values) }
        return rows
    }

    // MARK: Machines

    /// Goes on sealing and verifying by one small step each, and begins again at the end.
    func work() throws {
        guard let space else { return }
        var seal = try seal.take() ?? LogSeal(store, space.id, all: true)
        if try seal.step(1) {
            self.seal = consume seal
        } else {
            mergedCount += seal.report.replacedCount
        }
        var verify = try verify.take() ?? SpaceVerify(space)
        if try verify.step(1) {
            self.verify = consume verify
        } else {
            let found = try verify.result()
            guard found.isOK else { throw DiarioError(.corrupt, "\(found.faults)") }
            verifiedCount += 1
        }
    }

    /// The request that is to be sent now; nil if none is.
    func request(at now: Timestamp) throws -> [UInt8]? {
        guard let space else { return nil }
        var session = session ?? ReplicaSession(store, space.id, seed: 5)
        defer { self.session = session }
        guard case .send(let bytes) = try session.next(at: now) else { return nil }
        return bytes
    }

    func receive(_ answer: [UInt8]?, at now: Timestamp) throws {
        guard let answer else {
            session?.failed("It was lost.", at: now)
            return
        }
        try session?.receive(answer, at: now)
        try space?.takeUpAdoptions()
    }

    func heardOfNews() { session?.heardOfNews() }
}

/// Says which generation of a read model is live without a file system; SQLite has its own files.
private final class MemoryPlace: ModelPlace {
    private let folder: String
    private let directory: any LogDirectory
    private let state = Mutex<(all: Set<ModelGeneration>, live: [String: ModelGeneration])>(
        ([], [:])
    )

    init(_ folder: String, _ directory: any LogDirectory) {
        self.folder = folder
        self.directory = directory
    }

    let isReadOnly = false

    func path(of name: String) -> String {
        if let generation = ModelGeneration(name) {
            state.withLock { _ = $0.all.insert(generation) }
        }
        return folder + "/" + name
    }

    func live(_ pack: String) -> ModelGeneration? { state.withLock { $0.live[pack] } }
    func identity(of generation: ModelGeneration) -> FileIdentity? { nil }
    func size(of generation: ModelGeneration) -> Int64 { 0 }

    func generations(of pack: String) -> [ModelGeneration] {
        state.withLock { $0.all.filter { $0.pack == pack }.sorted() }
    }

    func sync() {}
    func makeLive(_ generation: ModelGeneration) {
        state.withLock { $0.live[generation.pack] = generation }
    }

    func remove(_ name: String) {
        if let generation = ModelGeneration(name) {
            state.withLock { _ = $0.all.remove(generation) }
        }
    }

    func lock(of pack: String) throws(StorageError) -> any DirectoryLock {
        try directory.lock("models.\(pack).lock")
    }

    func buildLock() throws(StorageError) -> any DirectoryLock {
        try directory.lock("models.lock")
    }
}
