import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioServer
import DiarioSimulation
import DiarioStorage
import Testing

/// The whole engine in a loop: files in memory, a network that is two lists, and no thread.
@Suite struct LoopTests {
    @Test(arguments: UInt64(0)..<2) func aLoopDrivesEverything(seed: UInt64) throws {
        var loop = try Loop(seed: seed)
        for _ in 0..<600 { try loop.step(isRecording: true) }
        var restCount = 0
        while try !loop.isAtRest {
            try loop.step(isRecording: false)
            restCount += 1
            try #require(restCount < 20_000, "it does not come to rest")
        }
        let (server, devices) = (loop.server, loop.devices)
        #expect(devices.count == 2)
        let id = try #require(server.space?.id)
        let root = try server.store[id].root()
        let lines = try server.lines()
        let answer = try server.answer()
        #expect(lines.count == loop.recordedCount + 1)
        #expect(answer.count == Loop.plantCount)
        for device in devices {
            let own = try #require(device.space?.id)
            #expect(device.store[own].standing().pending.isEmpty)
            #expect(try device.store[own].root() == root)
            #expect(try device.lines() == lines)
            #expect(try device.answer() == answer)
        }
        for party in [server] + devices {
            let space = try #require(party.space)
            let found = try space.verify { _ in }
            #expect(found.faults == [])
            #expect(found.root == root)
            #expect(party.mergedCount > 0)
            #expect(party.verifiedCount > 0)
            #expect(party.store.validate() == [])
        }
        #expect(loop.lostCount > 0)
    }

    /// What was begun is gone on with, and is no space before it is whole.
    @Test func aFirstCopyMayBeGivenUpAfterEachStep() throws {
        let clock = ManualClock(milliseconds: 1_700_000_000_000)
        let server = try Party("server", clock, seed: 1)
        let space = try Space.make(in: server.store, packs: [try #require(Party.pack)])
        server.space = space
        for number in 1...20 { try server.record(number % 7, number) }
        _ = try server.store.seal(space.id, all: true)
        for number in 1...5 { try server.record(number, number) }
        let authority = SpaceAuthority(server.store, space.id)
        let device = try Party("device", clock, seed: 2)
        var (count, stepCount) = (0, 0)
        while device.space == nil {
            count += 1
            let listing = try SegmentListing(of: space.id, in: server.store)
            var copy = try FirstCopy(into: device.store, listing, seed: 3)
            for _ in 0..<count where device.space == nil {
                stepCount += 1
                if let id = try authority.serve(&copy, of: server, at: clock.now) {
                    try device.store[id].show()
                    device.space = try Space(store: device.store, id: id)
                }
            }
            #expect(device.store.validate() == [], "step \(count)")
            let spaces = try device.store.manifests()
            #expect(spaces.count == 1 && spaces[0].isStaging == (device.space == nil))
        }
        #expect(count > 5 && stepCount > 20)
        #expect(try device.lines() == server.lines())
        #expect(try #require(device.space).verify { _ in }.faults == [])
    }
}

/// A server and two devices, which begin with a copy of what it has by then.
private struct Loop {
    static let plantCount = 5

    let server: Party
    private(set) var devices: [Party] = []
    private(set) var recordedCount = 0
    private(set) var lostCount = 0
    private let authority: SpaceAuthority
    private let clock = ManualClock(milliseconds: 1_700_000_000_000)
    private var random: SeededRandom
    /// Requests on their way to the server, and answers on their way back.
    private var toServer: [Message] = []
    private var toDevice: [Message] = []
    /// Of each device whether a request of it is on its way.
    private var isWaiting = [false, false]

    private struct Message {
        let device: Int
        let bytes: [UInt8]
    }

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        server = try Party("server", clock, seed: random.next())
        let pack = try #require(Party.pack)
        let space = try Space.make(in: server.store, packs: [pack])
        server.space = space
        authority = SpaceAuthority(server.store, space.id)
    }

    /// True once everybody has everything.
    var isAtRest: Bool {
        get throws {
            guard toServer.isEmpty, toDevice.isEmpty, let id = server.space?.id else {
                return false
            }
            let head = server.store[id].standing().head
            return devices.allSatisfy { device in
                guard let own = device.space?.id else { return false }
                let standing = device.store[own].standing()
                return standing.head == head && standing.pending.isEmpty
            }
        }
    }

    /// Lets something small happen.
    mutating func step(isRecording: Bool) throws {
        clock.advance(milliseconds: Int64(random.below(60)))
        if devices.count < 2, random.oneIn(100) { try join() }
        if isRecording, random.oneIn(3) { try record() }
        if let party = parties.randomElement(using: &random) {
            for _ in 0..<4 { try party.work() }
            if random.oneIn(20) { _ = try party.answer() }
            if random.oneIn(50) { _ = try party.lines() }
        }
        try send()
        try carry()
    }

    private var parties: [Party] { [server] + devices }

    private mutating func record() throws {
        guard let party = parties.randomElement(using: &random) else { return }
        try party.record(random.below(Self.plantCount), 1 + random.below(1000))
        recordedCount += 1
    }

    // MARK: The network

    private mutating func send() throws {
        for (number, device) in devices.enumerated() where !isWaiting[number] {
            if random.oneIn(4) { device.heardOfNews() }
            guard let bytes = try device.request(at: clock.now) else { continue }
            isWaiting[number] = true
            toServer.append(Message(device: number, bytes: bytes))
        }
    }

    /// Brings one message to where it goes, or loses it.
    private mutating func carry() throws {
        let isLost = random.oneIn(10)
        if !toServer.isEmpty, random.oneIn(2) {
            let message = toServer.remove(at: random.below(toServer.count))
            if isLost { return try lose(message) }
            let answer = authority.answer(message.bytes, from: Caller(rights: [.read, .append]))
            toDevice.append(Message(device: message.device, bytes: answer))
        } else if !toDevice.isEmpty {
            let message = toDevice.remove(at: random.below(toDevice.count))
            if isLost { return try lose(message) }
            isWaiting[message.device] = false
            try devices[message.device].receive(message.bytes, at: clock.now)
        }
    }

    private mutating func lose(_ message: Message) throws {
        lostCount += 1
        isWaiting[message.device] = false
        try devices[message.device].receive(nil, at: clock.now)
    }

    /// A new device copies what is sealed, while the server goes on.
    private mutating func join() throws {
        guard let id = server.space?.id else { return }
        let device = try Party("device \(devices.count)", clock, seed: random.next())
        let listing = try SegmentListing(of: id, in: server.store)
        var copy = try FirstCopy(into: device.store, listing, seed: random.next())
        while device.space == nil {
            if random.oneIn(3) {
                try record()
                try server.work()
            }
            let space = try authority.serve(&copy, of: server, at: clock.now)
            if let space {
                try device.store[space].show()
                device.space = try Space(store: device.store, id: space)
            }
        }
        devices.append(device)
    }
}

extension SpaceAuthority {
    /// Lets a copy make one step, and brings it what it asks for; gives the space at the end.
    fileprivate func serve(
        _ copy: inout FirstCopy,
        of server: Party,
        at now: Timestamp
    ) throws -> SpaceID? {
        guard let id = server.space?.id else { return nil }
        switch try copy.step(1, at: now) {
        case .step: break
        case .list: try copy.receive(try SegmentListing(of: id, in: server.store))
        case .fetch(let file, let range):
            var bytes: [UInt8] = []
            do throws(StorageError) {
                try server.store.directory.open(LogPaths.segments(id) + "/" + file.name, .read)
                    .read(at: Int64(range.lowerBound), count: range.count, into: &bytes)
            } catch .notFound {
                copy.skip()
                return nil
            }
            try copy.receive(part: bytes)
        case .send(let request):
            try copy.receive(answer(request, from: Caller(rights: [.read])), at: now)
        case .stop(let refusal): throw refusal
        case .end(let space): return space
        }
        return nil
    }
}
