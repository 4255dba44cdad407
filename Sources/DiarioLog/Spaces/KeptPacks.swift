import DiarioCore
package import DiarioCrypto
import DiarioFormat
package import DiarioSchema
import DiarioStorage
import Synchronization

/// Packs of a data directory that were read: all spaces that adopted one have the same.
final class KeptPacks: Sendable {
    private let packs = Mutex<[Hash32: Pack]>([:])

    /// More than a directory has; beyond it, all are read again.
    private static let countMax = 64

    subscript(fingerprint: Hash32) -> Pack? { packs.withLock { $0[fingerprint] } }

    func remember(_ read: [Hash32: Pack]) {
        packs.withLock { packs in
            if packs.count + read.count > Self.countMax { packs.removeAll() }
            for (fingerprint, pack) in read { packs[fingerprint] = pack }
        }
    }
}

extension LogShared {
    /// A pack that was kept, which is read once; or what this program finds wrong with it.
    func pack(_ fingerprint: Hash32) throws(LogError) -> Result<Pack, PackError> {
        if let known = packs[fingerprint] { return .success(known) }
        let files = try LogStore.packFiles(fingerprint, in: directory)
        do throws(PackError) {
            let pack = try Pack(files: files)
            packs.remember([fingerprint: pack])
            return .success(pack)
        } catch {
            return .failure(error)
        }
    }
}

extension LogStore {
    /// A pack that was kept, which is read once for all spaces.
    package func pack(_ fingerprint: Hash32) throws(LogError) -> Pack {
        func fault(_ what: String) -> LogError {
            .corrupt(Fault(file: LogPaths.pack(fingerprint), offset: 0, what: what))
        }
        let found: Result<Pack, PackError>
        do throws(LogError) { found = try shared.pack(fingerprint) } catch .storage(.notFound) {
            throw fault("the pack is missing")
        }
        switch found {
        case .success(let pack): return pack
        case .failure(let error):
            let problem = error.problems.first?.description ?? "unknown"
            throw fault("the pack cannot be read: \(problem)")
        }
    }

    /// Takes packs that somebody read while the log was being opened.
    package func remember(_ packs: [Hash32: Pack]) { shared.packs.remember(packs) }
}
