import Diario
import DiarioCore
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync
import Testing

/// Events that were refused stay out of the lane, whatever is damaged: schema/format/log.md,
/// section 14.
struct RefusedRepairTests {
    private static func note(_ text: String, by actor: String = "alice") -> String {
        #"{"type":"shed.note.made","actor":"\#(actor)","payload":{"text":"\#(text)"}}"#
    }

    /// Sequences 1 and 3 were accepted, 2 and 4 refused, and 5 is pending.
    static func device(
        in world: InboxWorld,
        sealsLane: Bool,
        seals: Bool
    ) throws -> Device {
        var device = try world.makeDevice()
        for round in 0..<2 {
            try world.record([note("a \(round)"), note("b", by: "bob")], on: device)
            let space = try world.space(of: device)
            if sealsLane { _ = try space.store.seal(space.id, all: true) }
            try world.sync(&device)
        }
        let space = try world.space(of: device)
        if seals { _ = try space.store.seal(space.id, all: true) }
        try world.record([note("e")], on: device)
        try device.store.close()
        return device
    }

    /// Where frames begin in the files of the log.
    private static func frames(of disk: CrashDisk) throws -> [(path: String, offset: Int)] {
        let magic = Array("DFRM".utf8)
        var found: [(String, Int)] = []
        for name in try disk.list(LogPaths.log) where name.hasSuffix(".dwal") {
            let path = LogPaths.log + "/" + name
            let bytes = try disk.contents(of: path, sizeMax: Limits.logFileSizeMax)
            for offset in stride(from: 4096, to: bytes.count - 8, by: 8)
            where bytes[offset] == magic[0] && bytes[offset..<offset + 4].elementsEqual(magic) {
                found.append((path, offset))
            }
        }
        return found
    }

    @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
    func whateverFrameIsGoneWhatWasRefusedIsNotPending(sealsLane: Bool, seals: Bool) throws {
        let world = try InboxWorld()
        let device = try Self.device(in: world, sealsLane: sealsLane, seals: seals)
        let frames = try Self.frames(of: device.disk)
        let opened = try world.open(device.disk.copy(machineID: "device"))
        let replica = try world.space(of: opened).inbox().first?.replica
        #expect(frames.count > 4)
        for (path, offset) in frames {
            let disk = device.disk.copy(machineID: "device")
            try disk.flipBit(3, at: offset + 41, of: path)
            let what = "frame at \(offset), lane \(sealsLane), sealed \(seals)"
            let report = try world.repair(disk)
            #expect(report.isMended, "\(what): \(report.findings) \(report.remaining)")
            let mended = try world.open(disk)
            let space = try world.space(of: mended)
            #expect(mended.store.validate() == [], "\(what)")
            let standing = mended.store.standing(of: space.id)
            let own = try #require(replica)
            let refused =
                standing.head == 0
                ? [] : try mended.store.refusals(in: 1...standing.head, of: space.id)
            for run in refused.filter({ $0.replica == own }).map(\.sequences) {
                let pending = standing.pending.filter { $0.replica == own }
                #expect(!pending.contains { $0.sequences.overlaps(run) }, "\(what): \(pending)")
                let lost = report.losses.filter { $0.place == .sequences(own) }
                #expect(!lost.contains { $0.numbers.overlaps(run) }, "\(what): \(lost)")
            }
            try mended.store.close()
            let again = try world.repair(disk)
            #expect(again.isClean, "\(what): \(again.findings)")
        }
    }

    /// The manifest of a space is gone, and with it the list of its private segments.
    @Test(arguments: [false, true]) func aLostManifestBringsNothingBack(seals: Bool) throws {
        let world = try InboxWorld()
        let device = try Self.device(in: world, sealsLane: true, seals: seals)
        let id = try world.space(of: try world.reopen(device)).id
        let disk = device.disk.copy(machineID: "device")
        try disk.flipBit(3, at: 20, of: LogPaths.manifest(id))
        let report = try world.repair(disk)
        #expect(report.isMended, "\(report.findings) \(report.remaining)")
        let mended = try world.open(disk)
        let pending = mended.store.standing(of: id).pending
        #expect(pending.map(\.sequences) == [5...5])
        #expect(try world.space(of: mended).inbox().count == 2)
    }

    /// The refusal was lost to damage, and the authority says again that there was one.
    @Test func aVerdictOfLongAgoTakesEventsOutOfTheLane() throws {
        let world = try InboxWorld()
        var device = try world.makeDevice()
        try world.record([Self.note("mine"), Self.note("yours")], on: device)
        let space = try world.space(of: device)
        var session = ReplicaSession(device.store, space.id, seed: 1)
        session.goOn()
        try world.exchange(&session) { message in
            if case .push = message { true } else { false }
        }
        let verdicts = Verdicts(
            epoch: 0,
            head: 1,
            list: [
                Verdict(firstSequence: 1, count: 1, kind: .refused(position: 1)),
                Verdict(
                    firstSequence: 2,
                    count: 1,
                    kind: .accepted(firstPosition: 9, acceptedAt: world.clock.now)
                ),
            ]
        )
        try session.receive(SyncMessage.verdicts(verdicts).encoded(), at: world.clock.now)
        let left = device.store.standing(of: space.id).pending.map(\.sequences)
        #expect(left == [2...2])
        #expect(session.moved.refused == 1)
        device = try world.reopen(device)
        #expect(device.store.standing(of: space.id).pending.map(\.sequences) == [2...2])
        #expect(device.store.validate() == [])
        let inbox = try world.space(of: device).inbox()
        #expect(inbox.map(\.sequences) == [1...1])
        #expect(try world.space(of: device).verify { _ in }.isOK)
    }

    @Test func verifyNamesDamagedFilesOfTheInboxAndRepairSetsThemAside() throws {
        let world = try InboxWorld()
        let device = try Self.device(in: world, sealsLane: false, seals: false)
        let disk = device.disk
        let opened = try world.open(disk)
        let space = try world.space(of: opened)
        let origin = try #require(try space.inbox().first?.origin)
        let path = LogPaths.inboxEntry(origin.replica, origin.sequence, of: space.id)
        try disk.flipBit(3, at: 16, of: path)
        let found = try space.verify { _ in }
        #expect(found.faults.map(\.file) == [path])
        #expect(found.faults.map(\.offset) == [16])
        #expect(found.root != nil)
        try opened.store.close()
        let report = try world.repair(disk)
        #expect(report.isMended)
        #expect(report.findings.map(\.fault.file) == [path])
        let mended = try world.space(of: try world.open(disk))
        #expect(try mended.inbox().count == 1)
        #expect(try mended.verify { _ in }.isOK)
    }
}
