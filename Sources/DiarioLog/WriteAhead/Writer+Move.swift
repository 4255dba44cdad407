import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

extension Writer {
    /// Says of rows that they are in a row file from now on, which is on disk; those of which some
    /// are not live any more, or were copied meanwhile, are left out.
    ///
    /// A state goes in front, because the record does not tell who wrote the rows, nor when.
    mutating func move(_ blocks: [CondensedRows], to file: UInt32) throws(LogError) {
        try begin()
        defer { end() }
        try syncPrevious()
        // Before, because an older program cannot read what follows.
        try upgradeFormat(to: DirectoryFormat.moved)
        try dropRemoved(Set(blocks.map(\.space)))
        beginFrame()
        var stated: SpaceID?
        for block in blocks {
            let space = store.index.withLock { $0[block.space] }
            guard space.holds(block.replaced) else { continue }
            let rows = block.moved(to: file)
            if stated != block.space, space.state?.range.size ?? 0 < rows.lastPosition {
                let range = try store.hashes.range(of: block.space, in: store)
                try makeRoom(space.stateSizeMax)
                appendState(of: block.space, range, released: nil)
                stated = block.space
            }
            try makeRoom(MovedRows.recordSize)
            append(rows, of: block.space)
        }
        try finishFrame(isSynced: true)
        recycle()
        try copyForward()
    }
}

extension SpaceIndex {
    /// Whether these runs are what the space has at their positions.
    fileprivate func holds(_ runs: [Run]) -> Bool {
        guard let first = runs.first else { return false }
        let start = canonical.firstIndex(endingFrom: first.first)
        return canonical.runs[start...].starts(with: runs)
    }
}
