import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

/// Devices and a server that exchange blobs, with every fault drawn from one seed.
///
/// All code is the real one but disks, the ledger and the network. Parts are lost, late, doubled,
/// damaged or swapped with those of other blobs; devices and the server lose power at any disk
/// operation; events are refused or erased, quotas are reached, and a device sends wrong bytes.
/// Nothing but right bytes may ever be found under an id. Once the network is quiet, every device
/// has all blobs that its events refer to, if any device or the server has them.
package final class BlobWorld {
    private let space = SpaceID(drawnFrom: SeededEntropy(seed: 0))
    private var random: SeededRandom
    private let server: BlobServer
    private let devices: [BlobDevice]
    private let partSize: Int
    private let hasQuota: Bool
    /// Milliseconds since it began.
    private var now: Int64 = 0
    private var contents: [Hash32: [UInt8]] = [:]
    /// Blobs whose events the server will refuse.
    private var unwanted: Set<Hash32> = []
    /// Those of which a bit flipped or bytes were cut off, on a device or, as nil, on the server.
    private var damaged: Set<Damage> = []
    /// Those that were ever damaged somewhere.
    private var lost: Set<Hash32> = []

    private struct Damage: Hashable {
        let device: Int?
        let id: Hash32
    }
    /// Requests that may come again, late.
    private var earlier: [BlobRequest] = []
    /// What happened, for a look at a broken world.
    package private(set) var counts = Counts()

    /// How often what happened.
    package struct Counts: Hashable, Sendable {
        package var sent = 0
        package var fetched = 0
        package var refused = 0
        package var damages = 0
        package var losses = 0
        package var cuts = 0
        package var swept = 0
        package var flips = 0
    }

    private let trace: Trace

    /// Lives through the world of a seed; with `keepsAll`, all of its trace is in the result.
    package static func run(seed: UInt64, keepsAll: Bool = false) -> WorldResult {
        let world = BlobWorld(seed: seed, lineCountMax: keepsAll ? .max : 40)
        return WorldResult(world.trace) { try world.run() }
    }

    package init(seed: UInt64, lineCountMax: Int = 0) {
        trace = Trace(lineCountMax: lineCountMax)
        random = SeededRandom(seed: seed ^ 0x626c_6f62)
        partSize = 1 << (3 + random.below(8))
        hasQuota = random.oneIn(3)
        server = BlobServer(quota: hasQuota ? Int64(2000 + random.below(4000)) : .max)
        devices = (1...2 + random.below(3)).map { BlobDevice($0) }
    }

    /// Lives through so many steps, and then waits until all is quiet.
    package func run(stepCount: Int = 300) throws {
        for number in 0..<stepCount {
            now += Int64(random.below(120_000))
            trace.now = now
            try step()
            // Whatever is wrong stays so, and reading all of it takes most of the time.
            if number.isMultiple(of: 4) { try checkStores() }
        }
        try settle()
        // What was whole everywhere is damaged here and there, and comes back without a wait.
        for _ in 0..<random.below(6) { try spoil() }
        try find()
        try exchangeAll()
    }

    private var time: Timestamp { Timestamp(milliseconds: 1_700_000_000_000 + now) }

    private func step() throws {
        let device = random.pick(devices)
        switch random.below(20) {
        case 0...3: try put(device)
        case 4...6: exchangeEvents(device)
        case 7...14: try exchange(device, count: 1 + random.below(12), isRough: !random.oneIn(4))
        case 15: try cut(random.oneIn(3) ? nil : device)
        case 16: try repeatEarlier()
        case 17: try sendWrongBytes()
        case 18: try sweep()
        default: if random.oneIn(2) { erase() } else { try spoil() }
        }
    }

    // MARK: Events

    private func put(_ device: BlobDevice) throws {
        let size = random.oneIn(8) ? 0 : random.below(random.oneIn(3) ? 3000 : 200)
        let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let put = try device.blobs.put(isPublic: true, sizeMax: 1 << 20)
        try put.write(bytes.span)
        let id = try put.finish().id
        contents[id] = bytes
        server.sizes[id] = Int64(size)
        trace.add("device \(device.number) puts \(name(id)), \(size) bytes")
        if random.oneIn(6) { unwanted.insert(id) }
        device.referred.insert(id)
        device.pending.insert(id)
    }

    /// What is pending gets its verdict, and the device learns of the events of others.
    private func exchangeEvents(_ device: BlobDevice) {
        trace.add("device \(device.number) exchanges events")
        for id in device.pending where !unwanted.contains(id) {
            server.referred.insert(id)
        }
        device.pending = []
        device.referred = server.referred
        device.session = nil
    }

    private func erase() {
        guard random.oneIn(4), !server.referred.isEmpty else { return }
        server.referred.remove(random.pick(server.referred.sorted { $0.text < $1.text }))
    }

    // MARK: Traffic

    private func begin(_ device: BlobDevice) throws {
        guard device.session == nil else { return }
        var session = try BlobSession(
            device.blobs,
            space,
            BlobSession.Scope(
                device.referred.sorted { $0.text < $1.text }.map { id in
                    (id, contents[id].map { Int64($0.count) })
                }
            ),
            knowing: device.notes,
            of: "server",
            epoch: 0,
            losses: try server.lossMark,
            at: time
        )
        session.partSize = partSize
        device.session = session
    }

    /// Some requests of a device; true if nothing is left.
    @discardableResult
    private func exchange(_ device: BlobDevice, count: Int, isRough: Bool) throws -> Bool {
        do {
            try begin(device)
            for _ in 0..<count {
                guard case .send(let request)? = try device.session?.next() else {
                    end(device)
                    return true
                }
                guard let reply = try carry(request, isRough: isRough) else {
                    // Whoever has no answer begins again with what was kept.
                    if random.oneIn(2) { device.session = nil }
                    return false
                }
                try device.session?.receive(reply)
            }
        } catch let error as LogError {
            guard case .storage(.cut) = error else { throw error }
            restart(device)
        }
        return false
    }

    private func end(_ device: BlobDevice) {
        guard let session = device.session else { return }
        counts.sent += session.report.sent
        counts.fetched += session.report.fetched
        counts.refused += session.report.refused
        // What was written down survives, or it does not.
        if !random.oneIn(4) { device.notes = session.currentNotes }
        device.session = nil
    }

    /// The answer as it arrives; nil if the request or the answer is lost.
    private func carry(_ request: BlobRequest, isRough: Bool) throws -> BlobReply? {
        if random.oneIn(3) { earlier.append(request) }
        if earlier.count > 20 { earlier.removeFirst() }
        guard !isRough || !random.oneIn(8) else {
            counts.losses += 1
            return nil
        }
        let isHit = isRough && random.oneIn(5)
        trace.add(text(request) + (isHit ? ", damaged" : ""))
        let reply: BlobReply
        do { reply = try server.answer(isHit ? damaged(request) : request, in: space) } catch {
            guard case LogError.storage(.cut) = error else { throw error }
            restartServer()
            return nil
        }
        guard !isRough || !random.oneIn(8) else {
            counts.losses += 1
            trace.add("the answer is lost")
            return nil
        }
        return isRough && random.oneIn(5) ? damaged(reply) : reply
    }

    private func damaged(_ request: BlobRequest) -> BlobRequest {
        guard case .send(let id, let offset, let size, let bytes) = request else { return request }
        counts.damages += 1
        return .send(id, offset: offset, size: size, bytes: damaged(bytes))
    }

    private func damaged(_ reply: BlobReply) -> BlobReply {
        guard case .part(let bytes, let size) = reply else { return reply }
        counts.damages += 1
        return .part(damaged(bytes), size: random.oneIn(6) ? Int64(random.below(5000)) : size)
    }

    /// Cut, with another bit, or those of another blob.
    private func damaged(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        switch random.below(3) {
        case 0: bytes.removeLast(1 + random.below(bytes.count))
        case 1: bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        default:
            let other = contents[random.pick(contents.keys.sorted { $0.text < $1.text })] ?? []
            bytes = Array(other.prefix(bytes.count)) + bytes.dropFirst(other.count)
        }
        return bytes
    }

    private func repeatEarlier() throws {
        guard !earlier.isEmpty else { return }
        let request = earlier.remove(at: random.below(earlier.count))
        do { _ = try server.answer(request, in: space) } catch {
            guard case LogError.storage(.cut) = error else { throw error }
            restartServer()
        }
    }

    /// As a faulty program sends them, under an id that others send too.
    private func sendWrongBytes() throws {
        guard
            let id = contents.keys.sorted(by: { $0.text < $1.text }).first(where: { _ in
                random.oneIn(3)
            })
        else { return }
        let size = Int64(contents[id]?.count ?? 0)
        let bytes = [UInt8](repeating: 0x55, count: Int(size))
        do {
            _ = try server.answer(.send(id, offset: 0, size: size, bytes: bytes), in: space)
        } catch {
            guard case LogError.storage(.cut) = error else { throw error }
            restartServer()
        }
    }

    // MARK: Crashes and time

    /// Cuts the power of a device, or of the server, now or a few operations later.
    private func cut(_ device: BlobDevice?) throws {
        counts.cuts += 1
        let disk = device?.disk ?? server.disk
        if random.oneIn(2) {
            let moment = random.pick(CrashDisk.CutMoment.allCases)
            disk.cutAfter(operations: 1 + random.below(12), moment)
            if let device {
                try exchange(device, count: 4, isRough: false)
                restart(device)
            } else {
                try exchange(random.pick(devices), count: 4, isRough: false)
                restartServer()
            }
        } else if let device {
            restart(device)
        } else {
            restartServer()
        }
    }

    private func restart(_ device: BlobDevice) {
        trace.add("device \(device.number) loses power")
        device.disk.crash(using: &random)
        device.session = nil
    }

    private func restartServer() {
        trace.add("the server loses power")
        server.disk.crash(using: &random)
        server.restart()
    }

    /// Removes what no event refers to after a week, which passes now.
    private func sweep() throws {
        guard random.oneIn(3) else { return }
        now += 8 * 86_400_000
        server.ledger.now = now
        let old = server.ledger.sizes.filter { $0.value.began < now - 7 * 86_400_000 }.keys
        for id in old.sorted(by: { $0.text < $1.text }) where !server.referred.contains(id) {
            try server.arriving.remove(id, in: space, server.ledger) { false }
            counts.swept += 1
            trace.add("the server removes \(name(id))")
        }
    }

    /// Flips a bit of a blob that lies on a disk, or cuts it.
    private func spoil() throws {
        let device = random.oneIn(2) ? random.pick(devices) : nil
        let (disk, blobs) = (device?.disk ?? server.disk, device?.blobs ?? server.blobs)
        let ids = try blobs.ids().filter { contents[$0]?.isEmpty == false }
        guard !ids.isEmpty else { return }
        let (id, path) = { ($0, LogPaths.blobs + "/" + $0.text) }(random.pick(ids))
        let size = contents[id]?.count ?? 0
        trace.add(
            "\(name(id)) is damaged on \(device.map { "device \($0.number)" } ?? "the server")"
        )
        counts.flips += 1
        damaged.insert(Damage(device: device?.number, id: id))
        if random.oneIn(2) {
            let file = try disk.open(path, .readWrite)
            try file.truncate(to: Int64(random.below(size)))
            try file.sync()
        } else if try disk.open(path, .read).size() == size {
            try disk.flipBit(random.below(8), at: random.below(size), of: path)
        }
    }

    private func name(_ id: Hash32) -> String { String(id.text.prefix(6)) }

    private func text(_ request: BlobRequest) -> String {
        switch request {
        case .want(let ids): "want \(ids.count)"
        case .send(let id, let offset, let size, let bytes):
            "send \(name(id)) \(offset)+\(bytes.count) of \(size)"
        case .fetch(let id, let range): "fetch \(name(id)) \(range)"
        }
    }

    // MARK: Promises

    /// Nothing but right bytes lies under an id.
    private func checkStores() throws {
        for (number, blobs) in devices.map({ ($0.number, $0.blobs) }) + [(nil, server.blobs)] {
            let name = number.map { "device \($0)" } ?? "the server"
            for id in try blobs.ids() where !damaged.contains(Damage(device: number, id: id)) {
                guard try blobs.fault(of: id) == nil else {
                    throw Broken(.content, "\(name) has other bytes under \(id.text)")
                }
            }
        }
        guard server.ledger.isWithinQuota else {
            throw Broken(.bounded, "the server counts \(server.ledger.total) bytes")
        }
    }

    private func settle() throws {
        // Notes are believed for a day.
        now += 2 * 86_400_000
        for device in devices { device.notes = nil }
        try find()
        try exchangeAll()
    }

    /// All damage is found, but that of the sizes of what devices exchange, which they find then.
    private func find() throws {
        for id in try server.blobs.ids() { _ = try server.blobs.findWhole(id) }
        for device in devices {
            for id in try device.blobs.ids() {
                let size = contents[id].map { Int64($0.count) }
                let isCut = try device.blobs.find(id)?.size != size
                guard !isCut || !server.referred.contains(id) else { continue }
                _ = try device.blobs.findWhole(id)
            }
        }
        lost.formUnion(damaged.map(\.id))
        damaged = []
    }

    private func exchangeAll() throws {
        for _ in 0..<3 {
            for device in devices {
                exchangeEvents(device)
                var requestCount = 0
                while try !exchange(device, count: 50, isRough: false) {
                    requestCount += 50
                    guard requestCount < 100_000 else {
                        throw Broken(.settled, "device \(device.number) asks on and on")
                    }
                }
            }
        }
        try checkStores()
        for device in devices {
            for id in device.referred { try check(device, has: id) }
        }
    }

    private func check(_ device: BlobDevice, has id: Hash32) throws {
        if try device.blobs.contains(id) {
            if try server.blobs.contains(id) || hasQuota { return }
            throw Broken(.settled, "the server lacks \(id.text) of device \(device.number)")
        }
        guard
            try server.blobs.contains(id)
                || devices.contains(where: { other in
                    try other.blobs.contains(id)
                })
        else {
            // The last copy may have been hit.
            guard !lost.contains(id) else { return }
            throw Broken(.kept, "nobody has \(id.text) any more")
        }
        if try hasQuota && !server.blobs.contains(id) { return }
        throw Broken(.settled, "device \(device.number) lacks \(id.text)")
    }
}
