import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioTestSupport
import Testing

@Suite struct ImportTests {
    /// As it was exported, or with the mark before it with which editors of other systems save.
    @Test(arguments: [EventForm.lines, .cloudEvents], [[], [0xef, 0xbb, 0xbf]] as [[UInt8]])
    func anExportIntoAFreshSpaceExportsAsTheSameText(form: EventForm, mark: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let source = try SampleSpace.make(folder.path + "/source")
        let text = try SampleSpace.lines(source)
        let bytes = form == .lines ? text : try SampleSpace.cloudEvents(source)
        let file = try SampleSpace.file(mark + bytes, in: folder)
        #expect(try EventForm.detected(in: file) == form)
        let target = try Space.create(at: folder.path + "/target", packs: PackSource.builtIn())
        let lineage = try target.stats().state.lineage
        let summary = try target.importEvents(of: file, as: form) { _, _ in }
        #expect(summary.ignoredNames.isEmpty)
        let restored = summary.space
        #expect(try SampleSpace.lines(restored) == text)
        #expect(try SampleSpace.cloudEvents(restored) == SampleSpace.cloudEvents(source))
        let (old, new) = (try source.stats(), try restored.stats())
        #expect(new.state.events == old.state.events)
        #expect(new.state.head == old.state.head)
        #expect(new.state.lineage != lineage)
        #expect(new.state.lineage != old.state.lineage)
        #expect(try restored.verify { _ in }.isOK)
        try restored.close()
        let again = try Space.open(at: folder.path + "/target", access: .readOnly)
        #expect(try SampleSpace.lines(again) == text)
    }

    // Lines without the adoption of packs, as a workload has them, once left a space that did not
    // know its own types.
    @Test func linesWithoutAdoptionsKeepThePacksOfTheSpace() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/target", packs: PackSource.builtIn())
        let head = try space.stats().state.head
        let line =
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
            + #""at":"2026-01-01T00:00:00Z","origin":"7zk3m9q2c1f4a-1"}"#
        let summary = try space.importEvents(
            of: SampleSpace.file(Array(line.utf8), in: folder),
            as: .lines
        ) {
            _,
            _ in
        }
        let stats = try summary.space.stats()
        #expect(stats.state.events == 1)
        #expect(stats.state.head == head + 1)
        #expect(try summary.space.adoptedPacks().count == 5)
        #expect(try summary.space.verify { _ in }.isOK)
    }

    /// Numbers that no replica reaches, in files that people make.
    @Test(arguments: ["18446744073709551615", "18446744073709551614", "4611686018427387905"])
    func originsOutOfAllBoundsAreRefused(number: String) throws {
        let folder = try TemporaryFolder()
        func line(_ day: String, _ sequence: String) -> String {
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-\#(day)","#
                + #""source":"manual"},"at":"2026-01-01T00:00:00Z","#
                + #""origin":"7zk3m9q2c1f4a-\#(sequence)","batch":"b"}"# + "\n"
        }
        let text = line("01", number) + line("02", "1")
        for isFresh in [true, false] {
            let path = folder.path + "/\(isFresh)"
            let space = try Space.create(at: path, packs: PackSource.builtIn())
            if !isFresh { try SampleSpace.fill(space) }
            let before = try SampleSpace.lines(space)
            let file = try SampleSpace.file(Array(text.utf8), in: folder)
            let error = #expect(throws: DiarioError.self) {
                try space.importEvents(of: file, as: .lines) { _, _ in }
            }
            #expect(error?.message.isEmpty == false)
            #expect(try SampleSpace.lines(space) == before)
        }
    }

    /// What an empty space does not take is told with the line, as everything else is.
    @Test func linesThatContradictEachOtherAreNamed() throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        func line(_ keys: String) -> String {
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
                + #""at":"2026-01-01T00:00:00Z",\#(keys)}"# + "\n"
        }
        let first = line(#""origin":"7zk3m9q2c1f4a-5""#)
        let cases = [
            (line(#""origin":"7zk3m9q2c1f4a-4""#), "sequence 5"),
            (line(#""origin":"7zk3m9q2c1f4a-5""#), "sequence 5"),
            (line(#""origin":"7zk3m9q2c1f4a-4611686018427387905""#), "out of all bounds"),
            (line(#""origin":"7zk3m9q2c1f4a-6","clock":"70368744177664-0""#), "clock"),
            (line(#""origin":"7zk3m9q2c1f4a-6","position":9"#), "position 9"),
        ]
        for (second, what) in cases {
            let file = try SampleSpace.file(Array((first + second).utf8), in: folder)
            let error = #expect(throws: DiarioError.self) {
                _ = try space.importEvents(of: file, as: .lines) { _, _ in }
            }
            let message = try #require(error?.message)
            #expect(message.contains("line 2") && message.contains(what), "\(message)")
            #expect(error?.line == 2)
        }
    }

    /// An import that was killed leaves a space that nobody sees; it stayed for ever.
    @Test func whatAKilledImportLeftGoesWithTheNextOpening() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/space"
        let space = try SampleSpace.make(path)
        let (left, lock) = try space.store.stageSpace()
        lock.release()
        var staged = try Space(store: space.store, id: left)
        _ = try staged.adopt(PackSource.builtIn()) { _, _ in }
        try space.close()
        let spaces = try POSIXDirectory(path: path + "/.diario/spaces", access: .read)
        #expect(try spaces.list("").count == 2)
        try Space.open(at: path, access: .readOnly).close()
        #expect(try spaces.list("").count == 2)
        try Space.open(at: path, access: .readWrite).close()
        #expect(try spaces.list("") == [space.id.text])
    }

    /// It once said that another position came next, which no line of the export had.
    @Test func aPartOfAnExportOfAllEventsIsTold() throws {
        let folder = try TemporaryFolder()
        let source = try SampleSpace.make(folder.path + "/source")
        let lines = String(decoding: try SampleSpace.lines(source), as: UTF8.self)
            .split(separator: "\n")
        let target = try Space.create(at: folder.path + "/target", packs: PackSource.builtIn())
        let before = try target.stats().state.head
        let file = try SampleSpace.file(
            Array(lines.dropFirst(3).map { $0 + "\n" }.joined().utf8),
            in: folder
        )
        let error = #expect(throws: DiarioError.self) {
            _ = try target.importEvents(of: file, as: .lines) { _, _ in }
        }
        let message = try #require(error?.message)
        #expect(message.contains("a part is missing"), "\(message)")
        #expect(try target.stats().state.head == before)
    }

    /// Positions of what an authority wrote are missing there, and the packs are those of the
    /// space that takes the events.
    @Test(arguments: [EventForm.lines, .cloudEvents])
    func theEventsOfPeopleComeIntoAnEmptySpaceAsNewOnes(form: EventForm) throws {
        let folder = try TemporaryFolder()
        let source = try SampleSpace.make(folder.path + "/source")
        let text =
            form == .lines
            ? try SampleSpace.lines(source, EventFilter())
            : try SampleSpace.cloudEvents(source, EventFilter())
        let target = try Space.create(at: folder.path + "/target", packs: PackSource.builtIn())
        let file = try SampleSpace.file(text, in: folder)
        let count = try source.stats().state.events
        let first = try target.importEvents(of: file, as: form) { _, _ in }
        #expect(first.space.id == target.id)
        #expect(first.imported == count && first.unresolved == 0)
        let second = try target.importEvents(of: file, as: form) { _, _ in }
        #expect(second.imported == 0 && second.known == count)
        #expect(try target.stats().state.events == count)
        func types(_ space: Space) throws -> [String] {
            var reader = try EventReader(space, EventFilter())
            var types: [String] = []
            while let line = try reader.next() { types.append(line.type.name) }
            return types
        }
        #expect(try types(target) == types(source))
        #expect(try target.verify { _ in }.isOK)
    }

    /// Where two files were put together, the mark of the second one has to go.
    @Test func aByteOrderMarkWithinAFileIsNamed() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        let line = #"{"type":"meals.food.removed","payload":{"entryId":"a"}}"#
        let file = try SampleSpace.file(Array("\(line)\n\u{feff}\(line)\n".utf8), in: folder)
        let error = #expect(throws: DiarioError.self) {
            _ = try space.importEvents(of: file, as: .lines) { _, _ in }
        }
        let message = try #require(error?.message)
        #expect(message.contains("line 2") && message.contains("byte order mark"), "\(message)")
    }

    // An import of nothing once left a space without packs.
    @Test(arguments: ["", "\n \n", "[]", " [ ] "])
    func anImportOfNothingLeavesASpaceAsItWas(text: String) throws {
        let folder = try TemporaryFolder()
        let space = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let before = try SampleSpace.lines(space)
        let file = try SampleSpace.file(Array(text.utf8), in: folder)
        let summary = try space.importEvents(of: file, as: .detected(in: file)) { _, _ in }
        #expect(summary.imported == 0)
        let again = try Space.open(at: folder.path + "/space", access: .readOnly)
        #expect(try SampleSpace.lines(again) == before)
        #expect(again.catalog.newest("meals.weight.recorded") != nil)
    }

    // Two equal lines that were recorded together once came as two events.
    @Test func anOriginThatComesTwiceIsRecordedOnce() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        let line =
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
            + #""origin":"7zk3m9q2c1f4a-1"}"# + "\n"
        let file = try SampleSpace.file(Array((line + line).utf8), in: folder)
        let summary = try space.importEvents(of: file, as: .lines) { _, _ in }
        #expect((summary.imported, summary.known) == (1, 1))
    }

    /// A line that was known already parted two batches when lines were checked, and not when they
    /// were recorded: then the batch was too large, and what came before it was recorded.
    @Test func batchesAroundAKnownLineStayTwo() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        let before = try space.stats().state.events
        func line(_ rest: String) -> String {
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
                + rest + "}\n"
        }
        let known = line(#""origin":"7zk3m9q2c1f4a-1""#)
        _ = try space.importEvents(of: SampleSpace.file(Array(known.utf8), in: folder), as: .lines)
        { _, _ in }
        let batch = (0..<600).map { _ in line(#""batch":"x""#) }.joined()
        let text = batch + known + batch
        let file = try SampleSpace.file(Array(text.utf8), in: folder)
        let summary = try space.importEvents(of: file, as: .lines) { _, _ in }
        #expect((summary.imported, summary.known) == (1200, 1))
        #expect(try space.stats().state.events == before + 1201)
        #expect(try space.verify { _ in }.isOK)
        var names: [String: Int] = [:]
        for line in String(decoding: try SampleSpace.lines(space), as: UTF8.self)
            .split(separator: "\n")
        {
            guard let found = line.firstMatch(of: #/"batch":"([^"]*)"/#) else { continue }
            names[String(found.1), default: 0] += 1
        }
        #expect(names.values.filter { $0 == 600 }.count == 2)
    }

    /// The first line of a batch may be known, and the others are still no part of the one before.
    @Test func aBatchWhoseFirstLineIsKnownBeginsWithTheNext() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/space")
        func line(_ number: Int, _ batch: String) -> String {
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
                + #""origin":"7zk3m9q2c1f4a-\#(number)","batch":"\#(batch)"}"# + "\n"
        }
        let known = try SampleSpace.file(Array(line(1, "x").utf8), in: folder)
        _ = try space.importEvents(of: known, as: .lines) { _, _ in }
        let text = line(3, "x") + line(1, "y") + line(2, "y")
        let file = try SampleSpace.file(Array(text.utf8), in: folder)
        let summary = try space.importEvents(of: file, as: .lines) { _, _ in }
        #expect((summary.imported, summary.known) == (2, 1))
        let lines = String(decoding: try SampleSpace.lines(space), as: UTF8.self)
        let batches = lines.split(separator: "\n").suffix(2).map { line in
            line.firstMatch(of: #/"batch":"([^"]*)"/#)?.1 ?? ""
        }
        #expect(batches[0] == "" || batches[0] != batches[1], "\(batches)")
    }

    @Test func referencesAreRewrittenWhenEventsAreRecordedAgain() throws {
        let folder = try TemporaryFolder()
        let source = try Space.create(at: folder.path + "/source", packs: PackSource.builtIn())
        let origins = try source.record(Self.linkedLines)
        let target = try SampleSpace.make(folder.path + "/target")
        _ = try target.importEvents(
            of: SampleSpace.file(SampleSpace.lines(source), in: folder),
            as: .lines
        ) {
            _,
            _ in
        }
        let text = String(decoding: try SampleSpace.lines(target), as: UTF8.self)
        for origin in origins { #expect(!text.contains(origin.text)) }
        let mine = text.split(separator: "\n").suffix(3)
        let created = try #require(mine.first { $0.contains("playlist.created") })
        let replica = try #require(created.firstRange(of: "\"playlistId\":\""))
        let id = created[replica.upperBound...].prefix { $0 != "\"" }
        #expect(mine.contains { $0.contains("playlist.track.added") && $0.contains(id) })
    }

    /// What names an event that is not there stays as it is, and once did so without a word.
    @Test func referencesToNothingAreCounted() throws {
        let folder = try TemporaryFolder()
        let source = try Space.create(at: folder.path + "/source", packs: PackSource.builtIn())
        try source.record(Self.linkedLines)
        let lines = String(decoding: try SampleSpace.lines(source), as: UTF8.self)
            .split(separator: "\n").suffix(2).map { $0.replacing(#","batch":"x""#, with: "") }
        for (kept, count) in [(lines, 0), ([lines[1]], 1), ([lines[0]], 0)] {
            let target = try SampleSpace.make(folder.path + "/target-\(kept.count)-\(count)")
            let file = try SampleSpace.file(Array(kept.joined(separator: "\n").utf8), in: folder)
            let summary = try target.importEvents(of: file, as: .lines) { _, _ in }
            #expect(summary.imported == kept.count)
            #expect(summary.unresolved == count)
            #expect(try target.importEvents(of: file, as: .lines) { _, _ in }.unresolved == 0)
        }
    }

    @Test(arguments: [
        (#"{"type":"meals.weight.recorded""#, "line 2"),
        (#"{"type":"meals.nothing","payload":{}}"#, "meals.nothing"),
        (
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-02-30","source":"manual"}}"#,
            "day"
        ),
    ])
    func aBadLineLeavesTheSpaceAsItWas(line: String, named: String) throws {
        let folder = try TemporaryFolder()
        let good =
            #"{"type":"meals.weight.recorded","payload":{"day":"2026-01-01","source":"manual"},"#
            + #""at":"2026-01-01T00:00:00Z","origin":"7zk3m9q2c1f4a-1"}"#
        for isUsed in [false, true] {
            let path = folder.path + "/target-\(isUsed)"
            let target =
                isUsed
                ? try SampleSpace.make(path)
                : try Space.create(at: path, packs: PackSource.builtIn())
            let before = try SampleSpace.lines(target)
            let input = try SampleSpace.file(Array((good + "\n" + line + "\n").utf8), in: folder)
            let error = #expect(throws: DiarioError.self) {
                try target.importEvents(of: input, as: .lines) { _, _ in }
            }
            #expect(error?.message.contains(named) == true, "\(error?.message ?? "")")
            #expect(error?.line == 2)
            let again = try Space.open(at: path, access: .readOnly)
            #expect(try SampleSpace.lines(again) == before)
        }
    }

    static let linkedLines = [
        ##"{"type":"music.playlist.created","payload":{"mode":"playlist"},"batch":"x"}"##,
        ##"{"type":"music.playlist.track.added","payload":{"playlistId":"#1","##
            + ##""trackId":"0123456789abcdef0123456789abcdef"},"batch":"x"}"##,
    ]
}
