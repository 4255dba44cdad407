import DiarioCore
package import DiarioCrypto
package import DiarioEngine
import DiarioFormat
package import DiarioLog
package import DiarioSchema
package import DiarioStorage

extension Space {
    /// Writes all that verifies of the folder at `path` into a new one at `target`.
    ///
    /// Nothing is changed at `path`. The new folder is there whole or not at all; `finish` may add
    /// files to its `.diario` before. Packs that are damaged are taken from those that come with
    /// the program, and from `packs`. `progress` is told how many events were written.
    package static func salvage(
        at path: String,
        to target: String,
        packs own: [Pack] = [],
        progress: (UInt64) -> Void = { _ in },
        finish: (POSIXDirectory, POSIXDirectory) throws(DiarioError) -> Void = { _, _ in }
    ) throws(DiarioError) -> SalvageReport {
        let source = try openForSalvage(path)
        do throws(StorageError) {
            let folder = try POSIXDirectory(path: target, access: .create)
            guard try folder.list("").isEmpty else { throw .exists(target) }
        } catch {
            throw DiarioError(error)
        }
        let draft = try SpaceDraft(at: target)
        do throws(DiarioError) {
            let directory: POSIXDirectory
            do throws(StorageError) {
                directory = try POSIXDirectory(path: draft.path, access: .create)
            } catch {
                throw DiarioError(error)
            }
            try logging { () throws(LogError) in try LogStore.create(in: directory) }
            let store = try openStore(directory, access: .readWrite, isDraft: true)
            let packs = try fingerprinted(own)
            var salvage = try logging { () throws(LogError) in
                try Salvage(source, into: store, packs: packs)
            }
            do throws(LogError) {
                while try salvage.step(Limits.stepSize) { progress(salvage.eventCount) }
                try store.close()
            } catch {
                throw DiarioError(error)
            }
            let report = salvage.report
            try finish(source, directory)
            try draft.finish()
            return report
        } catch {
            draft.discard()
            throw error
        }
    }

    package static func openForSalvage(_ path: String) throws(DiarioError) -> POSIXDirectory {
        do throws(StorageError) {
            return try POSIXDirectory(path: path + "/" + LogPaths.directoryName, access: .read)
        } catch {
            throw DiarioError(error)
        }
    }

    /// These packs and those that come with the program, as they are kept.
    package static func fingerprinted(_ own: [Pack]) throws(DiarioError) -> [Hash32: [PackFile]] {
        var packs: [Hash32: [PackFile]] = [:]
        for pack in try PackSource.builtIn() + [PackSource.engine()] + own {
            packs[Fingerprint.pack(pack.files)] = pack.fingerprintFiles
        }
        return packs
    }
}
