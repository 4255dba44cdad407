package import DiarioCore
import DiarioFormat

// The files of a space that are no log, specified in schema/format/log.md, section 7.

/// What a space is: who gives its positions, which space it took the place of, and which files
/// hold its sealed events.
///
/// A space without segments is written as version 1 and one without private segments as version 2,
/// which older programs read.
package struct Manifest: Equatable, Sendable {
    /// Bytes of version 1, and of what version 2 has before its lists; in version 3 8 more follow.
    package static let size = 64
    /// Bytes of the largest manifest that is read: some 100,000 segments.
    static let sizeMax = 8 * 1024 * 1024
    private static let magic: UInt32 = 0x4e41_4d44  // "DMAN"
    private static let trailerSize = 8

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

    /// The version of the format that this manifest needs.
    package var version: Int {
        lanes.isEmpty ? (segments.isEmpty && retired.isEmpty ? 1 : 2) : 3
    }

    /// Begins another epoch, at a time.
    ///
    /// Two that follow the same one, as when one backup is restored twice, are told apart by their
    /// times.
    mutating func beginEpoch(at now: Timestamp) {
        let (next, overflows) = epoch.addingReportingOverflow(1)
        epoch = overflows ? epoch : max(next, UInt64(clamping: now.milliseconds))
    }

    private var flags: UInt8 {
        (authority == nil ? 0 : 1) | (isStaging ? 2 : 0) | (isServed ? 8 : 0)
            | (isWaiting ? 16 : 0)
    }

    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.magic)
        bytes.append(UInt8(version))
        bytes.append(flags)
        bytes.append(littleEndian: UInt16(0))
        bytes.append(littleEndian: space.rawValue)
        bytes.append(littleEndian: lineage.high)
        bytes.append(littleEndian: lineage.low)
        bytes.append(littleEndian: epoch)
        bytes.append(littleEndian: authority?.rawValue ?? 0)
        bytes.append(littleEndian: replaces?.rawValue ?? 0)
        if version > 1 {
            bytes.append(littleEndian: UInt32(segments.count))
            bytes.append(littleEndian: UInt32(retired.count))
            if version > 2 {
                bytes.append(littleEndian: UInt32(lanes.count))
                bytes.append(littleEndian: UInt32(0))
            }
            for entry in segments + lanes { entry.append(to: &bytes) }
            for entry in retired { entry.append(to: &bytes) }
        }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }

    /// Nil unless `bytes` are a manifest that verifies.
    package init?(_ bytes: Span<UInt8>) {
        let end = bytes.count - Self.trailerSize
        guard end >= Self.size - Self.trailerSize,
            bytes.littleEndian(UInt32.self, at: 0) == Self.magic, 1...3 ~= bytes[4],
            bytes[5] & ~27 == 0, bytes.littleEndian(UInt16.self, at: 6) == 0,
            bytes.littleEndian(UInt32.self, at: end) == 0,
            bytes.littleEndian(UInt32.self, at: end + 4)
                == Checksum.crc32c(bytes.extracting(0..<end + 4).raw),
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
        isServed = bytes[5] & 8 != 0
        isWaiting = bytes[5] & 16 != 0
        if bytes[4] == 1 {
            guard bytes.count == Self.size else { return nil }
        } else {
            guard readLists(bytes, end: end), version == bytes[4] else { return nil }
        }
    }

    /// Reads the lists of version 2 or 3; false if they are not as they must be.
    private mutating func readLists(_ bytes: Span<UInt8>, end: Int) -> Bool {
        let hasLanes = bytes[4] == 3
        let start = Self.size + (hasLanes ? 8 : 0)
        guard end >= start else { return false }
        let segmentCount = Int(bytes.littleEndian(UInt32.self, at: Self.size - 8))
        let retiredCount = Int(bytes.littleEndian(UInt32.self, at: Self.size - 4))
        let laneCount = hasLanes ? Int(bytes.littleEndian(UInt32.self, at: Self.size)) : 0
        guard !hasLanes || bytes.littleEndian(UInt32.self, at: Self.size + 4) == 0 else {
            return false
        }
        let middle = start + (segmentCount + laneCount) * SegmentEntry.size
        guard middle + retiredCount * RetiredSegment.size == end else { return false }
        for index in 0..<segmentCount + laneCount {
            let place = start + index * SegmentEntry.size
            guard let entry = SegmentEntry(bytes, at: place),
                (entry.replica == nil) == (index < segmentCount), follows(entry)
            else { return false }
            if entry.replica == nil { segments.append(entry) } else { lanes.append(entry) }
        }
        for index in 0..<retiredCount {
            let place = middle + index * RetiredSegment.size
            guard let entry = RetiredSegment(bytes, at: place) else { return false }
            retired.append(entry)
        }
        return true
    }

    /// Whether a segment may stand behind those that were read so far.
    private func follows(_ entry: SegmentEntry) -> Bool {
        guard let replica = entry.replica else {
            guard let last = segments.last else { return true }
            return last.last + 1 == entry.first
        }
        guard let last = lanes.last, let before = last.replica else { return true }
        return before < replica || (before == replica && last.last < entry.first)
    }

    package init(
        space: SpaceID,
        lineage: Lineage,
        epoch: UInt64,
        authority: ReplicaID?,
        isStaging: Bool,
        replaces: SpaceID?
    ) {
        self.space = space
        self.lineage = lineage
        self.epoch = epoch
        self.authority = authority
        self.isStaging = isStaging
        self.replaces = replaces
    }
}
