/// The lock that says who may write in a data directory: a guard apart from its files and names.
///
/// It excludes other processes and other `DirectoryLock`s of this process alike. It is released
/// when its holder dies. To acquire it while it is held through this very object, or to release it
/// while it is not, is a mistake of the caller and traps.
package protocol DirectoryLock: AnyObject, Sendable {
    /// Waits up to `waitSeconds` for the lock; after that it throws `.locked` with its owner.
    func acquire(waitSeconds: Int) throws(StorageError)
    func release()
    /// Whether nobody has held the lock since this object did; only while held.
    var wasLastHolder: Bool { get }
    /// Whether this object held the lock last, or holds it; at any time, and false if unsure.
    var isOurs: Bool { get }
    /// A number that survives between holders, but no power cut; 0 at first. Only while held.
    var note: UInt64 { get throws(StorageError) }
    /// Sets the number; only while held.
    func setNote(_ value: UInt64) throws(StorageError)
}

// The lock file of POSIX, 16 bytes, little-endian:
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
    static let noteOffset = 8

    var owner: Int32 = 0
    var token: UInt32 = 0
    var note: UInt64 = 0

    /// The record that lies in a file as these two numbers.
    init(words: (UInt64, UInt64)) {
        let first = UInt64(littleEndian: words.0)
        owner = Int32(truncatingIfNeeded: first)
        token = UInt32(truncatingIfNeeded: first >> 32)
        note = UInt64(littleEndian: words.1)
    }

    var ownerBytes: [UInt8] {
        Self.bytes(of: UInt64(token) << 32 | UInt64(UInt32(bitPattern: owner)))
    }
    var noteBytes: [UInt8] { Self.bytes(of: note) }

    private static func bytes(of value: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }
}
