import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

/// What every pack records is the same after it was sealed.
@Suite struct SealedSpaceTests {
    @Test func exportsFiltersAndRootStayAsTheyWere() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        let text = try SampleSpace.lines(space)
        let root = try space.stats().root
        let types = ["fish.", "meals.", "music.", "zones.", "maps.", "engine."]
        func counts() throws -> [Int] {
            try types.map { type in
                var reader = try EventReader(space, EventFilter(types: [type]), isReversed: true)
                var count = 0
                while try reader.next() != nil { count += 1 }
                return count
            }
        }
        let before = try counts()
        #expect(before.allSatisfy { $0 > 0 })
        let report = try space.store.seal(space.id, all: true, waitSeconds: 600)
        let stats = try space.stats()
        #expect(report.sealedEnd == stats.state.head)
        #expect(stats.segmentCount == 1)
        #expect(stats.tailCount == 0)
        #expect(stats.root == root)
        #expect(try SampleSpace.lines(space) == text)
        #expect(try counts() == before)
        #expect(try space.verify { _ in }.isOK)
        try space.close()
        let again = try Space.open(at: folder.path + "/space", access: .readOnly)
        #expect(try SampleSpace.lines(again) == text)
    }

    /// Each byte of the files belongs to a field of a type, or to what all events have.
    @Test func sizesByTypeAndColumnAddUpToTheFiles() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        #expect(try space.sealedSizes().bytes == 0)
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        let sizes = try space.sealedSizes()
        let segments = "space/\(LogPaths.directoryName)/" + LogPaths.segments(space.id)
        let directory = try folder.directory()
        let fileSizes = try directory.list(segments).map { name in
            try directory.open(segments + "/" + name, .read).size()
        }
        #expect(fileSizes.count == 2)
        #expect(sizes.bytes == fileSizes.reduce(0, +))
        let ofTypes = sizes.types.reduce(0) { $0 + $1.bytes }
        #expect(sizes.common.reduce(ofTypes) { $0 + $1.bytes } == sizes.bytes)
        #expect(sizes.types.reduce(0) { $0 + $1.eventCount } == Int(try space.stats().state.head))
        for type in sizes.types {
            let personal = type.fields.filter(\.isPersonal).reduce(0) { $0 + $1.bytes }
            #expect((personal > 0) == (type.personalBytes > 0), "\(type.name)")
            #expect(personal <= type.personalBytes, "\(type.name)")
        }
        let food = try #require(sizes.types.first { $0.name == "meals.food.logged" })
        #expect(food.fields.map(\.name) == food.fields.map(\.name).sorted())
        let note = try #require(food.fields.first { $0.name == "note" })
        // Texts that nothing predicts take about what they are long.
        #expect(note.isPersonal && note.bytes > 40 && note.bytes < 200)
        let names = sizes.common.map(\.name)
        for name in ["times", "clocks", "origins", "actors", "salts", "headers and indexes"] {
            #expect(names.contains(name), "\(name)")
        }
        try space.close()
    }

    /// A subject is found in segments as in the log, whatever kind of value it is.
    @Test func eventsOfASubjectAreFoundWhenSealed() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        func events(of subject: String) throws -> [UInt64?] {
            var filter = EventFilter.everything
            filter.subject = subject
            var reader = try EventReader(space, filter)
            var found: [UInt64?] = []
            while let line = try reader.next() { found.append(line.position) }
            return found
        }
        let subjects = ["buckwheat", "31-lunch-0303", "nothing of that name", "meals"]
        let before = try subjects.map { try events(of: $0) }
        #expect(before[0].count == 2 && before[1].count > 0 && before[2].isEmpty)
        _ = try space.store.seal(space.id, all: true, waitSeconds: 600)
        #expect(try subjects.map { try events(of: $0) } == before)
        #expect(space.store.segmentCounters.blocks > 0)
        try space.close()
    }
}
