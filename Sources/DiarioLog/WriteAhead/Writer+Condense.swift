import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

extension Writer {
    /// Writes condensed blocks in place of the rows that they are made of; those of which some are
    /// not live any more, or were copied meanwhile, are left out.
    mutating func append(
        _ blocks: [CondensedRows],
        of bytes: Span<UInt8>
    ) throws(LogError) {
        try begin()
        defer { end() }
        try syncPrevious()
        // Before, because an older program cannot read what follows.
        try DirectoryFormat.upgrade(to: DirectoryFormat.condensed, in: store.directory)
        beginFrame()
        for block in blocks
        where store.index.withLock({ $0.holds(block.replaced, of: block.space) }) {
            try makeRoom(Record.headerSize + block.bytes.count)
            Record.append(.rows, block.space, to: &frame) { frame in
                frame.append(contentsOf: bytes.raw.extracting(block.bytes))
            }
            recordCount += 1
        }
        try finishFrame(isSynced: true)
        recycle()
        try copyForward()
    }
}

extension LogIndex {
    /// Whether these runs are what a space has at their positions.
    fileprivate func holds(_ runs: [Run], of space: SpaceID) -> Bool {
        guard let first = runs.first else { return false }
        let held = self[space].canonical
        let start = held.firstIndex(endingFrom: first.first)
        return held.runs[start...].starts(with: runs)
    }
}
