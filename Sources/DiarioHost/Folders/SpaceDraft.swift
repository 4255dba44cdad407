import DiarioCore
import DiarioEngine
import DiarioLog
import DiarioStorage

/// The folder in which a space is made, under a name of its own until it is whole.
struct SpaceDraft {
    private let folder: String
    private let root: POSIXDirectory
    private let name: String
    /// Held while the space is made, so that nobody takes its folder for a remain.
    private let lock: any DirectoryLock

    /// The folder in which the space is made.
    var path: String { folder + "/" + name }

    private static let prefix = LogPaths.directoryName + ".new-"
    private static let lockName = "making"

    /// Begins a space in the folder at `folder`, unless there is one.
    init(at folder: String) throws(DiarioError) {
        self.folder = folder
        do throws(StorageError) {
            root = try POSIXDirectory(path: folder, access: .create)
            guard try !root.exists(LogPaths.directoryName) else { throw .exists(folder) }
            (name, lock) = try Self.begin(in: root)
        } catch {
            throw Self.explained(error, folder)
        }
    }

    private static func begin(
        in root: POSIXDirectory
    ) throws(StorageError) -> (String, any DirectoryLock) {
        while true {
            let name = prefix + SpaceID(drawnFrom: SystemEntropy()).text
            try root.makeDirectory(name)
            do throws(StorageError) {
                let lock = try root.lock(name + "/" + lockName)
                if try Files.tryAcquire(lock) {
                    if try root.exists(name + "/" + lockName) { return (name, lock) }
                    lock.release()
                }
            } catch .notFound {
                // Somebody took the folder for a remain just then, and another one is made.
            }
        }
    }

    /// Gives the space its name.
    func finish() throws(DiarioError) {
        do throws(StorageError) {
            do throws(StorageError) {
                try root.rename(name, to: LogPaths.directoryName)
            } catch {
                // The name is not given to two: somebody else was first.
                guard try root.exists(LogPaths.directoryName) else { throw error }
                throw .exists(folder)
            }
            try root.syncDirectory("")
        } catch {
            throw Self.explained(error, folder)
        }
        // Nothing looks for it there any more.
        try? root.remove(LogPaths.directoryName + "/" + Self.lockName)
        lock.release()
        clearRemains()
    }

    /// Removes what was made so far.
    func discard() {
        try? Files.removeTree(name, in: root)
        lock.release()
    }

    /// Removes what processes left that were killed while they made a space.
    private func clearRemains() {
        for name in (try? root.list("")) ?? [] where name.hasPrefix(Self.prefix) {
            // Whoever goes on holds it, and finds that there is a space now.
            guard let lock = try? root.lock(name + "/" + Self.lockName),
                (try? Files.tryAcquire(lock)) == true
            else { continue }
            try? Files.removeTree(name, in: root)
            lock.release()
        }
    }

    private static func explained(_ error: StorageError, _ folder: String) -> DiarioError {
        guard case .exists = error else { return DiarioError(error) }
        return DiarioError(
            .exists,
            "There is a space in \(folder) already. Choose another folder."
        )
    }
}
