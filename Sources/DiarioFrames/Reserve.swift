import DiarioCore
package import DiarioStorage

/// A file of zeros that a full disk takes the place of: given up so that a log can be opened,
/// closed, or moved off a failing file, and made again when there is room.
package enum Reserve {
    /// Gives the space back to the disk; false if there was none.
    package static func release(in directory: any LogDirectory) -> Bool {
        do throws(StorageError) {
            try directory.remove(FramePaths.reserve)
            // Some file systems free the space only then.
            try directory.syncDirectory(FramePaths.folder)
            return true
        } catch {
            return false
        }
    }

    /// Makes the reserve if it is not there; a disk without room for it is no error.
    package static func restore(in directory: any LogDirectory, size sizeMax: Int) {
        do throws(StorageError) {
            let file = try directory.open(FramePaths.reserve, .create)
            var size = Int(clamping: try file.size())
            let zeros = [UInt8](repeating: 0, count: 64 * 1024)
            while size < sizeMax {
                let count = min(zeros.count, sizeMax - size)
                try file.write(zeros.span.extracting(0..<count), at: Int64(size))
                size += count
            }
        } catch {
            // Half a reserve on a full disk would only take what the user needs.
            _ = release(in: directory)
        }
    }

    /// Does what needs a little space, with the reserve's if there is no other.
    package static func spending<Result>(
        in directory: any LogDirectory,
        _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        do { return try body() } catch {
            guard case .full = error, release(in: directory) else { throw error }
            return try body()
        }
    }
}
