package import DiarioCore
import DiarioFormat
import DiarioFrames

// The files of a space that are no log, specified in schema/format/directory.md.

/// The manifest of a space: its authority, the space that it replaces, and the files of its sealed
/// events.
package struct Manifest: Equatable, Sendable {
    /// Bytes of the largest manifest that is read: some 100,000 segments.
    static let sizeMax = 8 * 1024 * 1024
    /// The offset of the lists.
    private static let listsOffset = 72
    private static let flagsAll: UInt8 = 15

    package var space: SpaceID
    package var lineage: Lineage
    package var epoch: UInt64
    /// The id under which the authority writes; nil if the authority is elsewhere.
    package var authority: ReplicaID?
    /// True while an import is filling the space: it is not shown.
    package var isStaging: Bool
    /// The space that is dead since this one is there.
    package var replaces: SpaceID?
    /// True once other replicas pushed to it: a copy of it cannot go on by itself.
    package var isServed = false
    /// True while an authority that was restored from a backup waits for its operator.
    package var isWaiting = false
    /// In order of position, without gaps and without overlap.
    package var segments: [SegmentEntry] = []
    /// Private segments, in order of replica and then of sequence.
    package var lanes: [SegmentEntry] = []
    /// Files that no list of segments names any more, and that readers may still want.
    package var retired: [RetiredSegment] = []
    /// Begins another epoch, at a time.
    ///
    /// Two that follow the same one, as when one backup is restored twice, are told apart by their
    /// times.
    mutating func beginEpoch(at now: Timestamp) {
        let (next, overflows) = epoch.addingReportingOverflow(1)
        epoch = overflows ? epoch : max(next, UInt64(clamping: now.milliseconds))
    }

    private var flags: UInt8 {
        (authority == nil ? 0 : 1) | (isStaging ? 2 : 0) | (isServed ? 4 : 0) | (isWaiting ? 8 : 0)
    }

    package func encoded() -> [UInt8] {
        var bytes = SmallFile.begin(.manifest, flags: flags)
        bytes.append(littleEndian: space.rawValue)
        bytes.append(littleEndian: lineage.high)
        bytes.append(littleEndian: lineage.low)
        bytes.append(littleEndian: epoch)
        bytes.append(littleEndian: authority?.rawValue ?? 0)
        bytes.append(littleEndian: replaces?.rawValue ?? 0)
        for count in [segments.count, lanes.count, retired.count, 0] {
            bytes.append(littleEndian: UInt32(count))
        }
        for entry in segments + lanes { entry.append(to: &bytes) }
        for entry in retired { entry.append(to: &bytes) }
        SmallFile.end(&bytes)
        return bytes
    }

    /// Nil unless `bytes` are a manifest that verifies.
    package init?(_ bytes: Span<UInt8>) {
        guard let end = try? SmallFile.check(bytes, .manifest, flags: Self.flagsAll),
            end >= Self.listsOffset,
            let space = SpaceID(rawValue: bytes.littleEndian(UInt64.self, at: 8))
        else { return nil }
        let authority = ReplicaID(rawValue: bytes.littleEndian(UInt64.self, at: 40))
        guard (authority != nil) == (bytes[5] & 1 == 1) else { return nil }
        self.init(
            space: space,
            lineage: Lineage(
                high: bytes.littleEndian(UInt64.self, at: 16),
                low: bytes.littleEndian(UInt64.self, at: 24)
            ),
            epoch: bytes.littleEndian(UInt64.self, at: 32),
            authority: authority,
            isStaging: bytes[5] & 2 != 0,
            replaces: SpaceID(rawValue: bytes.littleEndian(UInt64.self, at: 48))
        )
        isServed = bytes[5] & 4 != 0
        isWaiting = bytes[5] & 8 != 0
        guard readLists(bytes, end: end) else { return nil }
    }

    /// Reads the lists; false if they are not as they must be.
    private mutating func readLists(_ bytes: Span<UInt8>, end: Int) -> Bool {
        // 64 bits, where an `Int` may have fewer than the products of what the bytes say.
        func count(_ index: Int) -> UInt64 {
            UInt64(bytes.littleEndian(UInt32.self, at: 56 + 4 * index))
        }
        let entryCount = count(0) + count(1)
        let size = entryCount * UInt64(SegmentEntry.size) + count(2) * UInt64(RetiredSegment.size)
        guard size == UInt64(end - Self.listsOffset), count(3) == 0 else { return false }
        var place = Self.listsOffset
        for index in 0..<entryCount {
            guard let entry = SegmentEntry(bytes, at: place),
                (entry.replica == nil) == (index < count(0)), follows(entry)
            else { return false }
            if entry.replica == nil { segments.append(entry) } else { lanes.append(entry) }
            place += SegmentEntry.size
        }
        while place < end {
            guard let entry = RetiredSegment(bytes, at: place) else { return false }
            retired.append(entry)
            place += RetiredSegment.size
        }
        return true
    }

    /// True if a segment may come after those that were read so far.
    private func follows(_ entry: SegmentEntry) -> Bool {
        guard let replica = entry.replica else {
            return segments.last.map { $0.last + 1 == entry.first } ?? true
        }
        guard let last = lanes.last, let before = last.replica else { return true }
        return before < replica || (before == replica && last.last < entry.first)
    }

    package init(
        space: SpaceID,
        lineage: Lineage,
        epoch: UInt64 = 0,
        authority: ReplicaID? = nil,
        isStaging: Bool = false,
        replaces: SpaceID? = nil
    ) {
        self.space = space
        self.lineage = lineage
        self.epoch = epoch
        self.authority = authority
        self.isStaging = isStaging
        self.replaces = replaces
    }
}
