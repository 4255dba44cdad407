#if !hasFeature(Embedded)
import CPlatform
#endif

/// What can go wrong between this program and its files.
package enum StorageError: Error, Hashable, Sendable {
    case notFound(String)
    case exists(String)
    /// The disk, or the quota of this user, is used up.
    case full(String)
    /// The file system or the directory may only be read.
    case readOnly(String)
    /// This user may not do that here.
    case denied(String)
    /// Somebody else holds the lock; the process id is nil if nobody wrote it down.
    case locked(String, owner: Int32?)
    case tooManyFiles
    /// All files that were prepared beforehand are in use; whoever prepares them adds more.
    case noSlots(String)
    /// The path, or a name in it, is longer than the system takes.
    case nameTooLong(String)
    /// A part of the path is no directory but a file or a link.
    case notDirectory(String)
    /// Where a regular file should be is a directory, a link, a pipe or a device.
    case notFile(String)
    /// A file that is in use was removed, with the folder that it lay in or alone.
    case removed(String)
    /// What says where files are is damaged; the text says how.
    case damaged(String)
    /// The file is longer than the caller would take.
    case tooLarge(String, size: Int64)
    /// The system refused for another reason; `code` is its error number.
    case failed(Operation, String, code: Int32)
    /// The power was cut or the process killed, in a simulation.
    case cut

    /// What was tried; the raw value reads well after "cannot".
    package enum Operation: String, Hashable, Sendable {
        case open, read, write, truncate, sync, rename, remove, list, lock
        case stat = "look at"
        case makeDirectory = "make directory"
        case syncDirectory = "sync directory"
    }

    /// What failed and what to do about it, in one or two sentences.
    package var message: String {
        switch self {
        case .notFound(let path):
            "\(path) is not there. Check the path."
        case .exists(let path):
            "\(path) is there already. Choose another name or remove it."
        case .full(let path):
            "No space is left to write \(path). Free some space or raise the quota, then try again."
        case .readOnly(let path):
            "\(path) cannot be written, because it may only be read here. "
                + "Use a place that can be written."
        case .denied(let path):
            "Permission denied for \(path). Check who owns it and its permissions."
        case .locked(let path, .some(let owner)):
            "\(path) is locked by process \(owner). Wait until it is done, or stop it."
        case .locked(let path, .none):
            "\(path) is locked by another process. Wait until it is done, or stop it."
        case .tooManyFiles:
            "Too many files are open. Raise the limit (ulimit -n) or close other programs."
        case .noSlots(let path):
            "No file is left to make \(path) in. Try again when more are prepared."
        case .notDirectory(let path):
            "A part of \(path) is no folder but a file or a link, and in a space links are not "
                + "followed. Put the folder itself there, or choose another path."
        case .nameTooLong(let path):
            "\(path) is a longer path, or has a longer name in it, than the system takes. "
                + "Choose a shorter one."
        case .notFile(let path):
            "\(path) is no file but a folder, a pipe or a link, which is not followed. Put the "
                + "file itself there; if it belongs to a space: diario salvage DIR NEW."
        case .removed(let path):
            "\(path) was removed while it was in use, or another one was put in its place. "
                + "Check the folder that it was in."
        case .damaged(let what):
            "The directory is damaged: \(what). Save what can be read of it, and make it anew."
        case .tooLarge(let path, let size):
            "\(path) has \(size) bytes, more than it may have. It is damaged, or not ours."
        case .failed(let operation, let path, let code):
            "Cannot \(operation.rawValue) \(path): \(Self.text(ofCode: code)). "
                + "Check the disk and the system's log."
        case .cut:
            "The power was cut, in a simulation. Open the directory again."
        }
    }

    /// The system's words for an error number (`strerror_r`).
    private static func text(ofCode code: Int32) -> String {
        #if hasFeature(Embedded)
        return "error \(code)"
        #else
        var bytes = [UInt8](repeating: 0, count: 256)
        // Safe: the C function writes no more bytes than it is told of.
        let length = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            unsafe diario_error_text(code, buffer.baseAddress, buffer.count)
        }
        return String(decoding: bytes[..<length], as: UTF8.self)
        #endif
    }
}
