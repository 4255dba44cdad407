import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioStorage
import Testing

/// Sealed segments that were copied from elsewhere, as they lie.
struct SegmentIntakeTests {
    /// A sealed log, and an empty space that is to become its copy.
    private struct World {
        let source: SealedLog
        let target: TestLog
        let store: LogStore
        let space: SpaceID
        let names: [SegmentName]
        let root: Hash32

        init(seed: UInt64 = 5) throws {
            source = try SealedLog(seed: seed)
            try source.fill(0..<100)
            _ = try source.store.seal(source.space, all: true)
            let manifest = try source.store[source.space].status().manifest
            names = manifest.segments.map(\.name)
            root = try source.store[source.space].root()
            target = try TestLog(seed: seed + 1)
            target.clock.advance(milliseconds: 10_000_000)
            store = try target.open()
            space = store.drawSpaceID()
            try store.makeReplica(
                of: space,
                lineage: manifest.lineage,
                epoch: manifest.epoch,
                isStaging: true
            )
            try copy(names)
        }

        /// Copies pairs, and lets `change` spoil their bytes.
        func copy(
            _ names: [SegmentName],
            _ change: (String, inout [UInt8]) -> Void = { _, _ in }
        ) throws {
            let (from, to) = (source.store.directory, store.directory)
            try to.makeDirectory(LogPaths.segments(space))
            for name in names {
                for path in [LogPaths.segment(_:of:), LogPaths.sidecar(_:of:)] {
                    var bytes = try Files.contents(
                        of: path(name, source.space),
                        in: from,
                        sizeMax: 1 << 24
                    )
                    change(path(name, space), &bytes)
                    try Files.replace(path(name, space), with: bytes, in: to)
                }
            }
        }

        func take(_ names: [SegmentName], root: Hash32) throws {
            var intake = SegmentIntake(store, space)
            for name in names { try intake.take(name) }
            try intake.finish(root: root)
        }
    }

    @Test(arguments: UInt64(0)..<8) func aCopyIsTheSameSpace(seed: UInt64) throws {
        let world = try World(seed: 2 * seed)
        #expect(world.names.count > 1)
        try world.take(world.names, root: world.root)
        let (store, space) = (world.store, world.space)
        let status = try store[space].status()
        let before = try world.source.store[world.source.space].status()
        #expect(status.head == before.head)
        #expect(status.tallies == before.tallies)
        #expect(status.adoptions == before.adoptions)
        #expect(status.acceptedAt == before.acceptedAt)
        #expect(status.clock == before.clock)
        #expect(status.manifest.segments == before.manifest.segments)
        #expect(try store[space].root() == world.root)
        #expect(store.validate() == [])
        try store[space].show()
        #expect(try store.verify(space) { _ in nil }.faults == [])
        // It is still there after the log was opened anew.
        try store.close()
        let again = try world.target.open()
        #expect(try again[space].root() == world.root)
        #expect(try again.verify(space) { _ in nil }.faults == [])
        #expect(again.validate() == [])
    }

    @Test func anotherRootIsNotTakenOver() throws {
        let world = try World()
        #expect(throws: LogError.self) {
            try world.take(world.names, root: Hash32.zero)
        }
        #expect(throws: LogError.self) {
            try world.take(Array(world.names.dropLast()), root: world.root)
        }
        #expect(world.store[world.space].standing().head == 0)
        // Nothing was changed by that.
        try world.take(world.names, root: world.root)
    }

    @Test func segmentsComeInOrder() throws {
        let world = try World()
        for names in [Array(world.names.reversed()), [world.names[0], world.names[0]]] {
            #expect(throws: LogError.self) { try world.take(names, root: world.root) }
        }
        let missing = SegmentName(first: 1, number: 12_345)
        #expect(throws: LogError.self) { try world.take([missing], root: world.root) }
    }

    /// Whatever byte is another one, the copy is refused, and nothing traps.
    @Test func everyDamagedByteIsFound() throws {
        let world = try World()
        var random = SeededRandom(seed: 3)
        for _ in 0..<150 {
            let wanted = random.below(2) == 0 ? ".dseg" : ".dper"
            var isChanged = false
            let seed = UInt64(random.below(1 << 30))
            try world.copy([world.names[0]]) { path, bytes in
                guard path.hasSuffix(wanted), !bytes.isEmpty else { return }
                var own = SeededRandom(seed: seed)
                if own.below(8) == 0 {
                    bytes.removeLast(1 + own.below(bytes.count))
                } else {
                    bytes[own.below(bytes.count)] ^= UInt8(1 << own.below(8))
                }
                isChanged = true
            }
            #expect(isChanged)
            #expect(throws: LogError.self) { try world.take(world.names, root: world.root) }
        }
        try world.copy([world.names[0]])
        try world.take(world.names, root: world.root)
    }
}
