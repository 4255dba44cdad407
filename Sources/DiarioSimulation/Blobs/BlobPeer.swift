import DiarioCore
import DiarioCrypto
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioServer
import DiarioStorage
import DiarioSync

/// A device of a world of blobs.
final class BlobDevice {
    let number: Int
    let disk: CrashDisk
    /// Blobs to which its events refer, pending ones among them.
    var referred: Set<Hash32> = []
    /// Of these the ones that the server has no event of yet.
    var pending: Set<Hash32> = []
    var notes: BlobNotes?
    /// Nil while it exchanges nothing.
    var session: BlobSession?

    init(_ number: Int) {
        self.number = number
        disk = CrashDisk(machineID: "device\(number)")
    }

    var blobs: BlobStore { BlobStore(in: disk, entropy: SeededEntropy(seed: UInt64(number))) }
}

/// The server of a world of blobs.
final class BlobServer {
    let disk = CrashDisk(machineID: "server")
    var referred: Set<Hash32> = []
    var lossMark: String? {
        get throws { try arriving.lossMark() }
    }
    let ledger: SimulatedLedger
    /// The stored bytes of each blob, as its event says them.
    var sizes: [Hash32: Int64] = [:]
    /// What it has in memory, which a crash takes.
    private(set) var arriving: ArrivingBlobs

    init(quota: Int64) {
        ledger = SimulatedLedger(quota: quota)
        arriving = ArrivingBlobs(BlobStore(in: disk, entropy: SeededEntropy(seed: 0)))
    }

    var blobs: BlobStore { BlobStore(in: disk, entropy: SeededEntropy(seed: 0)) }

    func restart() { arriving = ArrivingBlobs(blobs) }

    /// Answers as a server does over HTTP.
    func answer(_ request: BlobRequest, in space: SpaceID) throws -> BlobReply {
        switch request {
        case .want(let ids):
            var known: [Hash32: Int64?] = [:]
            for id in referred { known.updateValue(sizes[id], forKey: id) }
            let wanted = try arriving.want(ids, referred: known, in: space, ledger)
            return .wanted(missing: wanted.missing, here: wanted.here)
        case .send(let id, let offset, let size, let bytes):
            do {
                let taken = try arriving.take(
                    bytes,
                    at: offset,
                    of: id,
                    size: size,
                    in: space,
                    ledger
                )
                return switch taken {
                case .more(let next), .elsewhere(let next): .taken(next)
                case .whole, .known: .taken(size)
                case .wrong: .wrong
                case .busy: .refused("busy")
                }
            } catch let refusal as Refusal {
                return .refused(refusal.message)
            }
        case .fetch(let id, let range):
            guard referred.contains(id), let stored = try arriving.whole(id) else {
                return .missing
            }
            var bytes: [UInt8] = []
            let end = min(range.upperBound, stored.size)
            try stored.read(min(range.lowerBound, end)..<end, into: &bytes)
            return .part(bytes, size: stored.size)
        }
    }
}

/// What a server writes down of blobs; it survives every crash, as a control file does.
final class SimulatedLedger: BlobLedger {
    private let quota: Int64
    /// With the time of its first part.
    private(set) var sizes: [Hash32: (sent: SentBlob, began: Int64)] = [:]
    var now: Int64 = 0

    init(quota: Int64) { self.quota = quota }

    var total: Int64 { sizes.values.reduce(0) { $0 + $1.sent.size } }
    var isWithinQuota: Bool { total <= quota }

    func note(_ id: Hash32, _ sent: SentBlob) throws {
        let known = sizes[id]
        guard sent.size <= quota - (total - (known?.sent.size ?? 0)) else {
            throw Refusal(.full, "beyond the quota")
        }
        // As in a control file, one that has come keeps its row beside that of one that comes.
        if !sent.isWhole, known?.sent.isWhole == true { return }
        sizes[id] = (sent, known?.began ?? now)
    }

    func sent(among ids: [Hash32]) throws -> [Hash32: SentBlob] {
        sizes.filter { ids.contains($0.key) }.mapValues(\.sent)
    }

    func giveUp(_ id: Hash32) throws {
        if sizes[id]?.sent.isWhole == false { sizes[id] = nil }
    }

    func forget(_ id: Hash32) throws -> Bool {
        sizes[id] = nil
        return false
    }
}
