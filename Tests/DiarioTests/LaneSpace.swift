import Diario
import DiarioCore
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// A space whose authority is elsewhere: own events are pending until they are promoted, and those
/// of others come as they were accepted.
struct LaneSpace {
    let folder: TemporaryFolder
    let space: Space
    private let others: [ReplicaID]
    private var sequences: [ReplicaID: UInt64] = [:]
    private var time: Int64

    init(_ pack: Pack, at time: Int64 = 1_760_000_000_000) throws {
        self.time = time
        folder = try TemporaryFolder()
        let directory = try POSIXDirectory(path: folder.path + "/.diario", access: .create)
        try LogStore.create(in: directory)
        let store = try Space.openStore(directory, access: .readWrite)
        let id = try store.makeSpace(isAuthority: false).space
        let fingerprint = PackPlan(pack).fingerprint
        try store.keep(pack.fingerprintFiles, fingerprint: fingerprint)
        let bare = try Space(store: store, id: id)
        let adoption = try PackEvents(pack).adoption(bare.adoptionType)
        others = [3, 5].compactMap { ReplicaID(rawValue: $0) }
        let authority = try #require(ReplicaID(rawValue: 9))
        let rows = try Self.rows(adoption, by: authority, from: 1, at: time, 1, isAuthority: true)
        _ = try store.append(Append(space: id, content: .received(rows)))
        space = try Space(store: store, id: id)
    }

    /// Records an event of our own, which is pending.
    mutating func record(_ type: String, _ payload: String) throws {
        let batch = try draft(type, payload)
        let append = Append(space: space.id, content: .new([batch]))
        _ = try space.store.append(append)
    }

    /// Takes up an event that another replica wrote and the authority accepted.
    ///
    /// Its clock is the time of the acceptance unless it is given, in milliseconds.
    mutating func pull(
        _ type: String,
        _ payload: String,
        by number: Int = 0,
        base: UInt64 = 0,
        clock: Int64? = nil,
        actor: String? = nil,
        version: Int? = nil
    ) throws {
        let replica = others[number]
        let sequence = sequences[replica, default: 0] + 1
        sequences[replica] = sequence
        time += 1000
        let rows = try Self.rows(
            try draft(type, payload, actor, version),
            by: replica,
            from: sequence,
            at: time,
            space.store[space.id].head() + 1,
            isAuthority: false,
            base: base,
            clock: clock
        )
        let append = Append(space: space.id, content: .received(rows))
        _ = try space.store.append(append)
    }

    /// Gives the oldest pending events their positions.
    mutating func promote(_ count: UInt64) throws {
        let standing = space.store[space.id].standing()
        let first = try #require(standing.pending.first)
        time += 1000
        _ = try space.store.append(
            Append(
                space: space.id,
                content: .promoted([
                    PromotedRun(
                        replica: first.replica,
                        firstSequence: first.sequences.lowerBound,
                        count: count,
                        firstPosition: standing.head + 1,
                        acceptedAt: Timestamp(milliseconds: max(time, Self.far))
                    )
                ])
            )
        )
        time = max(time, Self.far)
    }

    /// Behind all clocks of the test, so that no clock is capped.
    private static let far: Int64 = 4_000_000_000_000

    var pendingCount: UInt64 {
        space.store[space.id].standing().pending.reduce(0) { $0 + UInt64($1.sequences.count) }
    }

    private func draft(
        _ type: String,
        _ payload: String,
        _ actor: String? = nil,
        _ version: Int? = nil
    ) throws -> DraftBatch {
        let known = version.flatMap { space.catalog.type(type, version: $0) }
        var line = EventLine(type: try #require(known ?? space.catalog.newest(type)))
        var reader = PayloadReader()
        try reader.read(
            Array(payload.utf8).span,
            as: line.type,
            options: [],
            into: &line.payload
        )
        if let actor { line.actor = line.keep(Array(actor.utf8).span) }
        var batch = DraftBatch()
        try batch.append(line)
        return batch
    }

    /// An event as the authority sends it, at a position.
    private static func rows(
        _ batch: DraftBatch,
        by replica: ReplicaID,
        from sequence: UInt64,
        at time: Int64,
        _ position: UInt64,
        isAuthority: Bool,
        base: UInt64 = 0,
        clock: Int64? = nil
    ) throws -> ReceivedRows {
        let time = Timestamp(milliseconds: time)
        var builder = BlockBuilder()
        builder.append(
            event: 0,
            of: batch,
            envelope: RowEnvelope(
                replica: replica,
                sequence: sequence,
                batchFirst: sequence,
                batchCount: 1,
                clock: HybridTime(milliseconds: clock ?? time.milliseconds, counter: 0),
                at: time,
                base: base
            )
        )
        var block: [UInt8] = []
        builder.write(
            into: &block,
            position: position,
            times: [AcceptedRun(count: 1, acceptedAt: time)],
            isAuthority: isAuthority
        )
        return ReceivedRows(block, try Block.check(block.span))
    }

    // MARK: What is in the tables

    /// That the read models are what the log says, and their indexes what the tables say.
    func check(_ models: ReadModels, _ comment: Comment) throws {
        let differences = try models.compare(space.packs).filter { !$0.table.isEmpty }
        #expect(differences.map { "\($0)" } == [], comment)
        for pack in models.packs {
            let source = try #require(models.source(of: pack.name))
            let connection = try Connection(path: source.path, .readWrite)
            let integrity = try connection.rows("PRAGMA integrity_check")
            #expect(integrity == [[.text("ok")]], comment)
            let broken = try connection.rows("PRAGMA foreign_key_check")
            #expect(broken == [], comment)
            for table in try connection.rows(
                "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'"
            ) {
                guard case .text(let name) = table[0] else { continue }
                // Throws if the index is not what the table says.
                try connection.execute("INSERT INTO \(name) (\(name)) VALUES ('integrity-check')")
            }
            for table in try connection.rows(
                "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING rtree%'"
            ) {
                guard case .text(let name) = table[0] else { continue }
                let found = try connection.value("SELECT rtreecheck('\(name)')")
                #expect(found == .text("ok"), comment)
            }
        }
    }
}
