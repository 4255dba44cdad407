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

    /// What is written down of a file that nothing tells from others.
    package static let unknown = FileIdentity(inode: 0, birthNanoseconds: 0)

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
    func size() throws(StorageError) -> Int64
    /// Appends `count` bytes from `offset` on to `bytes`; fewer only at the end of the file.
    ///
    /// When it throws, `bytes` is as it was.
    func read(at offset: Int64, count: Int, into bytes: inout [UInt8]) throws(StorageError)
    /// Writes all of `bytes` at `offset`; a gap before `offset` reads as zeros.
    ///
    /// When it throws, any part of `bytes` may have been written.
    func write(_ bytes: Span<UInt8>, at offset: Int64) throws(StorageError)
    /// Makes the file `size` bytes long, cutting it or filling it up with zeros.
    func truncate(to size: Int64) throws(StorageError)
    /// Makes every byte written so far, by anyone, survive a power cut.
    ///
    /// Allowed on a file opened for reading. When it throws, nothing written since the last
    /// success may be trusted to be on disk, even if a later call succeeds.
    func sync() throws(StorageError)
    /// What tells the file from others; nil where nothing does.
    ///
    /// As long as a file is open no other one has its identity, so this says whether a name still
    /// leads to it.
    var identity: FileIdentity? { get throws(StorageError) }
    /// When its bytes were last written, in nanoseconds since a moment that stays the same; nil
    /// where nothing says.
    var modifiedNanoseconds: Int64? { get throws(StorageError) }
    /// Throws `.removed` if no name leads to the file any more: what is written to it is gone with
    /// the last who has it open.
    func checkName() throws(StorageError)
}
