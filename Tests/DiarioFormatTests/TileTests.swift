import DiarioCore
import DiarioCrypto
import DiarioFormat
import Testing

/// schema/format/proofs.md, section 6.
@Suite struct TileTests {
    /// All tiles of a tree, level by level.
    private func tiles(size: UInt64) -> [Tile] {
        (0...Tile.levelMax).flatMap { level -> [Tile] in
            let count = (Tile.hashCount(level: level, size: size) + 255) / 256
            return (0..<count).compactMap { Tile(level: level, index: $0, size: size) }
        }
    }

    /// The example of the tlog-tiles document.
    @Test func aTreeOf70000LeavesHasTheTilesOfTheDocument() {
        let all = tiles(size: 70_000)
        let full = all.filter(\.isFull)
        #expect(full.filter { $0.level == 0 }.count == 273)
        #expect(full.filter { $0.level == 1 }.map(\.index) == [0])
        #expect(
            all.filter { !$0.isFull }.map { [$0.level, $0.width] } == [
                [0, 112], [1, 17], [2, 1],
            ]
        )
        #expect(tiles(size: 256).map(\.path) == ["tile/0/000", "tile/1/000.p/1"])
        #expect(tiles(size: 0).isEmpty)
        #expect(tiles(size: 1).map(\.path) == ["tile/0/000.p/1"])
    }

    @Test(arguments: [
        (0, 0, 256, "tile/0/000"), (0, 1_234_067, 256, "tile/0/x001/x234/067"),
        (1, 999, 255, "tile/1/999.p/255"), (2, 1000, 1, "tile/2/x001/000.p/1"),
        (7, 0, 63, "tile/7/000.p/63"), (3, 1_000_000, 17, "tile/3/x001/x000/000.p/17"),
    ])
    func aNameIsReadAsItIsWritten(level: Int, index: UInt64, width: Int, name: String) throws {
        let tile = try #require(Tile(level: level, index: index, width: width))
        #expect(tile.path == name)
        #expect(Tile(path: name) == tile)
    }

    @Test(arguments: UInt64(0)..<16) func namesOfAllSizesAreReadAgain(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            let level = random.below(8)
            let bound = Tile.hashCount(level: level, size: TreeNode.sizeMax) >> 8
            let index = bound == 0 ? 0 : (random.next() % bound) >> UInt64(random.below(54))
            let width = level == 7 ? 1 + random.below(63) : 1 + random.below(256)
            let tile = try #require(Tile(level: level, index: index, width: width))
            #expect(Tile(path: tile.path) == tile)
        }
    }

    @Test(arguments: [
        "", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000",
        "tile/00/000", "tile/8/000", "tile/-1/000", "tile/+1/000", "tile/x/000", "tile/0/x000/001",
        "tile/0/001/001", "tile/0/x001", "tile/0/x001/x001", "tile/0/X001/001", "tile/0/-01",
        "tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/01", "tile/0/000.p/256",
        "tile/0/000.p/-1", "tile/0/000.p/1/", "tile/0/000/", "/tile/0/000", "Tile/0/000",
        "tile/7/000", "tile/7/000.p/64", "tile/7/001.p/1", "tile/0/000.q/1", "tile/0/00\u{661}",
        "tile/0/x018/x014/x398/x509/x481/x984", "tile/0/x999/x999/x999/x999/x999/999",
        "tile/0/x001/x001/x001/x001/x001/x001/x001/x001/x001/x001/x001/x001/001",
    ])
    func whatIsNoNameIsRefused(name: String) { #expect(Tile(path: name) == nil) }

    @Test func tilesThatCannotBeAreRefused() {
        #expect(Tile(level: 8, index: 0) == nil)
        #expect(Tile(level: -1, index: 0) == nil)
        #expect(Tile(level: 0, index: 0, width: 0) == nil)
        #expect(Tile(level: 0, index: 0, width: 257) == nil)
        #expect(Tile(level: 0, index: 1 << 54) == nil)
        #expect(Tile(level: 0, index: .max) == nil)
        #expect(Tile(level: 0, index: 1, size: 256) == nil)
        #expect(Tile(level: 0, index: .max, size: 300) == nil)
        #expect(Tile(level: 0, index: 0, size: .max) == nil)
        #expect(Tile(level: 0, index: 1, size: 300)?.width == 44)
    }

    /// P4, however the leaves are cut into extensions.
    @Test(arguments: UInt64(0)..<4) func aBuilderMakesTheHashesOfAllLevels(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var hasher = EventHasher()
        let plain = PlainProofs(count: 3000)
        var levels: [[UInt8]] = [[], []]
        var range = CompactRange()
        while range.size < 3000 {
            var builder = TileBuilder(range)
            for _ in 0..<min(1 + random.below(700), 3000 - Int(range.size)) {
                builder.append(plain.leaves[Int(builder.size)], &hasher)
            }
            for (index, bytes) in builder.levels.enumerated() {
                #expect(Int(builder.firstHash(level: index + 1)) * 32 == levels[index].count)
                levels[index] += bytes
            }
            range = try builder.range
        }
        var whole = CompactRange()
        for leaf in plain.leaves { whole.append(leaf, &hasher) }
        #expect(range == whole)
        var hashes: [UInt8] = []
        for start in stride(from: 0, to: 11 * 256, by: 256) {
            hashes += plain.root(start..<start + 256).bytes
        }
        #expect(levels[0] == hashes)
        #expect(levels[1].isEmpty)
    }

    @Test func aBuilderGoesOnAboveTheFirstLevels() throws {
        var hasher = EventHasher()
        // As if 2^24 - 1 leaves had been there: each level is one short of its next hash.
        let start: UInt64 = 1 << 24 - 1
        let nodes = (0..<24).map { PlainProofs.leaf($0) }
        var builder = TileBuilder(try CompactRange(size: start, nodes: nodes))
        builder.append(.zero, &hasher)
        #expect(builder.levels.map(\.count) == [32, 32, 32])
        #expect((1...3).map { builder.firstHash(level: $0) } == [65_535, 255, 0])
        let root = try builder.range.root(&hasher)
        #expect(builder.levels[2] == root.bytes)
    }
}
