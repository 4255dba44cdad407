/// The lock that says who may write in a data directory.
///
/// It excludes other processes and other `DirectoryLock`s of this process alike. It is released
/// when its holder dies. To acquire it while it is held through this very object, or to release it
/// while it is not, is a mistake of the caller and traps.
package protocol DirectoryLock: AnyObject, Sendable {
    /// Waits up to `waitSeconds` for the lock, then throws `.locked` with its owner.
    func acquire(waitSeconds: Int) throws(StorageError)
    /// Takes the lock if nobody has it; false if somebody has.
    func tryAcquire() throws(StorageError) -> Bool
    func release()
    /// Whether nobody has held the lock since this object did; only while held.
    var wasLastHolder: Bool { get }
    /// A number that survives between holders, but no power cut; 0 at first. Only while held.
    var note: UInt64 { get throws(StorageError) }
    /// Sets the number; only while held.
    func setNote(_ value: UInt64) throws(StorageError)
}

// The lock file, 16 bytes, little-endian:
//
// offset | size | meaning
// -------+------+--------------------------------------------------------------
//      0 |    4 | process id of the last holder, 0 if none
//      4 |    4 | a number that the last holder drew, which tells it from others of its process
//      8 |    8 | the note
//
// It is never synced, and a file of another length reads as zeros where it ends: nothing in it is
// needed after a power cut.

/// What a lock file holds.
struct LockRecord: Hashable, Sendable {
    static let size = 16
    static let noteOffset = 8

    var owner: Int32 = 0
    var token: UInt32 = 0
    var note: UInt64 = 0

    init() {}

    init(bytes: [UInt8]) {
        for (index, byte) in bytes.prefix(4).enumerated() {
            owner |= Int32(truncatingIfNeeded: UInt32(byte) << UInt32(8 * index))
        }
        for (index, byte) in bytes.dropFirst(4).prefix(4).enumerated() {
            token |= UInt32(byte) << UInt32(8 * index)
        }
        for (index, byte) in bytes.dropFirst(Self.noteOffset).prefix(8).enumerated() {
            note |= UInt64(byte) << UInt64(8 * index)
        }
    }

    var ownerBytes: [UInt8] {
        let both = UInt64(token) << 32 | UInt64(UInt32(bitPattern: owner))
        return (0..<8).map { UInt8(truncatingIfNeeded: both >> (8 * $0)) }
    }

    var noteBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: note >> (8 * $0)) } }
}
