import DiarioCore

/// How large the files of a log grow: the limits, unless a test has no time to fill them.
package struct LogSizes: Hashable, Sendable {
    /// Bytes of one frame.
    package var frameMax = Limits.frameSizeMax
    /// Bytes of one file.
    package var fileMax = Limits.logFileSizeMax
    /// Bytes of zeros that are written ahead of the end of a file, at least and at most.
    package var growthMin = 256 * 1024
    package var growthMax = 4 * 1024 * 1024
    /// Bytes of the whole log up to which nothing is copied forward.
    package var quietMax = Limits.logQuietSizeMax
    /// Bytes of rows after which a space writes down its state.
    package var stateInterval = Limits.stateIntervalSizeMax
    /// Bytes that are set aside for a full disk.
    package var reserve = Limits.reserveSizeMax

    package static let standard = LogSizes()

    package init() {}

    /// Stops a caller whose sizes no log could keep to.
    func check() {
        precondition(frameMax <= Limits.frameSizeMax, "a reader refuses longer frames")
        precondition(
            LogFileHeader.size + FrameHeader.frameSize(body: frameMax) <= fileMax,
            "a frame must fit in a file"
        )
        precondition(growthMin > 0 && growthMin <= growthMax, "a file grows by something")
    }
}
