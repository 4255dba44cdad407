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
    /// Whether its program has another schema for notes than the space.
    let hasOtherSchema: Bool
    var link = Link()
    /// Nil while nobody syncs.
    var session: ReplicaSession?
    /// The request that is on its way, and whether it was damaged there.
    var request: Request?
    /// Counts the times at which it is woken: only the last one holds.
    var wakeNumber = 0
    /// True while its token gives no rights.
    var isRevoked = false
    /// True if a refusal because of that may still be on its way.
    var mayBeForbidden = false
    /// True if one of its requests was damaged since it last got a proper answer.
    var mayBeMisread = false
    /// Canonical events that were compared with the ledger since the log was opened.
    var seenHead: UInt64 = 0
    /// Ids of things that it made.
    var things: [[UInt8]] = []
    /// Replicas under which it recorded.
    var replicas: Set<ReplicaID> = []
    /// The read models, in memory, and the version of the pack that they are of.
    var models: ModelFile?
    var modelVersion = 0
    /// What its disk was like once, to be put back to.
    var backup: CrashDisk?
    /// The largest answer that it was given.
    var answerSizeMax = 0

    struct Request {
        let number: Int
        /// What the replica asked for, as it left.
        let bytes: [UInt8]
    }

    init(_ number: Int, _ machine: Machine, actor: String?, hasOtherSchema: Bool) {
        self.number = number
        self.machine = machine
        self.actor = actor
        self.hasOtherSchema = hasOtherSchema
    }

    var name: String { machine.name }

    var caller: Caller {
        Caller(rights: isRevoked ? [] : [.read, .append], actor: actor)
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

    init(_ machine: Machine) { self.machine = machine }
}
