import DiarioCore
import DiarioStorage
import Synchronization

/// Manifests as they were read, for those who ask with each request.
///
/// A manifest is never written to, but replaced. Its file stays open as long as it is known here,
/// so the file that the name leads to is another one if and only if it was replaced, by whatever
/// process. Bounded: the one that was not used for longest is forgotten first.
final class KnownManifests: Sendable {
    private struct Known: Sendable {
        let manifest: Manifest
        let file: any LogFile
        let identity: FileIdentity
        var lastUse: UInt64
    }

    private struct State: Sendable {
        var known: [SpaceID: Known] = [:]
        var useCount: UInt64 = 0
    }

    /// An eighth of the files that may be open.
    private static let countMax = Limits.openFileCountMax / 8

    private let state = Mutex(State())

    /// The manifest of a space as it is on disk now.
    func manifest(
        of space: SpaceID,
        in directory: any LogDirectory
    ) throws(LogError) -> Manifest {
        let path = LogPaths.manifest(space)
        let known: Known? = state.withLock { state in
            state.useCount += 1
            state.known[space]?.lastUse = state.useCount
            return state.known[space]
        }
        if let known {
            do throws(StorageError) {
                let identity = try directory.open(path, .read).identity
                if identity == known.identity { return known.manifest }
            } catch .notFound {
                // Said below as for any other space that is gone.
            } catch {
                throw .storage(error)
            }
            state.withLock { $0.known[space] = nil }
        }
        let (manifest, file) = try SpaceHome.readManifestFile(space, in: directory)
        let found = try storing { () throws(StorageError) in try file.identity }
        // Without one nobody could tell whether it is still the one that was read.
        guard let identity = found else { return manifest }
        state.withLock { state in
            if state.known.count >= Self.countMax,
                let oldest = state.known.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.known[oldest.key] = nil
            }
            state.known[space] = Known(
                manifest: manifest,
                file: file,
                identity: identity,
                lastUse: state.useCount
            )
        }
        return manifest
    }
}
