package import DiarioCore
package import DiarioCrypto
package import DiarioLog
import Synchronization

/// What is written down of the blobs that come to one space: schema/format/control.md, section 10.
package protocol BlobLedger {
    /// Notes that a blob comes, or that all of its bytes have come; throws a refusal if a quota has
    /// no room for it.
    func note(_ id: Hash32, _ sent: SentBlob) throws
    /// Those of these blobs that were sent, whole or not.
    func sent(among ids: [Hash32]) throws -> [Hash32: SentBlob]
    /// Forgets that a blob comes, unless it has come.
    func giveUp(_ id: Hash32) throws
    /// Forgets a blob; true if another space was sent it too.
    func forget(_ id: Hash32) throws -> Bool
}

/// A blob that was sent to a space.
package struct SentBlob: Hashable, Sendable {
    /// All stored bytes.
    package let size: Int64
    /// True once whoever sent it has shown that they have all bytes of it.
    package let isWhole: Bool

    package init(size: Int64, isWhole: Bool) {
        self.size = size
        self.isWhole = isWhole
    }
}

/// The blobs that come to the spaces of a server, part by part: schema/format/http.md, section 10.
///
/// Safe to use from any thread. Parts of one blob for one space are taken one after the other, and
/// whoever comes meanwhile is told so.
package final class ArrivingBlobs: Sendable {
    private let blobs: BlobStore
    private let slots = Mutex<[BlobPart: Slot]>([:])
    /// Blobs whose bytes were read and are right, as their files were then.
    private let checked = Mutex<[Hash32: StoredBlob.Version]>([:])

    /// The place of one blob that comes.
    private final class Slot: Sendable {
        /// Nil until it is begun, or continued after a pause.
        let arrival = Mutex<BlobArrival?>(nil)
    }

    package init(_ blobs: BlobStore) { self.blobs = blobs }

    /// What came of a part.
    package enum Taken: Hashable, Sendable {
        /// The next part begins here.
        case more(from: Int64)
        case whole
        /// All bytes were there already.
        case known
        /// This is where the part should have begun.
        case elsewhere(Int64)
        /// The bytes are not those of the id, and are thrown away.
        case wrong
        /// Another request writes the same blob.
        case busy
    }

    /// What a space has of some blobs.
    package struct Wanted: Hashable, Sendable {
        /// With the bytes that it has.
        package var missing: [Hash32: Int64] = [:]
        /// With their sizes.
        package var here: [Hash32: Int64] = [:]
    }

    /// What is missing of these blobs, of which events refer to those in `referred`, with the sizes
    /// that they say.
    package func want(
        _ ids: [Hash32],
        referred: [Hash32: Int64?],
        in space: SpaceID,
        _ ledger: some BlobLedger
    ) throws -> Wanted {
        let sent = try ledger.sent(among: ids)
        var wanted = Wanted()
        for id in ids {
            let size = sent[id].flatMap { $0.isWhole ? $0.size : nil }
            if size != nil || referred[id] != nil,
                let stored = try find(id, sized: size ?? referred[id] ?? nil)
            {
                wanted.here[id] = stored.size
            } else {
                wanted.missing[id] = try blobs.arrivedSize(of: id, in: space)
            }
        }
        return wanted
    }

    // MARK: Damage

    /// The stored bytes of a blob that should have this many; nil if they are not here, or damaged.
    private func find(_ id: Hash32, sized size: Int64?) throws -> StoredBlob? {
        guard let stored = try blobs.find(id) else { return nil }
        // An event may say another size, and each time the hash would decide.
        return size == nil || size == stored.size ? stored : try whole(id)
    }

    /// The stored bytes of a blob; nil if they are not here, or damaged.
    ///
    /// All bytes are read, unless they were before and nobody has written the file since.
    package func whole(_ id: Hash32) throws -> StoredBlob? {
        guard let stored = try blobs.find(id) else { return nil }
        let version = try stored.version
        if let version, version == checked.withLock({ $0[id] }) { return stored }
        guard let whole = try blobs.findWhole(id) else { return nil }
        checked.withLock { checked in
            if checked.count >= Limits.blobCheckCountMax { checked.removeAll() }
            checked[id] = version
        }
        return whole
    }

    /// The number of its bytes; nil if they are not here, or damaged.
    package func wholeSize(_ id: Hash32) throws -> Int64? { try whole(id)?.size }

    /// True if the blob is not here because its bytes were damaged.
    package func isDamaged(_ id: Hash32) throws -> Bool { try blobs.isDamaged(id) }

    /// A text that is another one once bytes were lost; nil if none ever were.
    package func lossMark() throws -> String? { try blobs.lossMark() }

    // MARK: Arrival

    /// Takes the next part of a blob of `size` stored bytes.
    ///
    /// What it says is whole survives a power cut. A part that changes nothing leaves nothing.
    package func take(
        _ bytes: [UInt8],
        at offset: Int64,
        of id: Hash32,
        size: Int64,
        in space: SpaceID,
        _ ledger: some BlobLedger
    ) throws -> Taken {
        var noted = try ledger.sent(among: [id])[id]
        if noted?.isWhole == true, try whole(id) != nil { return .known }
        if try blobs.arrivedSize(of: id, in: space) == 0 {
            guard offset == 0 else { return .elsewhere(0) }
            guard !bytes.isEmpty || size == 0 else { return .more(from: 0) }
            // All at once: wrong ones are seen before anything is written.
            if bytes.count == size {
                guard SHA256.hash(bytes.span) == id else { return .wrong }
                noted = SentBlob(size: size, isWhole: true)
                try ledger.note(id, SentBlob(size: size, isWhole: true))
            }
        }
        if noted?.size != size {
            // Another size than was counted would be outside of every quota.
            noted = SentBlob(size: size, isWhole: false)
            try ledger.note(id, SentBlob(size: size, isWhole: false))
        }
        let part = BlobPart(id: id, space: space)
        let slot = slot(part)
        let taken = try slot.arrival.withLockIfAvailable { kept in
            try write(bytes, at: offset, of: part, size: size, &kept)
        }
        switch taken {
        case .whole:
            slots.withLock { $0[part] = nil }
            if noted?.isWhole != true { try ledger.note(id, SentBlob(size: size, isWhole: true)) }
        case .wrong:
            slots.withLock { $0[part] = nil }
            try ledger.giveUp(id)
        default: break
        }
        return taken ?? .busy
    }

    private func write(
        _ bytes: [UInt8],
        at offset: Int64,
        of part: BlobPart,
        size: Int64,
        _ kept: inout BlobArrival?
    ) throws -> Taken {
        var begun = kept
        // After an error it is begun again with what is there.
        kept = nil
        if begun?.size != size { begun = nil }
        let arrival = try begun ?? blobs.arrival(of: part.id, size: size, in: part.space)
        guard offset == arrival.offset, Int64(bytes.count) <= size - offset else {
            kept = arrival
            return .elsewhere(arrival.offset)
        }
        switch try arrival.write(bytes.span) {
        case .more:
            kept = arrival
            return .more(from: arrival.offset)
        case .whole: return .whole
        case .wrong: return .wrong
        }
    }

    private func slot(_ part: BlobPart) -> Slot {
        slots.withLock { slots in
            if let known = slots[part] { return known }
            if slots.count >= Limits.blobArrivalCountMax {
                // What is in use stays; what came of the others is read again when they go on.
                for key in Array(slots.keys) where isKnownUniquelyReferenced(&slots[key]) {
                    slots[key] = nil
                }
            }
            let made = Slot()
            slots[part] = made
            return made
        }
    }

    /// Removes what came of a blob for a space, and its bytes if nobody else has a use for them.
    package func remove(
        _ id: Hash32,
        in space: SpaceID,
        _ ledger: some BlobLedger,
        isReferredElsewhere: () throws -> Bool
    ) throws {
        let isElsewhere = try ledger.forget(id)
        let part = BlobPart(id: id, space: space)
        // Nobody goes on with a file that is not there any more.
        try slot(part).arrival.withLock { kept in
            kept = nil
            try blobs.drop(part)
        }
        slots.withLock { $0[part] = nil }
        if !isElsewhere, try !isReferredElsewhere() { _ = try blobs.drop(id) }
    }
}
