import DiarioStorage

extension LogRepair {
    /// Takes away what a replica remembers of its server where it is damaged: no event depends on
    /// it, and nobody can tell any more what it said.
    mutating func mendRemotes() throws(LogError) {
        let directory = directory
        for space in try spaces() {
            for fault in try LogStore.remoteFaults(of: space, in: directory) {
                let isRemote = fault.file == LogPaths.remote(space)
                report.found(
                    fault,
                    isRemote
                        ? "it is set aside; say with `diario remote set` again where the server is"
                        : "it is taken away; the next sync writes it anew"
                )
                try setAside.keep(fault.file, because: fault.what)
                try storing { () throws(StorageError) in
                    try directory.remove(fault.file)
                    try directory.syncDirectory(LogPaths.space(space))
                }
            }
        }
    }
}
