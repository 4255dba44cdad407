/// How a file is opened.
package enum FileAccess: Sendable {
    /// Reading only; the file must be there.
    case read
    /// Reading and writing; the file must be there.
    case readWrite
    /// Reading and writing; the file is made if it is not there.
    case create
    /// Reading and writing; the file must not be there yet.
    case createNew
    /// The same, for a file that nobody but its owner may read.
    case createPrivate

    /// Whether the file must not be there yet.
    var isExclusive: Bool { self == .createNew || self == .createPrivate }
}

/// Tells a file from its copies: a copy or a restored backup has another inode or time of birth.
package struct FileIdentity: Hashable, Sendable {
    package let inode: UInt64
    /// When the file was made, in nanoseconds since 1970; 0 where the file system does not say.
    package let birthNanoseconds: Int64

    package init(inode: UInt64, birthNanoseconds: Int64) {
        self.inode = inode
        self.birthNanoseconds = birthNanoseconds
    }
}

/// A file of a data directory, read and written at offsets; closed when its last reference goes.
///
/// May be used from several threads at once: no operation has a position of its own. What two
/// writers do to the same bytes at the same time is undefined.
package protocol LogFile: AnyObject, Sendable {
    /// The file's length in bytes now, whoever changed it.
    func size() throws(StorageError) -> Int
    /// Appends `count` bytes from `offset` on to `bytes`; fewer only at the end of the file.
    ///
    /// When it throws, `bytes` is as it was.
    func read(at offset: Int, count: Int, into bytes: inout [UInt8]) throws(StorageError)
    /// Writes all of `bytes` at `offset`; a gap before `offset` reads as zeros.
    ///
    /// When it throws, any part of `bytes` may have been written.
    func write(_ bytes: Span<UInt8>, at offset: Int) throws(StorageError)
    /// Makes the file `size` bytes long, cutting it or filling it up with zeros.
    func truncate(to size: Int) throws(StorageError)
    /// Makes every byte written so far, by anyone, survive a power cut.
    ///
    /// Allowed on a file opened for reading. When it throws, nothing written since the last
    /// success may be trusted to be on disk, even if a later call succeeds.
    func sync() throws(StorageError)
    var identity: FileIdentity { get throws(StorageError) }
    /// Throws `.removed` if no name leads to the file any more: what is written to it is gone with
    /// the last who has it open.
    func checkName() throws(StorageError)
}

extension LogFile {
    /// Of files that nobody else can get at.
    package func checkName() throws(StorageError) {}
}
