package import DiarioStorage
import Foundation

/// A fresh folder under the system's temporary directory, removed with all in it by `deinit`.
///
/// Keep it in a constant for as long as the folder is needed.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let name = "diario-" + String(SystemEntropy().next(), radix: 36)
        let url = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit {
        // What cannot be removed stays for the system's own cleaning; a test has no use for it.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes a pipe, which whoever opens it may wait at for ever.
    package func makePipe(_ name: String) throws {
        // Safe: the path is handed over as a C string.
        guard unsafe mkfifo(path + "/" + name, 0o600) == 0 else {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    /// The folder as a data directory.
    package func directory() throws(StorageError) -> POSIXDirectory {
        try POSIXDirectory(path: path, access: .readWrite)
    }
}
