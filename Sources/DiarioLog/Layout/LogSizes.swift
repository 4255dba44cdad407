import DiarioCore
import DiarioFormat
import DiarioFrames

/// The sizes of a log's files: the limits, unless a test has no time to fill them.
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
    /// Replicas of one space, each of which its state names.
    package var replicaCountMax = Limits.spaceReplicaCountMax
    /// Bytes that are set aside for a full disk.
    package var reserve = Limits.reserveSizeMax

    /// Events of the runs that are sealed, and of the segments that those are merged into.
    package var segmentCount = 4096
    package var mergedCount = 65_536
    /// Bytes of rows after which a segment ends all the same, since it is made in memory.
    package var segmentMax = 64 * 1024 * 1024
    /// Live bytes of the write-ahead log above which tails are sealed short.
    package var liveMax = 352 * 1024 * 1024
    /// Live bytes above which who appends waits a little for what is sealed meanwhile.
    package var paceMax: Int { liveMax + liveMax / 4 }
    /// Milliseconds that sealing in the background waits.
    ///
    /// While much is written, runs that make up a large segment by then are sealed as one.
    package var sealDelayMilliseconds: Int64 = 1000
    /// Milliseconds for which a segment stays after others took its place.
    package var retirementMilliseconds: Int64 = 10 * 60 * 1000

    /// Entries of an index of authors that are kept in memory: about 10 MB.
    package var authorCountMax = 262_144
    /// Events that an index of authors reads again after a crash, at most.
    package var authorIntervalMax: UInt64 = 262_144

    /// Events of one exchange with another side.
    package var exchangeCount = Limits.exchangeCountMax
    /// Events that follow one another from which on they travel in columns.
    package var columnsCountMin = 2048
    /// Events of news from which on a context is worth reading it.
    package var contextCountMin = 32

    var frames: FrameSizes {
        FrameSizes(
            frameMax: frameMax,
            fileMax: fileMax,
            growthMin: growthMin,
            growthMax: growthMax
        )
    }

    package static let standard = LogSizes()

    package init() {}

    /// Stops a caller whose sizes no log could keep to.
    func check() {
        precondition(frameMax <= Limits.frameSizeMax, "a reader refuses longer frames")
        precondition(
            LogFileHeader.size + FrameHeader.frameSize(body: frameMax) <= fileMax,
            "a frame must fit in a file"
        )
        precondition(
            segmentCount > 0 && mergedCount.isMultiple(of: segmentCount)
                && mergedCount <= SegmentLimits.eventCountMax,
            "runs make up a segment"
        )
        precondition(
            (1...Limits.exchangeCountMax).contains(exchangeCount),
            "an exchange moves something, and the other side takes no more"
        )
        precondition(growthMin > 0 && growthMin <= growthMax, "a file grows by something")
    }
}
