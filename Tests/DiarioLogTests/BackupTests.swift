import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Backups of a directory that is written to meanwhile.
struct BackupTests {
    private let folder: TemporaryFolder
    private let target: POSIXDirectory
    private let source: SealedLog

    init() throws {
        folder = try TemporaryFolder()
        target = try folder.directory()
        source = try SealedLog()
    }

    /// Makes a whole backup; `meanwhile` runs when most of it is copied.
    @discardableResult
    private func backUp(meanwhile: () throws -> Void = {}) throws -> (copied: Int, kept: Int) {
        let backup = try DirectoryBackup(of: source.log.disk.process(1), to: target)
        return try Self.finish(backup, at: source.log.clock.now, meanwhile) { made, isFresh in
            let copy = try Self.open(made, .readOnly, source.log)
            _ = try copy.checkCopied(isFresh)
            try copy.close()
        }
    }

    /// The same with what it found of damaged blobs.
    private func backUpBlobs() throws -> [Bool] {
        let disk = source.log.disk.process(1)
        var backup = try DirectoryBackup(of: disk, to: target)
        try backup.copyAhead { _, _ in }
        try backup.copyRest(wrapping: { $0 }) { _ throws(LogError) in }
        let damaged = try backup.mendBlobs(drawing: source.log.entropy)
        _ = try backup.checked()
        try backup.publish(with: [], at: source.log.clock.now)
        return damaged.map(\.isKept)
    }

    /// One bad bit stopped every backup, and the good copy went with the remedy that was printed.
    @Test func aDamagedBlobStopsNoBackupAndReplacesNoGoodCopy() throws {
        try fill(0..<20)
        let put = try source.store.blobs.put(isPublic: true, sizeMax: 100)
        try put.write([1, 2, 3, 4].span)
        let id = try put.finish().id
        #expect(try backUpBlobs() == [])
        let disk = source.log.disk.process(1)
        try source.log.disk.flipBit(3, at: 2, of: LogPaths.blob(id))
        // The second time its bytes have lost their name.
        for number in Int64(0)..<2 {
            try fill(20 + number..<21 + number)
            #expect(try backUpBlobs() == [true])
            #expect(try !disk.exists(LogPaths.blob(id)))
            #expect(try open().blobs.findWhole(id)?.size == 4)
            #expect(try open().blobs.damaged().isEmpty)
        }
        // Damage of the backup goes with the next one, once the source has the right bytes again.
        let again = try source.store.blobs.put(isPublic: true, sizeMax: 100)
        try again.write([1, 2, 3, 4].span)
        #expect(try again.finish().id == id)
        try target.open(LogPaths.directoryName + "/" + LogPaths.blob(id), .readWrite)
            .write([9].span, at: 0)
        #expect(try open().blobs.findWhole(id) == nil)
        #expect(try backUpBlobs() == [])
        #expect(try open().blobs.findWhole(id)?.size == 4)
    }

    /// Nobody may have better bytes than the damaged ones.
    @Test func aBlobWithoutAGoodCopyIsKeptAsItIs() throws {
        try fill(0..<20)
        let put = try source.store.blobs.put(isPublic: true, sizeMax: 100)
        try put.write([1, 2, 3, 4].span)
        let id = try put.finish().id
        try source.log.disk.flipBit(3, at: 2, of: LogPaths.blob(id))
        for _ in 0..<2 {
            #expect(try backUpBlobs() == [false])
            #expect(try open().blobs.damaged() == [id])
            #expect(try open().blobs.ids().isEmpty)
        }
    }

    @discardableResult
    private static func finish(
        _ begun: DirectoryBackup,
        at now: Timestamp,
        _ meanwhile: () throws -> Void = {},
        check: (POSIXDirectory, _ isFresh: (String) -> Bool) throws -> Void = { _, _ in }
    ) throws -> (copied: Int, kept: Int) {
        var backup = begun
        try backup.copyAhead { _, _ in }
        try meanwhile()
        try backup.copyRest(wrapping: { $0 }) { _ throws(LogError) in }
        try check(backup.checked(), backup.isFresh)
        try backup.publish(with: [], at: now)
        return (backup.copiedSize, backup.keptSize)
    }

    private func fill(_ numbers: Range<Int64>) throws {
        try source.fill(numbers)
        _ = try source.store.seal(source.space, all: false)
    }

    /// Opens the backup as it lies.
    private func open(_ access: LogStore.Access = .readOnly) throws -> LogStore {
        let directory = try POSIXDirectory(
            path: folder.path + "/" + LogPaths.directoryName,
            access: access == .readOnly ? .read : .readWrite
        )
        return try Self.open(directory, access, source.log)
    }

    private static func open(
        _ directory: POSIXDirectory,
        _ access: LogStore.Access,
        _ log: TestLog
    ) throws -> LogStore {
        try LogStore(
            directory,
            access: access,
            time: log.clock,
            entropy: log.entropy,
            engine: log.kinds.engine,
            types: log.kinds.types
        )
    }

    private func expectSame() throws {
        let copy = try open()
        let (log, space) = (source.log, source.space)
        #expect(copy.fault == nil)
        #expect(try log.numbers(space, in: copy) == log.numbers(space, in: source.store))
        #expect(try copy[space].root() == source.store[space].root())
        #expect(try copy.verify(space) { _ in nil }.faults == [])
    }

    /// What comes between has files of the log used again, sealed and put together.
    @Test(arguments: UInt64(1)..<6) func eachBackupShowsOneMoment(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var next: Int64 = 0
        func more() throws {
            let end = next + 1 + Int64(random.below(200))
            try source.fill(next..<end)
            next = end
            if random.below(2) == 0 { _ = try source.store.seal(source.space, all: false) }
        }
        for _ in 0..<6 {
            try more()
            try backUp { try more() }
            try expectSame()
        }
    }

    @Test func aSecondBackupCopiesWhatIsNew() throws {
        try fill(0..<2000)
        let first = try backUp()
        #expect(first.kept == 0)
        try fill(2000..<2010)
        let second = try backUp()
        #expect(second.kept > 0)
        #expect(second.copied < first.copied)
        try expectSame()
    }

    @Test func whatWasBrokenOffIsGoneOnWith() throws {
        try fill(0..<200)
        try backUp()
        let before = try open()[source.space].root()
        try fill(200..<400)
        do {
            var backup = try DirectoryBackup(of: source.log.disk.process(1), to: target)
            try backup.copyAhead { _, _ in }
        }
        #expect(try open()[source.space].root() == before)
        try backUp()
        try expectSame()
        #expect(try target.list("") == [".diario", ".diario.backup.lock"])
    }

    /// What an early pass copied, and whoever seals removed before the end, was to be synced, and
    /// the backup failed: the file was not there.
    @Test func aFileThatIsGoneBeforeTheEndIsNotMissed() throws {
        try fill(0..<200)
        let name = SegmentName(first: 1, number: 0xdead_bee0)
        let path = LogPaths.segment(name, of: source.space)
        let disk = source.log.disk.process(1)
        try disk.open(path, .createNew).write(Array("left by who died".utf8).span, at: 0)
        try backUp { try disk.remove(path) }
        try expectSame()
        #expect(try !target.exists(LogPaths.directoryName + "/" + path))
    }

    @Test func aFileThatWentBadIsCopiedAnew() throws {
        try fill(0..<200)
        try backUp()
        let segments = ".diario/" + LogPaths.segments(source.space)
        let name = try #require(try target.list(segments).first)
        try target.open(segments + "/" + name, .readWrite).write([1, 2, 3].span, at: 100)
        try backUp()
        try expectSame()
    }

    @Test func whatWasWrittenToIsNotReplaced() throws {
        #expect(try DirectoryBackup.place(target) == .empty)
        try fill(0..<20)
        try backUp()
        #expect(try DirectoryBackup.place(target) == .backup)
        let inside = try POSIXDirectory(path: folder.path + "/.diario", access: .readWrite)
        try BackupFile.remove(from: inside)
        #expect(try DirectoryBackup.place(target) == .other)
    }

    /// Without the folders that nothing was in yet it looked damaged.
    @Test func aDirectoryWithoutSpacesIsBackedUp() throws {
        let empty = try TestLog(seed: 2)
        let backup = try DirectoryBackup(of: empty.disk.process(1), to: target)
        try Self.finish(backup, at: empty.clock.now)
        let copy = try open(.readWrite)
        #expect(copy.fault == nil)
        #expect(try copy.manifests() == [])
        _ = try copy.makeSpace(isAuthority: true)
        #expect(try copy.manifests().count == 1)
    }

    /// A space was there before the log had anything of it, as if its log were gone.
    @Test func aSpaceThatIsBeingMadeIsWholeOrNotThere() throws {
        try fill(0..<20)
        let id = try #require(SpaceID(rawValue: 7))
        let (disk, target) = (source.log.disk, target)
        let store = try source.log.open(
            MeddlingDirectory(
                disk.process(1),
                .init(at: .manifest, 1) {
                    #expect(throws: Never.self) {
                        let backup = try DirectoryBackup(of: disk.process(2), to: target)
                        try Self.finish(backup, at: Timestamp(milliseconds: 1))
                    }
                }
            )
        )
        _ = try store.makeWholeSpace(id)
        try expectWhole([source.space])
        try backUp()
        try expectWhole([source.space, id].sorted())
    }

    /// Nothing of the backup looks damaged, and it has these spaces.
    private func expectWhole(_ spaces: [SpaceID]) throws {
        let copy = try open()
        #expect(try copy.manifests().map(\.space) == spaces)
        for space in spaces {
            try copy[space].checkTail()
            #expect(try copy.verify(space) { _ in nil }.faults == [])
        }
        #expect(copy.fault == nil)
    }

    @Test func twoBackupsAtOnceAreOneTooMany() throws {
        try fill(0..<20)
        let first = try DirectoryBackup(of: source.log.disk.process(1), to: target)
        #expect {
            _ = try DirectoryBackup(of: source.log.disk.process(1), to: target)
        } throws: {
            guard case .storage(.locked)? = $0 as? LogError else { return false }
            return true
        }
        _ = first.copiedSize
    }

    /// A file that a manifest names and that is gone must not replace a backup that has it.
    @Test func aDamagedSourceIsNoBackup() throws {
        try fill(0..<200)
        let segments = LogPaths.segments(source.space)
        let disk = source.log.disk.process(1)
        let name = try #require(try disk.list(segments).first { $0.hasSuffix(".dseg") })
        try disk.remove(segments + "/" + name)
        #expect {
            try backUp()
        } throws: {
            guard case .corrupt? = $0 as? LogError else { return false }
            return true
        }
        #expect(try DirectoryBackup.place(target) == .empty)
    }

    /// The good copy was replaced by the bad one, since only lengths were looked at.
    @Test(arguments: [".dseg", ".dper"], [0.25, 0.75])
    func aSegmentThatWentBadIsNoBackup(ending: String, place: Double) throws {
        try fill(0..<200)
        try backUp()
        let path = try segment(ending)
        let size = try source.log.disk.process(1).open(path, .read).size()
        let offset = Int(Double(size) * place)
        try source.flip(path, at: offset)
        // The second time as well, when an attempt that ended so has left what it copied.
        for _ in 0..<2 {
            #expect {
                try backUp()
            } throws: {
                guard case .corrupt(let fault)? = $0 as? LogError else { return false }
                return fault.file == path
            }
            #expect(try open().verify(source.space) { _ in nil }.faults == [])
        }
        try source.flip(path, at: offset)
        try fill(200..<210)
        try backUp()
        try expectSame()
    }

    /// Whatever its first backup has, a later one keeps.
    @Test func aFirstBackupOfADamagedSourceIsRefused() throws {
        try fill(0..<200)
        try source.flip(try segment(".dper"), at: 40)
        #expect(throws: LogError.self) { try backUp() }
        #expect(try DirectoryBackup.place(target) == .empty)
    }

    @Test func whatIsCopiedIsLookedAt() throws {
        try fill(0..<200)
        let disk = source.log.disk.process(1)
        let folder = LogPaths.space(source.space)
        for path in [folder + "/manifest", folder + "/replica"] {
            let size = Int(try disk.open(path, .read).size())
            try source.flip(path, at: size / 2)
            #expect {
                try backUp()
            } throws: {
                guard case .corrupt(let fault)? = $0 as? LogError else { return false }
                return fault.file == path
            }
            try source.flip(path, at: size / 2)
        }
        try backUp()
        try expectSame()
    }

    /// What an attempt had left stood in for it, and was removed before the end.
    @Test func aManifestThatIsGoneIsNotTheOneOfAnAttempt() throws {
        try fill(0..<20)
        try backUp()
        let disk = source.log.disk.process(1)
        do {
            var backup = try DirectoryBackup(of: disk, to: target)
            try backup.copyAhead { _, _ in }
        }
        try disk.remove(LogPaths.manifest(source.space))
        #expect {
            try backUp()
        } throws: {
            guard case .corrupt(let fault)? = $0 as? LogError else { return false }
            return fault.what == "the file is missing"
        }
        #expect(try open().verify(source.space) { _ in nil }.faults == [])
    }

    /// The path of the first file with this ending.
    private func segment(_ ending: String) throws -> String {
        let folder = LogPaths.segments(source.space)
        let names = try source.log.disk.process(1).list(folder).sorted()
        return folder + "/" + (try #require(names.first { $0.hasSuffix(ending) }))
    }
}
