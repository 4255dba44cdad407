#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into bytes of a pipe, so that a command can end in good order.
///
/// A signal may reach any thread, so waiting for input is done on that pipe as well.
enum Interrupt {
    /// The end of the pipe that becomes readable; negative until signals are caught.
    private static let readEnd = Atomic<Int32>(-1)
    private static let writeEnd = Atomic<Int32>(-1)

    /// The descriptor to wait for; negative if signals are not caught.
    static var descriptor: Int32 { readEnd.load(ordering: .relaxed) }

    /// True if a signal came.
    static var isRaised: Bool {
        descriptor >= 0 && SystemCall.wait(readable: [descriptor], milliseconds: 0).readable[0]
    }

    /// From now on the first of these signals does not end the program; a second one does.
    static func catchSignals() {
        guard descriptor < 0 else { return }
        var ends: [Int32] = [-1, -1]
        // Safe: the call fills in two descriptors.
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readEnd.store(ends[0], ordering: .relaxed)
        writeEnd.store(ends[1], ordering: .relaxed)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // The handler loads an atomic number and calls `write` and `signal`: both are allowed.
            _ = signal(number) { number in
                var byte: UInt8 = 0
                // Safe: one byte is there to be read.
                _ = unsafe write(Interrupt.writeEnd.load(ordering: .relaxed), &byte, 1)
                _ = signal(number, SIG_DFL)
            }
        }
    }

    /// The end of a pipe that becomes readable at SIGHUP; negative until it is caught.
    static var hangUpDescriptor: Int32 { hangUpReadEnd.load(ordering: .relaxed) }

    private static let hangUpReadEnd = Atomic<Int32>(-1)
    private static let hangUpWriteEnd = Atomic<Int32>(-1)

    /// From now on SIGHUP ends nothing, however often it comes.
    static func catchHangUps() {
        var ends: [Int32] = [-1, -1]
        // Safe: the call fills in two descriptors.
        guard hangUpDescriptor < 0, unsafe pipe(&ends) == 0 else { return }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // Signals that nobody reads must not stop the handler.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        hangUpReadEnd.store(ends[0], ordering: .relaxed)
        hangUpWriteEnd.store(ends[1], ordering: .relaxed)
        // The handler loads an atomic number and calls `write`.
        _ = signal(SIGHUP) { _ in
            var byte: UInt8 = 0
            // Safe: one byte is there to be read.
            _ = unsafe write(Interrupt.hangUpWriteEnd.load(ordering: .relaxed), &byte, 1)
        }
    }

    /// True if SIGHUP came since this was asked last.
    static func takeHangUps() -> Bool {
        var bytes: [UInt8] = []
        guard case .done(let count) = SystemCall.read(hangUpDescriptor, into: &bytes, count: 4096)
        else { return false }
        return count > 0
    }

    /// From now on a signal that ends the program empties the terminal's line before.
    ///
    /// Does nothing where signals are caught: who catches them takes the bar away.
    static func clearLineWhenEnding() {
        guard descriptor < 0 else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            // The handler calls `write`, `signal` and `raise`: all are allowed.
            _ = signal(number) { number in
                // The bytes of `ProgressPace.clearing`: no string may be made in a handler.
                var bytes = UInt32(0x0d1b_5b4b).bigEndian
                // Safe: four bytes are there to be read.
                _ = unsafe write(2, &bytes, 4)
                _ = signal(number, SIG_DFL)
                _ = raise(number)
            }
        }
    }

    /// A pipe whose reader has gone, and a file as large as one may be, show as errors of `write`
    /// instead of ending the program.
    static func ignoreFailingWrites() {
        _ = signal(SIGPIPE, SIG_IGN)
        _ = signal(SIGXFSZ, SIG_IGN)
    }
}
