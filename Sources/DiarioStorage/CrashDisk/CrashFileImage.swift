// What a power cut does to a file, as this simulation has it.
//
// Bytes that were synced survive. Of the rest, each sector of 512 bytes is on the disk as it was
// after some of the writes to it, from none to all, chosen apart from other sectors: so writes are
// lost, torn, and seem to come in another order. A sector never holds a write without those before
// it, since it was written out from one page of memory. The length is one of those that the file
// had since the last sync; where it reaches beyond what was written out, there are zeros. Cutting
// a file short is an entry in the file system's journal: if one is lost, so is all after it.
//
// After a sync that failed, the kernel takes the pages for clean: readers see them, a later sync
// succeeds without writing them, and after a power cut they may be there or not. The next sync
// through each other handle that was open then fails too, and so everyone who wrote learns of it.

import DiarioCore

/// The bytes of a file of a `CrashDisk`: as readers see them now, and as a power cut leaves them.
struct CrashFileImage {
    static let sectorSize = 512

    /// The operations since the last sync, in order.
    fileprivate enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
        /// A sector that a failed sync did not write, and no later sync will.
        case abandoned(sector: Int, bytes: [UInt8])
    }

    let identity: FileIdentity
    private(set) var bytes: [UInt8] = []
    private(set) var durable: [UInt8] = []
    private var changes: [Change] = []
    /// The number of failed syncs; a handle that has seen fewer has to fail once.
    private(set) var failedSyncCount = 0
    /// Stands for the time of the last change.
    private(set) var changeCount: Int64 = 0

    init(identity: FileIdentity) { self.identity = identity }

    /// A file that holds what `original` durably holds.
    init(identity: FileIdentity, copyOf original: CrashFileImage) {
        self.identity = identity
        bytes = original.durable
        durable = original.durable
    }

    mutating func write(_ data: [UInt8], at offset: Int) {
        guard !data.isEmpty else { return }
        changes.append(.write(offset: offset, bytes: data))
        changeCount += 1
        Self.overwrite(&bytes, at: offset, with: data[...])
    }

    mutating func truncate(to size: Int) {
        changeCount += 1
        changes.append(.truncate(size: size))
        Self.resize(&bytes, to: size)
    }

    mutating func sync() {
        // Bytes that were cut off and written again are not the durable old ones.
        var shortest = durable.count
        for case .truncate(let size) in changes { shortest = min(shortest, size) }
        Self.resize(&durable, to: shortest)
        Self.resize(&durable, to: bytes.count)
        var writtenSectors: Set<Int> = []
        for case .write(let offset, let data) in changes {
            let sectors = Self.sectors(of: offset..<offset + data.count)
            writtenSectors.formUnion(sectors)
            let start = min(sectors.lowerBound * Self.sectorSize, bytes.count)
            let end = min(sectors.upperBound * Self.sectorSize, bytes.count)
            durable.replaceSubrange(start..<end, with: bytes[start..<end])
        }
        changes = changes.filter { change in
            guard case .abandoned(let sector, _) = change else { return false }
            return !writtenSectors.contains(sector) && sector * Self.sectorSize < bytes.count
        }
    }

    /// The effect of a failed sync: no later sync writes the bytes that were unwritten then.
    mutating func abandonChanges() {
        failedSyncCount += 1
        var size = durable.count
        var rest: [Change] = []
        var lostSectors: Set<Int> = []
        for change in changes {
            switch change {
            case .write(let offset, let data):
                lostSectors.formUnion(Self.sectors(of: offset..<offset + data.count))
                guard offset + data.count > size else { continue }
                // The length is the file system's own affair, and a later sync does write it.
                size = offset + data.count
                rest.append(.truncate(size: size))
            case .truncate(let newSize):
                size = newSize
                rest.append(change)
            case .abandoned:
                rest.append(change)
            }
        }
        for sector in lostSectors.sorted() {
            let start = sector * Self.sectorSize
            guard start < bytes.count else { continue }
            let end = min(start + Self.sectorSize, bytes.count)
            rest.append(.abandoned(sector: sector, bytes: Array(bytes[start..<end])))
        }
        changes = rest
    }

    /// Leaves what a power cut leaves.
    mutating func losePower(using random: inout SeededRandom) {
        guard !changes.isEmpty else { return }
        // Sectors at random alone would hardly ever keep or lose a long write whole.
        switch random.below(4) {
        case 0:
            break
        case 1:
            let (result, lengths) = outcome(of: changes[...], keptWrites: [:])
            durable = Self.resized(result, to: lengths.last ?? 0)
        default:
            let lasting = lastingChanges(using: &random)
            let keptWrites = Self.drawKeptWrites(of: lasting, using: &random)
            let (result, lengths) = outcome(of: lasting, keptWrites: keptWrites)
            durable = Self.resized(result, to: lengths[random.below(lengths.count)])
        }
        bytes = durable
        changes = []
        changeCount += 1
    }

    mutating func flipBit(_ bit: Int, at offset: Int) {
        precondition(bytes.indices.contains(offset), "only a byte that is there can be flipped")
        bytes[offset] ^= 1 << UInt8(bit)
        changeCount += 1
        if offset < durable.count { durable[offset] ^= 1 << UInt8(bit) }
    }
}

// MARK: - What survives

extension CrashFileImage {
    /// The changes up to the first cut of the file that did not last.
    private func lastingChanges(using random: inout SeededRandom) -> ArraySlice<Change> {
        var size = durable.count
        var cuts: [Int] = []
        for (index, change) in changes.enumerated() {
            switch change {
            case .write(let offset, let data):
                size = max(size, offset + data.count)
            case .truncate(let newSize):
                if newSize < size { cuts.append(index) }
                size = newSize
            case .abandoned:
                break
            }
        }
        let lastingCutCount = random.below(cuts.count + 1)
        return lastingCutCount < cuts.count ? changes[..<cuts[lastingCutCount]] : changes[...]
    }

    /// Draws for each sector how many of the writes to it lasted.
    private static func drawKeptWrites(
        of changes: ArraySlice<Change>,
        using random: inout SeededRandom
    ) -> [Int: Int] {
        var writeCounts: [Int: Int] = [:]
        for change in changes {
            for sector in change.sectors { writeCounts[sector, default: 0] += 1 }
        }
        var keptWrites: [Int: Int] = [:]
        for (sector, count) in writeCounts.sorted(by: { $0.key < $1.key }) {
            keptWrites[sector] = random.below(count + 1)
        }
        return keptWrites
    }

    /// The bytes when of the writes to each sector only so many lasted (all where nothing is said).
    ///
    /// Also the lengths that the file had, none older than the last cut; at least one.
    private func outcome(
        of changes: ArraySlice<Change>,
        keptWrites: [Int: Int]
    ) -> (bytes: [UInt8], lengths: [Int]) {
        var result = durable
        var size = durable.count
        var lengths = [size]
        var seenWrites: [Int: Int] = [:]
        for change in changes {
            for sector in change.sectors {
                seenWrites[sector, default: 0] += 1
                guard seenWrites[sector, default: 0] <= keptWrites[sector, default: .max] else {
                    continue
                }
                let (offset, piece) = change.piece(in: sector)
                Self.overwrite(&result, at: offset, with: piece)
            }
            switch change {
            case .write(let offset, let data):
                guard offset + data.count > size else { continue }
                size = offset + data.count
            case .truncate(let newSize):
                if newSize < size {
                    result = Self.resized(result, to: min(result.count, newSize))
                    lengths = []
                }
                size = newSize
            case .abandoned:
                continue
            }
            lengths.append(size)
        }
        return (result, lengths)
    }
}

extension CrashFileImage.Change {
    var sectors: Range<Int> {
        switch self {
        case .write(let offset, let bytes):
            CrashFileImage.sectors(of: offset..<offset + bytes.count)
        case .truncate:
            0..<0
        case .abandoned(let sector, _):
            sector..<sector + 1
        }
    }

    /// The part of what was written that lies in `sector`, and its offset in the file.
    func piece(in sector: Int) -> (offset: Int, bytes: ArraySlice<UInt8>) {
        let start = sector * CrashFileImage.sectorSize
        switch self {
        case .write(let offset, let bytes):
            let lower = max(start, offset)
            let upper = min(start + CrashFileImage.sectorSize, offset + bytes.count)
            return (lower, bytes[lower - offset..<upper - offset])
        case .truncate:
            return (start, [])
        case .abandoned(_, let bytes):
            return (start, bytes[...])
        }
    }
}

// MARK: - Bytes

extension CrashFileImage {
    fileprivate static func sectors(of range: Range<Int>) -> Range<Int> {
        range.lowerBound / sectorSize..<(range.upperBound + sectorSize - 1) / sectorSize
    }

    /// Puts `data` at `offset`, filling a gap before it with zeros.
    private static func overwrite(
        _ bytes: inout [UInt8],
        at offset: Int,
        with data: ArraySlice<UInt8>
    ) {
        if offset > bytes.count { resize(&bytes, to: offset) }
        let overlap = min(data.count, bytes.count - offset)
        bytes.replaceSubrange(offset..<offset + overlap, with: data.prefix(overlap))
        bytes.append(contentsOf: data.dropFirst(overlap))
    }

    private static func resize(_ bytes: inout [UInt8], to size: Int) {
        if size < bytes.count { bytes.removeLast(bytes.count - size) }
        while bytes.count < size {
            bytes.append(contentsOf: zeros.prefix(size - bytes.count))
        }
    }

    // Appended in pieces, which takes a hundredth of the time of single zeros in a debug build.
    private static let zeros = [UInt8](repeating: 0, count: 64 * 1024)

    private static func resized(_ bytes: [UInt8], to size: Int) -> [UInt8] {
        var result = bytes
        resize(&result, to: size)
        return result
    }
}
