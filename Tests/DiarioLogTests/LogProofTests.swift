import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import Testing

/// Proofs from a log: from its rows alone, from tiles and rows, and in spite of damaged tiles.
@Suite struct LogProofTests {
    /// A log with events in one space, and the leaves of that space.
    private struct Sample {
        let log: TestLog
        let store: LogStore
        let space: SpaceID
        let leaves: [Hash32]

        var tiles: TileStore { get throws { try TileStore(log.disk, space: space) } }

        /// Batches of all sizes, so that blocks and tiles end at different places.
        init(count: Int, seed: UInt64 = 1) throws {
            log = try TestLog(seed: seed)
            store = try log.open()
            space = try store.makeSpace(isAuthority: true).space
            var rest = count
            while rest > 0 {
                let size = min(rest, 1 + log.random.below(200))
                let isSecret = log.random.below(4) == 0
                _ = try store.append(log.append(size, secret: isSecret, to: space))
                log.clock.advance(milliseconds: 7)
                rest -= size
            }
            leaves = try log.kinds.view(of: space, in: store).canonical.map {
                PlainHashes.leaf($0.hash, acceptedAt: $0.acceptedAt ?? 0)
            }
        }

        func root(_ size: Int) -> Hash32 {
            PlainHashes.root(leaves[..<size])
        }

        /// Proves a position and checks that with what the leaves say.
        func checkInclusion(_ position: Int, size: Int?) throws {
            let proven = try store[space].proofs.inclusion(
                of: UInt64(position),
                size: size.map { UInt64($0) }
            )
            let found = try #require(proven)
            var hasher = EventHasher()
            #expect(found.proof.index == UInt64(position - 1))
            #expect(found.proof.size == UInt64(size ?? leaves.count))
            #expect(found.leaf == leaves[position - 1])
            #expect(found.root == root(size ?? leaves.count))
            try found.proof.check(
                leaf: leaves[position - 1],
                root: root(size ?? leaves.count),
                &hasher
            )
        }

        func checkConsistency(from: Int, to size: Int?) throws {
            let proven = try store[space].proofs.consistency(
                from: UInt64(from),
                to: size.map { UInt64($0) }
            )
            let found = try #require(proven)
            var hasher = EventHasher()
            #expect(found.fromRoot == root(from))
            #expect(found.root == root(size ?? leaves.count))
            try found.proof.check(
                fromRoot: root(from),
                root: root(size ?? leaves.count),
                &hasher
            )
        }

        /// Some of everything: at the borders of tiles, and by chance.
        func checkAll() throws {
            var random = SeededRandom(seed: 5)
            let count = leaves.count
            for position in [1, 2, 255, 256, 257, 512, 513, count - 1, count]
            where 1...count ~= position {
                try checkInclusion(position, size: nil)
                try checkInclusion(position, size: position)
                try checkInclusion(position, size: position + random.below(count - position + 1))
                try checkConsistency(from: position, to: nil)
                try checkConsistency(from: random.below(position), to: position)
                #expect(try store[space].proofs.root(size: UInt64(position)) == root(position))
            }
            try checkConsistency(from: 0, to: 0)
            try checkConsistency(from: 0, to: nil)
        }
    }

    @Test(arguments: [1, 2, 3, 7, 40]) func allProofsOfASmallLogHold(count: Int) throws {
        let sample = try Sample(count: count)
        for size in 1...count where size % 5 < 3 {
            for position in 1...size { try sample.checkInclusion(position, size: size) }
            for from in 0...size { try sample.checkConsistency(from: from, to: size) }
        }
        try sample.checkAll()
    }

    @Test func proofsHoldWithTilesOfAnySize() throws {
        let sample = try Sample(count: 1500)
        try sample.checkAll()
        for size in [1, 255, 256, 600, 1024, 1500] {
            try sample.store[sample.space].proofs.extendTiles(to: UInt64(size))
            #expect(try sample.tiles.size == UInt64(size))
            try sample.checkAll()
        }
        // Less than there is already changes nothing.
        try sample.store[sample.space].proofs.extendTiles(to: 3)
        #expect(try sample.tiles.size == 1500)
    }

    @Test func whatIsNotThereIsNotProven() throws {
        let sample = try Sample(count: 20)
        let (store, space) = (sample.store, sample.space)
        #expect(try store[space].proofs.inclusion(of: 0) == nil)
        #expect(try store[space].proofs.inclusion(of: 21) == nil)
        #expect(try store[space].proofs.inclusion(of: 5, size: 4) == nil)
        #expect(try store[space].proofs.inclusion(of: 5, size: 21) == nil)
        #expect(try store[space].proofs.inclusion(of: 5, size: .max) == nil)
        #expect(try store[space].proofs.consistency(from: 21) == nil)
        #expect(try store[space].proofs.consistency(from: 5, to: 4) == nil)
        #expect(try store[space].proofs.consistency(from: .max, to: .max) == nil)
        #expect(try store[space].proofs.root(size: 21) == nil)
        #expect(try store[space].proofs.provenEvent(at: 0) == nil)
        #expect(try store[space].proofs.provenEvent(at: 21) == nil)
        #expect(throws: LogError.self) { try store[space].proofs.extendTiles(to: 21) }
    }

    @Test func anEventCarriesWhatItsLeafIsMadeOf() throws {
        let sample = try Sample(count: 60)
        for position in 1...60 {
            let event = try sample.store[sample.space].proofs.provenEvent(at: UInt64(position))
            let found = try #require(event)
            var hasher = EventHasher()
            let bytes = found.row.bytes
            let hash = hasher.hash(bytes.span)
            #expect(hasher.leaf(hash, acceptedAt: found.acceptedAt) == sample.leaves[position - 1])
        }
    }

    /// What the tiles have need not be read from the log, which can let go of it.
    @Test func releasedPositionsAreProvenFromTiles() throws {
        let sample = try Sample(count: 1500)
        let (store, space) = (sample.store, sample.space)
        try store[space].proofs.extendTiles(to: 1024)
        try store[space].release(upTo: 1024)
        try sample.checkConsistency(from: 768, to: nil)
        try sample.checkConsistency(from: 1024, to: 1400)
        try sample.checkInclusion(1025, size: nil)
        try sample.checkInclusion(1500, size: 1500)
        // The rows of its level-0 tile are wanted.
        #expect(throws: LogError.released(position: 1, released: 1024)) {
            try store[space].proofs.inclusion(of: 1)
        }
    }

    // MARK: Damage

    /// As `verify` reads them; whichever bit is wrong.
    @Test func aCheckOfTilesFindsTheDamage() throws {
        let sample = try Sample(count: 1100)
        try sample.store[sample.space].proofs.extendTiles(to: 1030)
        #expect(try fault(of: sample) == nil)
        let path = "spaces/\(sample.space.text)/tiles/1"
        for offset in stride(from: 0, to: 128, by: 31) {
            try sample.log.disk.flipBit(1, at: offset, of: path)
            let found = try fault(of: sample)
            #expect(found?.file == path && found?.offset == offset / 32 * 32)
            try sample.log.disk.flipBit(1, at: offset, of: path)
        }
        #expect(try fault(of: sample) == nil)
        // A mark that verifies, but is that of another log.
        var tiles = try sample.tiles
        let node = Self.leaf(1)
        try tiles.lower(to: try CompactRange(size: 1024, nodes: [node]))
        #expect(try fault(of: sample)?.file == "spaces/\(sample.space.text)/tiles/size")
    }

    private func fault(of sample: Sample) throws -> Fault? {
        var hasher = EventHasher()
        var check = TileCheck(try sample.tiles, from: CompactRange())
        for leaf in sample.leaves { try check.append(leaf, &hasher) }
        return try check.finish()
    }

    /// Whichever byte of the tiles changes, proofs hold as long as the rows are there.
    @Test(arguments: UInt64(0)..<2, [["1"], ["size"]])
    func damagedTilesAreNotBelieved(seed: UInt64, names: [String]) throws {
        var random = SeededRandom(seed: seed)
        let sample = try Sample(count: 1100)
        try sample.store[sample.space].proofs.extendTiles(to: 1100)
        let folder = "spaces/\(sample.space.text)/tiles"
        for name in names {
            let path = "\(folder)/\(name)"
            let size = Int(try sample.log.disk.open(path, .read).size())
            try sample.log.disk.flipBit(
                random.below(8),
                at: random.below(size),
                of: path
            )
        }
        try sample.checkAll()
    }

    @Test func damagedTilesWithoutRowsAreCorruption() throws {
        let sample = try Sample(count: 1500)
        let (store, space) = (sample.store, sample.space)
        try store[space].proofs.extendTiles(to: 1024)
        try store[space].release(upTo: 1024)
        let file = "spaces/\(space.text)/tiles/1"
        try sample.log.disk.flipBit(3, at: 70, of: file)
        let fault = Fault(
            file: "spaces/\(space.text)/tiles",
            offset: 0,
            what: "the hashes there do not make the root of the log"
        )
        #expect(throws: LogError.corrupt(fault)) {
            try store[space].proofs.consistency(from: 256)
        }
    }

    @Test func missingFilesAreMadeAgain() throws {
        let sample = try Sample(count: 700)
        let path = "spaces/\(sample.space.text)/tiles/"
        for name in ["1", "size"] {
            try sample.store[sample.space].proofs.extendTiles(to: 700)
            let whole = try Files.contents(of: path + "1", in: sample.log.disk, sizeMax: 1000)
            #expect(whole.count == 64)
            try sample.log.disk.remove(path + name)
            #expect(try sample.tiles.size == 0)
            try sample.checkAll()
            try sample.store[sample.space].proofs.extendTiles(to: 600)
            #expect(try Files.contents(of: path + "1", in: sample.log.disk, sizeMax: 1000) == whole)
        }
    }

    // MARK: Crashes

    /// After a cut at any operation the tiles are those of before or of after.
    @Test(arguments: [0, 300] as [UInt64])
    func anExtensionHappensWholeOrNotAtAll(start: UInt64) throws {
        let end = start + 300
        for moment in CrashDisk.CutMoment.allCases {
            var count = 0
            var isCut = true
            while isCut {
                count += 1
                let sample = try Sample(count: Int(end))
                sample.log.random = SeededRandom(seed: UInt64(count))
                try sample.store[sample.space].proofs.extendTiles(to: start)
                sample.log.disk.cutAfter(operations: count, moment)
                isCut = false
                do {
                    try sample.store[sample.space].proofs.extendTiles(to: end)
                } catch LogError.storage(.cut) {
                    isCut = true
                }
                sample.log.disk.crash(using: &sample.log.random)
                let size = try TileStore(sample.log.disk, space: sample.space).size
                #expect(size == end || isCut && size == start)
                try checkTiles(sample, size: size)
            }
            #expect(count > 5)
        }
    }

    /// All hashes, also after the log was opened again and the tiles extended.
    private func checkTiles(_ sample: Sample, size: UInt64) throws {
        var tiles = try TileStore(sample.log.disk, space: sample.space)
        var hasher = EventHasher()
        for index in 0..<Int(size) / 256 {
            let hash = try tiles.hash(TreeNode(level: 8, index: UInt64(index)), &hasher)
            let leaves = sample.leaves[256 * index..<256 * index + 256]
            #expect(hash == PlainHashes.root(leaves))
        }
        let store = try sample.log.open()
        let end = sample.leaves.count
        try store[sample.space].proofs.extendTiles(to: UInt64(end))
        tiles = try TileStore(sample.log.disk, space: sample.space)
        #expect(tiles.size == UInt64(end))
        #expect(tiles.range.root(&hasher) == sample.root(end))
        let tile = try #require(Tile(level: 1, index: 0, width: end / 256))
        let bytes = try tiles.bytes(of: tile)
        #expect(bytes?.count == end / 256 * 32)
        #expect(store.validate() == [])
    }

    /// An authority that was restored goes back, and then on another way.
    @Test func loweredTilesGoOnWithOtherLeaves() throws {
        let sample = try Sample(count: 10)
        var hasher = EventHasher()
        var tiles = try sample.tiles
        func extend(_ leaves: Range<UInt64>) throws(LogError) {
            var builder = TileBuilder(tiles.range)
            for leaf in leaves { builder.append(Self.leaf(leaf), &hasher) }
            try tiles.extend(builder)
        }
        try extend(0..<70_000)
        var range = CompactRange()
        for leaf in UInt64(0)..<1000 { range.append(Self.leaf(leaf), &hasher) }
        try tiles.lower(to: range)
        try extend(5_000_000..<5_069_000)
        for leaf in UInt64(5_000_000)..<5_069_000 { range.append(Self.leaf(leaf), &hasher) }
        tiles = try sample.tiles
        #expect(tiles.range == range)
        let top = try tiles.hash(TreeNode(level: 16, index: 0), &hasher)
        #expect(top == range.nodes.first)
        // 0.15 bytes for each event are the bound.
        let folder = "spaces/\(sample.space.text)/tiles"
        var bytes = 0
        for name in try sample.log.disk.list(folder) {
            bytes += Int(try sample.log.disk.open("\(folder)/\(name)", .read).size())
        }
        #expect(bytes * 100 < 70_000 * 15)
        try tiles.lower(to: CompactRange())
        #expect(try sample.tiles.size == 0)
    }

    private static func leaf(_ index: UInt64) -> Hash32 {
        Hash32(words: (index, index, index, index))
    }

    @Test func aMarkWithAnyBitChangedIsNone() throws {
        var hasher = EventHasher()
        var range = CompactRange()
        for leaf in UInt64(0)..<11 { range.append(Self.leaf(leaf), &hasher) }
        let bytes = TileMark(range: range).encoded()
        #expect(bytes.count == 20 + 3 * 32)
        #expect(TileMark(bytes.span)?.range == range)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(TileMark(changed.span) == nil)
        }
        for count in 0..<bytes.count { #expect(TileMark(bytes.span.extracting(0..<count)) == nil) }
        #expect(TileMark((bytes + [0]).span) == nil)
    }
}
