import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// The index of authors: schema/format/directory.md, section 11.
@Suite struct AuthorIndexTests {
    /// A space with an index, and what every position adds to it.
    private struct Sample {
        struct Added {
            let key: UInt64
            let author: UInt64
            var isOwnOrigin = false
        }

        let log: TestLog
        let store: LogStore
        let space: SpaceID
        private(set) var authors: [UInt64: UInt64] = [:]
        /// By position, from 1.
        private(set) var added: [[Added]] = []

        /// A space of so many events, with files of few entries.
        init(seed: UInt64 = 1, eventCount: Int, authorCountMax: Int, interval: UInt64) throws {
            log = try TestLog(seed: seed)
            log.sizes.authorCountMax = authorCountMax
            log.sizes.authorIntervalMax = interval
            store = try log.open()
            space = try store.makeSpace(isAuthority: true).space
            _ = try store.append(log.append(eventCount, to: space))
        }

        var folder: String { "spaces/\(space.text)/authors" }

        func open(rules: UInt64 = 7) throws -> AuthorIndex {
            try AuthorIndex(of: space, in: store, rules: rules)
        }

        /// Notes what the next position adds.
        mutating func add(_ new: [Added], to index: inout AuthorIndex) throws {
            added.append(new)
            for one in new where one.isOwnOrigin || authors[one.key] == nil {
                authors[one.key] = one.author
            }
            try follow(&index)
        }

        /// Adds to the index what came since its end.
        func follow(_ index: inout AuthorIndex) throws {
            while index.end < added.count {
                for one in added[Int(index.end)] {
                    try index.add(one.key, by: one.author, isOwnOrigin: one.isOwnOrigin)
                }
                index.advance(to: index.end + 1)
            }
        }

        func files() throws -> [String: [UInt8]] {
            var files: [String: [UInt8]] = [:]
            for name in try log.disk.list(folder) {
                let path = folder + "/" + name
                files[path] = try Files.contents(of: path, in: log.disk, sizeMax: .max)
            }
            return files
        }

        func write(_ bytes: [UInt8], to path: String) throws {
            let file = try log.disk.open(path, .create)
            try file.truncate(to: 0)
            try file.write(bytes.span, at: 0)
        }

        /// Two files, of 130 and of 40 entries, and what they say.
        static func withTwoFiles(seed: UInt64 = 1) throws -> Sample {
            var sample = try Sample(
                seed: seed,
                eventCount: 330,
                authorCountMax: 130,
                interval: 200
            )
            var random = SeededRandom(seed: 5)
            var index = try sample.open()
            for position in 1...330 {
                let isNoted = position <= 130 || position.isMultiple(of: 5)
                let one = Added(key: random.next(), author: random.next())
                try sample.add(isNoted ? [one] : [], to: &index)
            }
            return sample
        }
    }

    /// The index against a dictionary; closed and opened in between, it reads again what is in no
    /// file.
    @Test(arguments: UInt64(0)..<12) func answersLikeADictionary(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var sample = try Sample(
            seed: seed,
            eventCount: 900,
            authorCountMax: 1 + random.below(90),
            interval: 1 + UInt64(random.below(200))
        )
        let keys = (0..<400).map { _ in random.next() }
        var index = try sample.open()
        for position in 1...900 {
            let new = (0..<random.below(4)).map { _ in
                Sample.Added(
                    key: keys[random.below(keys.count)],
                    author: UInt64(random.below(5)),
                    isOwnOrigin: random.oneIn(4)
                )
            }
            try sample.add(new, to: &index)
            if random.oneIn(50) {
                let isSaved = random.oneIn(2)
                if isSaved { try index.save() }
                index = try sample.open()
                if isSaved { #expect(index.end == UInt64(position)) }
                try sample.follow(&index)
            }
            guard position.isMultiple(of: 50) else { continue }
            for key in keys {
                let found = try index.author(of: key)
                #expect(found == sample.authors[key], "position \(position)")
            }
            index.rest()
        }
        // Each file is more than half as large as all behind it.
        let files = try sample.files()
        #expect(files.count <= 12 && !files.keys.contains { $0.hasSuffix(".new") })
    }

    /// A file that was cut is none, and what it said is read again.
    @Test func cutFilesAreNoticed() throws {
        let sample = try Sample.withTwoFiles()
        let files = try sample.files()
        #expect(files.count == 2)
        for (number, path) in files.keys.sorted().enumerated() {
            let bytes = try #require(files[path])
            for count in 0..<bytes.count {
                try sample.write(Array(bytes.prefix(count)), to: path)
                let index = try sample.open()
                #expect(index.end == [0, 130][number], "\(path) cut to \(count) bytes")
                for (path, bytes) in files { try sample.write(bytes, to: path) }
            }
        }
        #expect(try sample.open().end == 330)
    }

    /// A flipped bit makes a file none, or is told when a block is read, or changes no answer.
    @Test func flippedBitsAreNoticed() throws {
        let sample = try Sample.withTwoFiles()
        let files = try sample.files()
        let keys = sample.authors.keys.sorted().enumerated().filter {
            $0.offset % 9 == 0 || $0.offset > 154
        }
        for path in files.keys.sorted() {
            let bytes = try #require(files[path])
            for offset in bytes.indices {
                var flipped = bytes
                flipped[offset] ^= 1 << UInt8(offset % 8)
                try sample.write(flipped, to: path)
                var index = try sample.open()
                var isNoticed = index.end < 330
                for (_, key) in keys {
                    let found: UInt64?
                    do throws(LogError) { found = try index.author(of: key) } catch {
                        guard case .corrupt = error else { throw error }
                        isNoticed = true
                        continue
                    }
                    let isRight = found == sample.authors[key]
                    #expect(isRight || found == nil && index.end < 330, "byte \(offset)")
                }
                #expect(isNoticed, "\(path), byte \(offset)")
                // It is made again.
                if offset % 200 == 0 {
                    index.reset()
                    try sample.follow(&index)
                    for (key, author) in sample.authors {
                        #expect(try index.author(of: key) == author)
                    }
                }
                for path in try sample.files().keys { try sample.log.disk.remove(path) }
                for (path, bytes) in files { try sample.write(bytes, to: path) }
            }
        }
    }

    /// An index of other rules, or of another space, is of no use.
    @Test func whatDoesNotFitIsRemoved() throws {
        let sample = try Sample.withTwoFiles()
        #expect(try sample.open(rules: 8).end == 0)
        #expect(try sample.files().isEmpty)
        let other = try Sample.withTwoFiles(seed: 2)
        for (path, bytes) in try other.files() {
            try sample.write(bytes, to: path.replacing(other.space.text, with: sample.space.text))
        }
        #expect(try sample.open().end == 0)
    }

    /// Bytes as the document has them are read, and written.
    @Test func aFileIsAsTheDocumentHasIt() throws {
        var sample = try Sample(eventCount: 9, authorCountMax: 64, interval: 9)
        let lineage = try sample.store[sample.space].status().manifest.lineage
        let key: [UInt8] = Array(0...15)
        let entries = (1...64).map { (key: UInt64($0) << 50, author: UInt64($0 % 3)) }
        let bytes = Self.file(lineage, 1...9, key, rules: 7, entries)
        try sample.log.disk.makeDirectory(sample.folder)
        let name = "0000000000000001-0000000000000009.daut"
        try sample.write(bytes, to: sample.folder + "/" + name)
        var index = try sample.open()
        #expect(index.end == 9)
        for entry in entries { #expect(try index.author(of: entry.key) == entry.author) }
        #expect(try index.author(of: 77) == nil)
        // The key of the file is that of the published vector.
        let text = Array(1..<15 as Range<UInt8>)
        let hash = index.keys.key(text.span, kind: -1)
        #expect(hash == 0xa129_ca61_49be_45e5)

        index = try sample.open(rules: 8)
        for position in 1...9 {
            let some = entries.dropFirst(8 * (position - 1)).prefix(position == 9 ? 0 : 8)
            try sample.add(some.map { .init(key: $0.key, author: $0.author) }, to: &index)
        }
        var written = try sample.files()
        #expect(written.count == 1)
        let first = written.popFirst()
        let own = try #require(first)
        // Once 64 entries are there, they are written.
        #expect(own.key.hasSuffix("/0000000000000001-0000000000000008.daut"))
        let drawn = Array(own.value[48..<64])
        #expect(own.value == Self.file(lineage, 1...8, drawn, rules: 8, entries))
    }

    private static func file(
        _ lineage: Lineage,
        _ positions: ClosedRange<UInt64>,
        _ key: [UInt8],
        rules: UInt64,
        _ entries: [(key: UInt64, author: UInt64)]
    ) -> [UInt8] {
        func number(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(value >> (8 * $0) & 255) } }
        func checked(_ bytes: [UInt8]) -> [UInt8] {
            bytes + number(UInt64(Checksum.crc32c(bytes.span.raw))).prefix(4)
        }
        var head = Array("daut".utf8) + [1, 0, 0, 0] + number(0)
        head += number(lineage.high) + number(lineage.low)
        head += number(positions.lowerBound) + number(positions.upperBound) + key
        head += number(rules) + number(UInt64(entries.count)) + Array(repeating: 0, count: 12)
        var file = checked(head)
        var fences: [UInt8] = []
        for start in stride(from: 0, to: entries.count, by: 63) {
            let block = entries[start..<min(start + 63, entries.count)]
            let bytes = block.flatMap { number($0.key) + number($0.author) }
            file += checked(bytes + Array(repeating: 0, count: 1020 - bytes.count))
            fences += number(block[start].key)
        }
        return file + checked(fences)
    }
}
