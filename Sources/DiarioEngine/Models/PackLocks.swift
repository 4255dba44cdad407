import DiarioCore
import DiarioStorage

/// The locks of those who change live read models, one for each pack.
struct PackLocks {
    /// By pack; opened when something is to be changed for the first time.
    private var known: [String: any DirectoryLock] = [:]
    private var held: [any DirectoryLock] = []

    /// Acquires the locks of these packs; gives those that another process has held since.
    mutating func acquire(
        _ packs: [String],
        in place: any ModelPlace,
        until stop: BuildStop
    ) throws(DiarioError) -> [String] {
        var changed: [String] = []
        do throws(DiarioError) {
            // In one order everywhere, so that there is no deadlock.
            for pack in Set(packs).sorted() {
                let lock = try lock(of: pack, in: place)
                try stop.acquire(lock)
                held.append(lock)
                if !lock.wasLastHolder { changed.append(pack) }
            }
        } catch {
            release()
            throw error
        }
        return changed
    }

    mutating func release() {
        for lock in held { lock.release() }
        held = []
    }

    private mutating func lock(
        of pack: String,
        in place: any ModelPlace
    ) throws(DiarioError) -> any DirectoryLock {
        if let lock = known[pack] { return lock }
        let lock: any DirectoryLock
        do { lock = try place.lock(of: pack) } catch { throw DiarioError(error) }
        known[pack] = lock
        return lock
    }
}
