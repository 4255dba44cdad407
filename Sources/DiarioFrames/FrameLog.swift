package import DiarioCore
package import DiarioStorage

/// The place of a frame.
package struct FramePlace: Hashable, Sendable {
    package let file: UInt64
    /// Of the file, so that a later use of it is told from this one.
    package let generation: UInt64
    package let offset: Int
}

/// A file of the log, as far as its frames are known.
package struct LogFileState: Sendable {
    package let number: UInt64
    let generation: UInt64
    /// The end of its last known frame.
    package internal(set) var length: Int
}

/// The bounds of frames and their files.
package struct FrameSizes: Hashable, Sendable {
    /// Bytes of the records of one frame.
    package var frameMax: Int
    /// Bytes of one file.
    package var fileMax: Int
    /// Bytes of zeros that are written ahead of the end of a file, at least and at most.
    package var growthMin: Int
    package var growthMax: Int

    package init(frameMax: Int, fileMax: Int, growthMin: Int, growthMax: Int) {
        self.frameMax = frameMax
        self.fileMax = fileMax
        self.growthMin = growthMin
        self.growthMax = growthMax
    }
}

/// The files and frames of the write-ahead log; it does not know what the records mean.
///
/// Used by one thread at a time, under the directory's lock. The rules F1 to F3 of
/// schema/format/frames.md, are kept here.
package struct FrameLog: ~Copyable {
    let directory: any LogDirectory
    private let time: any TimeSource
    private let entropy: any EntropySource
    private let sizes: FrameSizes
    /// Nil for a log that is only read.
    let lock: (any DirectoryLock)?
    /// Oldest first; frames are appended to the last one.
    package internal(set) var files: [LogFileState] = []
    /// The numbers of all files, as `recover` found them; nil without their folder.
    var listed: [UInt64]?
    /// The newest file, open; nil before the first frame and for a reader of an empty log.
    var newest: (any LogFile)?
    var nextFrame: UInt64 = 1
    /// The start of the last frame of the newest file; nil if there is none.
    var lastOffset: Int?
    /// The number of the first file, while there is none with frames.
    var firstNumber: UInt64 = 1
    /// The length up to which the newest file is known to be synced.
    var syncedLength = 0
    /// The newest file's size on disk: zeros or an older use follow its frames.
    var allocatedSize = 0
    /// Why nothing more is taken.
    package internal(set) var stopped: StorageError?
    /// The number of oldest files without live bytes, which may be used again.
    package internal(set) var spareCount = 0

    package init(
        _ directory: any LogDirectory,
        lock: (any DirectoryLock)?,
        time: any TimeSource,
        entropy: any EntropySource,
        sizes: FrameSizes
    ) {
        self.directory = directory
        self.lock = lock
        self.time = time
        self.entropy = entropy
        self.sizes = sizes
    }

    // MARK: Appending

    /// Writes a frame and syncs it; where it lies.
    ///
    /// `frame` holds room for the header and then the records; it is completed in place. When this
    /// throws, the frame counts as never written; after `.storage(.full)` the log takes later ones.
    package mutating func append(
        _ frame: inout [UInt8],
        recordCount: Int
    ) throws(FrameError) -> FramePlace {
        if let stopped { throw .stopped(stopped) }
        let bodySize = frame.count - FrameHeader.size
        // A reader refuses it, so it must never be on disk.
        guard bodySize <= sizes.frameMax else {
            throw .tooLarge(byteCount: bodySize, byteCountMax: sizes.frameMax)
        }
        let frameSize = FrameHeader.frameSize(body: bodySize)
        frame.append(repeating: 0, count: frameSize - frame.count)
        if newest == nil || length + frameSize > sizes.fileMax {
            try beginFile(previousLength: syncedLength)
        }
        if let failure = try allocate(length + frameSize) {
            try leaveFile(after: failure, frameSize)
        }
        let header = FrameHeader(
            generation: files[files.count - 1].generation,
            number: nextFrame,
            durableBefore: UInt64(syncedLength),
            bodySize: bodySize,
            recordCount: recordCount
        )
        header.seal(&frame)
        guard let file = newest else { preconditionFailure("a file was begun above") }
        let place = nextPlace
        do { try file.write(frame.span, at: Int64(length)) } catch {
            // A full disk leaves the file good; what was written lies beyond its end.
            if case .full = error { throw .storage(error) }
            return try relocate(&frame, header, after: error)
        }
        do { try file.sync() } catch { return try relocate(&frame, header, after: error) }
        // After the sync: what is removed from now on was there when it was acknowledged.
        do { try file.checkName() } catch { try stop(after: error, refusing: place) }
        return note(frame.count, at: place)
    }

    /// Notes a frame that is on disk.
    private mutating func note(_ frameSize: Int, at place: FramePlace) -> FramePlace {
        lastOffset = place.offset
        files[files.count - 1].length += frameSize
        nextFrame += 1
        syncedLength = length
        return place
    }

    /// Takes no more, and sees to it that the frame at `place`, which is refused, is not read here.
    private mutating func stop(
        after cause: StorageError,
        refusing place: FramePlace
    ) throws(FrameError) {
        let zeros = [UInt8](repeating: 0, count: FrameHeader.size)
        try? newest?.write(zeros.span, at: Int64(place.offset))
        stopped = cause
        throw .stopped(cause)
    }

    /// The end of the frames of the newest file.
    private var length: Int { files.last?.length ?? 0 }

    private var nextPlace: FramePlace {
        let state = files[files.count - 1]
        return FramePlace(file: state.number, generation: state.generation, offset: length)
    }

    /// Makes sure that the newest file has `size` bytes on disk, by writing zeros ahead of its end.
    ///
    /// They are synced, so that syncing a frame never waits for the file's size or its blocks to
    /// get to the disk, and a full disk is noticed here. Gives the reason if that sync fails.
    private mutating func allocate(_ size: Int) throws(FrameError) -> StorageError? {
        guard size > allocatedSize, let newest else { return nil }
        let growth = min(max(allocatedSize, sizes.growthMin), sizes.growthMax)
        let target = min(max(size, allocatedSize + growth), sizes.fileMax)
        let zeros = [UInt8](repeating: 0, count: sizes.growthMin)
        var offset = allocatedSize
        do {
            while offset < target {
                let count = min(zeros.count, target - offset)
                try newest.write(zeros.span.extracting(0..<count), at: Int64(offset))
                offset += count
            }
        } catch {
            // The zeros written so far may do for this frame; a later one tries again.
            guard size <= offset, error != .cut else { throw .storage(error) }
        }
        do { try newest.sync() } catch {
            switch error {
            case .cut, .full: throw .storage(error)
            default: return error
            }
        }
        allocatedSize = offset
        return nil
    }

    /// Continues in a new file, since after a failed sync the bytes of the newest one after its
    /// frames are unknown for ever.
    private mutating func leaveFile(
        after failure: StorageError,
        _ frameSize: Int
    ) throws(FrameError) {
        try beginFileWithReserve(previousLength: syncedLength)
        if try allocate(length + frameSize) != nil {
            stopped = failure
            throw .stopped(failure)
        }
    }

    // MARK: Files

    /// Lets the oldest `count` files be used again; the caller copied forward what they held.
    package mutating func recycle(_ count: Int) {
        precondition(count < max(1, files.count), "the newest file is never recycled")
        spareCount = max(spareCount, count)
    }

    /// Removes files that may be used again, the oldest first, as long as the log has more bytes.
    ///
    /// A file that cannot be removed stays a spare; it does no harm.
    package mutating func removeSpares(beyond sizeMax: Int) {
        var size = spareCount * sizes.fileMax
        size += files.dropFirst(spareCount).reduce(0) { $0 + $1.length }
        while spareCount > 0, size > sizeMax {
            do throws(StorageError) {
                try directory.remove(FramePaths.file(files[0].number))
            } catch .notFound {
                // Another process removed it.
            } catch {
                return
            }
            files.removeFirst()
            spareCount -= 1
            size -= sizes.fileMax
        }
    }

    /// Begins the next file: header and name are on disk when this returns (F3).
    private mutating func beginFile(previousLength: Int) throws(FrameError) {
        let number = files.last.map { $0.number + 1 } ?? firstNumber
        let header = LogFileHeader(
            number: number,
            generation: drawGeneration(),
            previousGeneration: files.last?.generation ?? 0,
            previousLength: UInt64(files.isEmpty ? 0 : previousLength),
            firstFrame: nextFrame,
            begunMilliseconds: time.now.milliseconds
        )
        let path = FramePaths.file(number)
        let usesSpare = spareCount > 0
        do {
            if !usesSpare { try directory.prepare(files: 1) }
            // Before the file exists: a process that does not see it would continue in the one
            // before, beyond the length that this header states. A false announcement only costs
            // the others a check.
            try lock?.setNote(number)
            if usesSpare {
                do throws(StorageError) {
                    try directory.rename(FramePaths.file(files[0].number), to: path)
                } catch .notFound {
                    // Another process removed it meanwhile, and then there is a new file.
                }
                files.removeFirst()
                spareCount -= 1
                // Or a power cut may leave the new header under the old name.
                try directory.syncDirectory(FramePaths.folder)
            }
            let file = try directory.open(path, .create)
            try file.write(header.encoded().span, at: 0)
            try file.sync()
            try directory.syncDirectory(FramePaths.folder)
            allocatedSize = Int(clamping: try file.size())
            newest = file
        } catch {
            throw .storage(error)
        }
        files.append(
            LogFileState(number: number, generation: header.generation, length: LogFileHeader.size)
        )
        syncedLength = LogFileHeader.size
        lastOffset = nil
    }

    private func drawGeneration() -> UInt64 {
        while true {
            let generation = entropy.next()
            if generation != 0 { return generation }
        }
    }

    /// Writes a frame that may or may not be on disk to a new file, and syncs it there; gives its
    /// place.
    ///
    /// Its state in the old file is unknown for ever; the new file's header says that the old one
    /// ends before it.
    private mutating func relocate(
        _ frame: inout [UInt8],
        _ header: FrameHeader,
        after cause: StorageError
    ) throws(FrameError) -> FramePlace {
        if case .cut = cause { throw .storage(cause) }
        do {
            try beginFileWithReserve(previousLength: syncedLength)
            guard let newest else { preconditionFailure("a file was begun above") }
            try allocateWithReserve(LogFileHeader.size + frame.count)
            var moved = header
            moved.generation = files[files.count - 1].generation
            moved.durableBefore = UInt64(LogFileHeader.size)
            moved.seal(&frame)
            let place = nextPlace
            try storing { () throws(StorageError) in
                try newest.write(frame.span, at: Int64(place.offset))
                try newest.sync()
            }
            return note(frame.count, at: place)
        } catch {
            if case .storage(.cut) = error { throw error }
            stopped = cause
            throw .stopped(cause)
        }
    }

    private mutating func beginFileWithReserve(previousLength: Int) throws(FrameError) {
        do { try beginFile(previousLength: previousLength) } catch {
            guard case .storage(.full) = error, Reserve.release(in: directory) else { throw error }
            try beginFile(previousLength: previousLength)
        }
    }

    private mutating func allocateWithReserve(_ size: Int) throws(FrameError) {
        var failure: StorageError?
        do { failure = try allocate(size) } catch {
            guard case .storage(.full) = error, Reserve.release(in: directory) else { throw error }
            failure = try allocate(size)
        }
        if let failure { throw .storage(failure) }
    }
}
