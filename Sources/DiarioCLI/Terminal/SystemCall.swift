#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The few system calls of a program with a terminal, with errors as values.
enum SystemCall {
    /// The result of a call: a count, or the error number.
    enum Outcome: Equatable {
        case done(Int)
        case failed(Int32)
    }

    static func read(_ descriptor: Int32, into bytes: inout [UInt8], count: Int) -> Outcome {
        var result = 0
        var code: Int32 = 0
        bytes.append(addingCapacity: count) { output in
            // Safe: the call writes at most `count` bytes to the room that was made for them.
            unsafe output.withUnsafeMutableBufferPointer { room, filled in
                result = unsafe systemRead(descriptor, room.baseAddress, count)
                code = errno
                filled = max(0, result)
            }
        }
        return result < 0 ? .failed(code) : .done(result)
    }

    static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Outcome {
        // Safe: the call reads the slice's own bytes and keeps nothing.
        let result = unsafe bytes.withUnsafeBytes { buffer in
            unsafe systemWrite(descriptor, buffer.baseAddress, buffer.count)
        }
        return result < 0 ? .failed(errno) : .done(result)
    }

    /// Waits until one of the descriptors is ready; the answer has one entry for each.
    ///
    /// A negative descriptor is never ready. Broken off by a signal, it answers as after a timeout.
    static func wait(
        readable: [Int32],
        hungUp: [Int32] = [],
        milliseconds: Int32
    ) -> (readable: [Bool], hungUp: [Bool]) {
        var entries = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        entries += hungUp.map { pollfd(fd: $0, events: 0, revents: 0) }
        let count = nfds_t(entries.count)
        // Safe: the call is told how many entries there are.
        let result = unsafe entries.withUnsafeMutableBufferPointer { buffer in
            unsafe poll(buffer.baseAddress, count, milliseconds)
        }
        let isReady = entries.map { result > 0 && $0.revents != 0 }
        return (Array(isReady.prefix(readable.count)), Array(isReady.dropFirst(readable.count)))
    }

    /// Waits until a descriptor takes bytes again.
    static func waitWritable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        // Safe: the call is told that there is one entry.
        return unsafe poll(&entry, 1, 1000) > 0
    }

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns of the terminal; nil if it is none, or does not say.
    static func columnCount(_ descriptor: Int32) -> Int? {
        var size = winsize()
        // Safe: the call fills in the structure that it is for.
        let result = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        return result == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
    }

    static func environment(_ name: String) -> String? {
        // Safe: the text is copied at once, and nothing here changes the environment.
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(cString: value)
    }

    /// The words after the program's name; nil if one is not UTF-8.
    ///
    /// `CommandLine.arguments` would put a replacement character in the place of a wrong byte.
    static func arguments() -> [String]? {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // Safe: `argv` has `argc` texts, which last as long as the process.
            guard let word = unsafe CommandLine.unsafeArgv[index],
                let text = unsafe String(validatingCString: word)
            else { return nil }
            words.append(text)
        }
        return words
    }

    static func currentDirectory() -> String? {
        // Safe: with nil the call makes the text itself, which is copied and given back.
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }

    /// The status of the file at a path, links followed; nil if there is none.
    private static func status(_ path: String) -> stat? {
        var status = stat()
        // Safe: the call fills in the structure that it is for.
        return unsafe stat(path, &status) == 0 ? status : nil
    }

    static func isDirectory(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// True if the path leads to something that is no regular file, as a device or a pipe.
    static func isSpecial(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT != S_IFREG } ?? false
    }

    /// The user to whom something belongs; nil if nothing is there.
    static func owner(_ path: String) -> UInt32? { status(path)?.st_uid }

    /// The user as whom the program runs.
    static func user() -> UInt32 { geteuid() }

    /// Makes a folder, unless it is there already.
    static func makeDirectory(_ path: String) -> Outcome {
        // Safe: the path is handed over as a C string.
        guard unsafe mkdir(path, 0o777) != 0 else { return .done(0) }
        let code = errno
        return code == EEXIST && isDirectory(path) ? .done(0) : .failed(code)
    }

    /// The size of what a descriptor reads, if that is a regular file.
    static func regularFileSize(_ descriptor: Int32) -> UInt64? {
        var status = stat()
        // Safe: the call fills in the structure that it is for.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return UInt64(clamping: status.st_size)
    }

    /// The system's words for an error number.
    static func text(ofCode code: Int32) -> String {
        // Safe: the text is copied at once; only this thread asks for one.
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }

    /// Opens a file for reading; `-` is not stdin here.
    static func open(_ path: String) -> Outcome {
        outcome(systemOpen(path, O_RDONLY | O_CLOEXEC, 0))
    }

    /// Opens what is there for writing, as a device or a pipe.
    static func openSpecial(_ path: String) -> Outcome {
        outcome(systemOpen(path, O_WRONLY | O_CLOEXEC, 0))
    }

    /// Makes a file of a name that nothing has; nobody may read more of it than of `model`, if that
    /// is there.
    static func makeFile(_ path: String, like model: String) -> Outcome {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        guard let status = status(model) else { return outcome(systemOpen(path, flags, 0o666)) }
        let descriptor = systemOpen(path, flags, 0o600)
        guard descriptor >= 0 else { return .failed(errno) }
        // First the owner, which only the system's own user may change: it takes bits away.
        _ = fchown(descriptor, status.st_uid, status.st_gid)
        guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
            let code = errno
            _ = close(descriptor)
            return .failed(code)
        }
        return .done(Int(descriptor))
    }

    /// Makes a file under a new name that only its owner may read.
    static func makeSecretFile(_ path: String) -> Outcome {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return outcome(systemOpen(path, flags, 0o600))
    }

    /// The path with all links resolved; nil if nothing is there.
    static func realPath(_ path: String) -> String? {
        // Safe: with nil the call makes the text itself, which is copied and given back.
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    private static func outcome(_ descriptor: Int32) -> Outcome {
        descriptor < 0 ? .failed(errno) : .done(Int(descriptor))
    }

    static func close(_ descriptor: Int32) -> Outcome {
        systemClose(descriptor) == 0 ? .done(0) : .failed(errno)
    }

    /// Sees to it that descriptors 0 to 2 are open.
    ///
    /// Where a caller closed one, the next file to be opened would get its number, and what is
    /// meant for the terminal would be written into a log. What is read or written there fails, as
    /// it would if it were still closed; errors that nobody can see go nowhere.
    static func fillStandardDescriptors() {
        for (descriptor, access) in zip(Int32(0)...2, [O_WRONLY, O_RDONLY, O_RDWR])
        where fcntl(descriptor, F_GETFD) < 0 {
            _ = systemOpen("/dev/null", access, 0)
        }
    }
}

// Inside the type these names mean its own functions.
private func systemRead(
    _ descriptor: Int32,
    _ bytes: UnsafeMutablePointer<UInt8>?,
    _ count: Int
)
    -> Int
{
    // Safe: the caller gives room for `count` bytes.
    unsafe read(descriptor, bytes, count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    // Safe: the caller gives `count` bytes.
    unsafe write(descriptor, bytes, count)
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    // Safe: the path is handed over as a C string.
    unsafe open(path, flags, mode)
}

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }
