package import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Rows that the write-ahead log has no room for wait in row files until their run is sealed.
//
// A row file is on disk before the log says that rows are in it, and is removed when the log says
// so of none. A crash leaves files that the log does not speak of, which go in the same way.
extension LogStore {
    /// Moves rows of a space to a row file; the number of blocks that were made.
    ///
    /// When it returns, they are durable; when it throws, every event is where it was, or in a row
    /// file. Does nothing while another process moves rows.
    package func condense(_ space: SpaceID) throws(LogError) -> Int {
        guard access == .readWrite else { throw .readOnly }
        return try changingRowFiles { () throws(LogError) in
            var condenser = try Condenser(shared)
            try condenser.add(space)
            let count = condenser.blocks.count
            try write(&condenser)
            return count
        } ?? 0
    }

    /// Runs `body` as the one who changes row files, and removes those that are not needed then;
    /// nil if another process is at it.
    func changingRowFiles<Value>(
        _ body: () throws(LogError) -> Value
    ) throws(LogError) -> Value? {
        let directory = shared.directory
        let lock = try storing { () throws(StorageError) in
            try directory.lock(LogPaths.rowsLock)
        }
        guard try storing({ () throws(StorageError) in try lock.tryAcquire() }) else { return nil }
        defer { lock.release() }
        // What others moved before: from now on only this process does.
        try sync()
        let value = try body()
        try gatherRowFiles()
        return value
    }

    /// Removes row files if there are some that are not needed.
    func tidyRowFiles() throws(LogError) {
        do throws(LogError) {
            let directory = shared.directory
            let files = try storing { () throws(StorageError) in try RowFile.list(directory) }
            guard !files.isEmpty else { return }
            let needed = shared.index.withLock { $0.rowFiles }
            guard files.contains(where: { needed[$0] == nil }) else { return }
            _ = try changingRowFiles { () throws(LogError) in }
        } catch {
            if case .closed = error { throw error }
            shared.sealing.note(failure: error)
        }
    }

    /// Writes a row file, and says in the log what is in it.
    func write(_ condenser: inout Condenser) throws(LogError) {
        let blocks = condenser.blocks
        guard !blocks.isEmpty else { return }
        let directory = shared.directory
        let number = try drawRowFile()
        let bytes = condenser.finishFile(number: number)
        try storing { () throws(StorageError) in
            try directory.makeDirectoryDurably(LogPaths.rows)
            let file = try directory.open(LogPaths.rowFile(number), .createNew)
            try file.write(bytes.span, at: 0)
            try file.sync()
            try directory.syncDirectory(LogPaths.rows)
        }
        try withWriter { (writer) throws(LogError) in try writer.move(blocks, to: number) }
    }

    /// A number that no row file has, and hardly one had: somebody may still look for that.
    private func drawRowFile() throws(LogError) -> UInt32 {
        while true {
            let number = UInt32(truncatingIfNeeded: shared.entropy.next())
            let path = LogPaths.rowFile(number)
            let isUsed = try storing { () throws(StorageError) in
                try shared.directory.exists(path)
            }
            if number > 0, !isUsed { return number }
        }
    }

    /// Removes row files of which the log needs nothing; where too little is needed of what there
    /// is, the blocks of those that are mostly empty are put together first.
    private func gatherRowFiles() throws(LogError) {
        let live = shared.index.withLock { $0.rowFiles }
        let directory = shared.directory
        var sizes: [UInt32: Int] = [:]
        try storing { () throws(StorageError) in
            for number in try RowFile.list(directory) where live[number] != nil {
                sizes[number] = try directory.open(LogPaths.rowFile(number), .read).size()
            }
        }
        let needed = live.values.reduce(0, +)
        if sizes.values.reduce(0, +) > max(shared.sizes.quietMax, 2 * needed) {
            try copyBlocks(of: Set(sizes.filter { live[$0.key, default: 0] < $0.value / 2 }.keys))
        }
        let kept = shared.index.withLock { $0.rowFiles }
        try storing { () throws(StorageError) in
            for number in try RowFile.list(directory) where kept[number] == nil {
                try directory.remove(LogPaths.rowFile(number))
                shared.files.remove(.rows(number))
            }
        }
    }

    private func copyBlocks(of files: Set<UInt32>) throws(LogError) {
        var condenser = try Condenser(shared)
        let spaces = shared.index.withLock { $0.spaces(in: files) }
        for space in spaces {
            let runs = shared.index.withLock { $0[space].canonical.runs }
            for run in runs where run.isMoved && files.contains(run.moved.file) {
                try condenser.copy(run, of: space)
                if condenser.isFull { try write(&condenser) }
            }
        }
        try write(&condenser)
    }
}

extension LogIndex {
    /// The row files that the log speaks of, and the bytes of their blocks that are needed.
    fileprivate var rowFiles: [UInt32: Int] {
        var files: [UInt32: Int] = [:]
        spaces.forEach { _, space in
            for run in space.canonical.runs where run.isMoved {
                files[run.moved.file, default: 0] += Int(run.blockSize)
            }
        }
        return files
    }

    /// The spaces with rows in one of these row files, in order.
    fileprivate func spaces(in files: Set<UInt32>) -> [SpaceID] {
        var found: [SpaceID] = []
        spaces.forEach { id, space in
            let isThere = space.canonical.runs.contains {
                $0.isMoved && files.contains($0.moved.file)
            }
            if isThere { found.append(id) }
        }
        return found.sorted()
    }

    /// Takes up the blocks of all row files, whatever the log says of them.
    mutating func takeUpRowFiles(in directory: any LogDirectory) throws(LogError) {
        let numbers = try storing { () throws(StorageError) in try RowFile.list(directory) }
        for number in numbers {
            let bytes = try storing { () throws(StorageError) in
                try directory.contents(of: LogPaths.rowFile(number), sizeMax: RowFile.sizeMax)
            }
            for entry in RowFile.entries(bytes, number: number) {
                do throws(FormatError) {
                    let block = entry.block.span
                    let summary = try BlockSummary.parseStored(block, verifyChecksum: false)
                    let place = BlockPlace(
                        file: 0,
                        offset: entry.offset,
                        size: entry.block.count,
                        isCondensed: true,
                        rowFile: number
                    )
                    try apply(
                        block,
                        summary,
                        of: entry.space,
                        at: place,
                        facts: EngineReader.Facts()
                    )
                } catch {
                    // Repair takes what it can.
                    continue
                }
            }
        }
    }
}
