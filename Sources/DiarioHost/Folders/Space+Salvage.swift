package import DiarioCore
package import DiarioCrypto
package import DiarioEngine
import DiarioFormat
import DiarioLog
package import DiarioSchema
package import DiarioStorage

extension Space {
    /// Writes all that verifies of the folder at `path` into a new one at `target`.
    ///
    /// Nothing is changed at `path`. The new folder is there whole or not at all; `finish` may add
    /// files to its `.diario` before, and say what is wrong with them. Packs that are damaged are
    /// taken from those that come with the program, and from `packs`. `progress` is told how many
    /// events were written.
    package static func salvage(
        at path: String,
        to target: String,
        packs own: [Pack] = [],
        progress: (UInt64) -> Void = { _ in },
        finish: (POSIXDirectory, POSIXDirectory) throws -> Fault? = { _, _ in nil }
    ) throws -> SalvageReport {
        let source = try openForSalvage(path)
        let folder = try POSIXDirectory(path: target, access: .create)
        guard try folder.list("").isEmpty else { throw DiarioError(StorageError.exists(target)) }
        let draft = try SpaceDraft(at: target)
        do {
            let directory = try POSIXDirectory(path: draft.path, access: .create)
            try LogStore.create(in: directory)
            let store = try openStore(directory, access: .readWrite, isDraft: true)
            var salvage = try Salvage(source, into: store, packs: fingerprinted(own))
            while try salvage.step(Limits.stepSize) { progress(salvage.eventCount) }
            try store.close()
            var report = salvage.report
            if let fault = try finish(source, directory) { report.faults.append(fault) }
            try draft.finish()
            return report
        } catch {
            draft.discard()
            throw error
        }
    }

    package static func openForSalvage(_ path: String) throws -> POSIXDirectory {
        try POSIXDirectory(path: path + "/" + LogPaths.directoryName, access: .read)
    }

    /// These packs and those that come with the program, as they are kept.
    package static func fingerprinted(_ own: [Pack]) throws -> [Hash32: [PackFile]] {
        var packs: [Hash32: [PackFile]] = [:]
        for pack in try PackSource.builtIn() + [PackSource.engine()] + own {
            packs[Fingerprint.pack(pack.files)] = pack.fingerprintFiles
        }
        return packs
    }
}
