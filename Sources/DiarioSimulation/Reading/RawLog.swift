package import DiarioCore
package import DiarioFormat
package import DiarioFrames
package import DiarioLog
package import DiarioStorage

/// Names a seed of a space.
package struct SeedKey: Hashable, Sendable {
    package var replica: ReplicaID
    package var group: UInt64
}

/// The write-ahead log on the disk, read by a second, plain reader.
///
/// Knows nothing of torn frames or damage: a frame that does not verify ends a file.
package struct RawLog: Sendable {
    /// A record, and where its content starts in its file.
    package struct Entry: Sendable {
        package let file: UInt64
        package let offset: Int
        package let kind: RecordKind
        package let space: SpaceID
        package let content: [UInt8]
    }

    /// A file that was begun.
    package struct File: Sendable {
        package let header: LogFileHeader
        /// Bytes on disk.
        package let size: Int
        /// The frames that verify, up to the length that the next file states.
        package let frames: [FrameHeader]
        /// The end of the last frame.
        package let length: Int
    }

    /// With `looksBehind`, the number of a file of which something that was synced does not verify.
    package private(set) var brokenFile: UInt64?
    private let looksBehind: Bool
    package private(set) var files: [File] = []
    package private(set) var entries: [Entry] = []

    package init(
        _ directory: any LogDirectory,
        looksBehind: Bool = false
    ) throws(LogError) {
        self.looksBehind = looksBehind
        var contents: [(header: LogFileHeader, bytes: [UInt8])] = []
        do throws(StorageError) {
            for name in try directory.list(FramePaths.folder) {
                guard let number = FramePaths.number(name) else { continue }
                let path = FramePaths.file(number)
                let bytes = try Files.contents(of: path, in: directory, sizeMax: .max)
                guard let header = LogFileHeader(bytes.span), header.number == number else {
                    continue
                }
                contents.append((header, bytes))
            }
        } catch {
            throw .storage(error)
        }
        // A newest file counts from its first frame on.
        if let (header, bytes) = contents.last, !Self.isBegun(header, bytes) {
            contents.removeLast()
            noteFrames(header, bytes, from: LogFileHeader.size, above: header.firstFrame)
        }
        for (index, (header, bytes)) in contents.enumerated() {
            let end =
                index + 1 < contents.count
                ? Int(clamping: contents[index + 1].header.previousLength) : bytes.count
            read(header, bytes, end: end)
        }
    }

    private static func isBegun(_ header: LogFileHeader, _ bytes: [UInt8]) -> Bool {
        guard
            case .frame(let frame) = FrameHeader.read(
                bytes.span,
                at: LogFileHeader.size,
                generation: header.generation
            )
        else { return false }
        return frame.number == header.firstFrame
    }

    private mutating func read(_ header: LogFileHeader, _ bytes: [UInt8], end: Int) {
        var offset = LogFileHeader.size
        var frames: [FrameHeader] = []
        while offset < end,
            case .frame(let frame) = FrameHeader.read(
                bytes.span,
                at: offset,
                generation: header.generation
            ), frame.number == header.firstFrame + UInt64(frames.count)
        {
            var start = offset + FrameHeader.size
            let bodyEnd = start + frame.bodySize
            while let record = Record.read(bytes.span, at: start, end: bodyEnd) {
                entries.append(
                    Entry(
                        file: header.number,
                        offset: record.content.lowerBound,
                        kind: record.kind,
                        space: record.space,
                        content: Array(bytes[record.content])
                    )
                )
                start = record.content.upperBound
            }
            frames.append(frame)
            offset += frame.frameSize
        }
        files.append(File(header: header, size: bytes.count, frames: frames, length: offset))
        let next = header.firstFrame + UInt64(frames.count)
        if end == bytes.count {
            noteFrames(header, bytes, from: offset, above: next)
        } else if looksBehind, offset < end {
            brokenFile = header.number
        }
    }

    /// Searches after `start`, where a frame is missing, for whole ones with higher numbers.
    private mutating func noteFrames(
        _ header: LogFileHeader,
        _ bytes: [UInt8],
        from start: Int,
        above number: UInt64
    ) {
        guard looksBehind else { return }
        for offset in stride(from: start, through: bytes.count - FrameHeader.size, by: 8) {
            if case .frame(let frame) = FrameHeader.read(
                bytes.span,
                at: offset,
                generation: header.generation
            ), frame.number > number {
                brokenFile = header.number
            }
        }
    }

    /// The seeds of a space, the newest of each group.
    package func seeds(of space: SpaceID) throws(LogError) -> [SeedKey: Salt] {
        var seeds: [SeedKey: Salt] = [:]
        for entry in entries where entry.space == space && entry.kind == .seed {
            do throws(FormatError) {
                var reader = ByteReader(entry.content.span.raw)
                guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
                    throw .malformed(.replica, at: 0)
                }
                let group = try reader.next(UInt64.self)
                seeds[SeedKey(replica: replica, group: group)] = try Salt(&reader)
            } catch {
                throw .format(error)
            }
        }
        return seeds
    }

    /// Bytes of all files on disk.
    package var size: Int { files.reduce(0) { $0 + $1.size } }
}
