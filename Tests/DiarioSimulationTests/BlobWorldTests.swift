import DiarioSimulation
import Testing

/// Short lives of devices that exchange blobs with a server.
@Suite struct BlobWorldTests {
    @Test(arguments: UInt64(0)..<24) func onlyRightBytesAreStoredAndAllOfThemArrive(
        seed: UInt64
    ) throws {
        try BlobWorld(seed: seed).run(stepCount: 200)
    }

    /// Chance comes from the seed alone, or a failure could not be replayed.
    @Test func aSeedRepeatsItsWorld() throws {
        let counts = try (0..<2).map { _ in
            let world = BlobWorld(seed: 3)
            try world.run()
            return world.counts
        }
        #expect(counts[0] == counts[1])
    }

    /// Worlds are of use only if much happens in them.
    @Test func muchHappens() throws {
        let counts = try (UInt64(0)..<12).map { seed in
            let world = BlobWorld(seed: seed)
            try world.run()
            return world.counts
        }
        #expect(counts.contains { $0.refused > 0 })
        #expect(counts.contains { $0.swept > 0 })
        #expect(
            counts.allSatisfy { $0.damages > 0 && $0.flips > 0 && $0.losses > 0 && $0.cuts > 0 }
        )
        #expect(counts.allSatisfy { $0.sent > 0 && $0.fetched > 0 })
    }
}
