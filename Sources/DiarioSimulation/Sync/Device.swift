import Diario
import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioProjection
import DiarioServer
import DiarioStorage
import DiarioSync

/// A replica of a sync world, on a machine of its own.
final class Device {
    let number: Int
    let machine: Machine
    /// The actor that its token names; nil if it may name any.
    let actor: String?
    /// True if its program has another schema for notes than the space.
    let hasOtherSchema: Bool
    var link = Link()
    /// Nil while it does not sync.
    var session: ReplicaSession?
    /// The request in transit, if any.
    var request: Request?
    /// Counts the times at which it is woken: only the last one holds.
    var wakeNumber = 0
    /// True while its token gives no rights.
    var isRevoked = false
    /// True if a refusal because of that may still be on its way.
    var mayBeForbidden = false
    /// True if one of its requests was damaged since it last got a proper answer.
    var mayBeMisread = false
    /// The space; another one after it was rebuilt.
    var space: SpaceID
    /// The state of its log when last read.
    var seen = Seen()
    /// Ids of things that it made.
    var things: [[UInt8]] = []
    /// Replicas under which it recorded, or the device whose disk it was copied from.
    var replicas: Set<ReplicaID> = []
    /// Events that it recorded, or that were on the disk it was copied from.
    var recorded: Set<Int64> = []
    /// Events that have to be in its inbox.
    var kept: [Origin: Int64] = [:]
    /// Events of others that it had, that the server lost, and that it has to keep until they are
    /// in the log again, or refused.
    var others: Set<Int64> = []
    /// The read models, in memory, and the version of the pack that they are of.
    var models: ModelFile?
    var modelVersion = 0
    /// An earlier state of the disk, to be restored.
    var backup: Backup?
    /// True from when its disk was put back until its log was read.
    var isPutBack = false
    /// The largest answer that it was given.
    var answerSizeMax = 0

    struct Request {
        let number: Int
        /// The request as it was sent.
        let bytes: [UInt8]
    }

    struct Seen {
        var space: SpaceID?
        var epoch: UInt64 = 0
        var head: UInt64 = 0
        /// Canonical events that were compared with the ledger since the log was opened.
        var compared: UInt64 = 0
    }

    /// A copy of the disk, with the events that must be on it.
    struct Backup {
        let disk: CrashDisk
        /// True if nothing shows that the disk was restored.
        let isSnapshot: Bool
        let holds: [Int64: Book.Hold]
        let kept: [Origin: Int64]
        let others: Set<Int64>
        let replicas: Set<ReplicaID>
        let recorded: Set<Int64>
        let seen: Seen
    }

    init(
        _ number: Int,
        _ machine: Machine,
        _ space: SpaceID,
        actor: String?,
        hasOtherSchema: Bool
    ) {
        self.number = number
        self.machine = machine
        self.space = space
        self.actor = actor
        self.hasOtherSchema = hasOtherSchema
    }

    var name: String { machine.name }

    /// The caller of a request: an administrator sends events of others.
    func caller(of request: [UInt8]) -> Caller {
        if isRevoked { return Caller(rights: [], actor: actor) }
        if case .relay? = try? SyncMessage(request.span) {
            return Caller(rights: .all, actor: actor)
        }
        return Caller(rights: [.read, .append], actor: actor)
    }
}

/// The server of a sync world.
final class Server {
    let machine: Machine
    var authority: SpaceAuthority?
    /// The versions of the pack that were adopted so far.
    var packVersion = 0
    /// Positions whose events some replica may know: they are there for ever.
    var shownHead: UInt64 = 0
    /// True from when its disk was put back until its log was read.
    var isPutBack = false
    /// True from when that was until its epoch was read after it went on.
    var hasNewEpoch = false
    /// True from the restore of its disk until its operator resumes it.
    var isWaiting = false
    /// An earlier state of the disk, and the head that was shown by then.
    var backup: (disk: CrashDisk, shownHead: UInt64)?
    /// Sealed files that are to be copied to a new device.
    var listing: SegmentListing?

    init(_ machine: Machine) { self.machine = machine }
}
