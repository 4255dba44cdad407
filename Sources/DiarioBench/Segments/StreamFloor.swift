import CBaseline
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioStorage

/// What it takes at least to read a few events of a sealed log: a stream is one frame of zstd, and
/// is decompressed as a whole.
///
/// The frames are those that a reader asks for. They are decompressed by C alone.
struct StreamFloor {
    private let directory: POSIXDirectory
    private let folder: String
    /// In order of position.
    private let segments: [(first: UInt64, name: String)]

    /// Of the only space at `path`.
    init(at path: String) throws(BenchError) {
        let store = try BenchSpace.store(at: path, background: .none)
        let space = try BenchSpace.onlySpace(of: store)
        try BenchSpace.log { () throws(LogError) in try store.close() }
        folder = LogPaths.segments(space)
        do throws(StorageError) {
            directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: .read
            )
            segments = try directory.list(folder).sorted().compactMap { name in
                guard name.hasSuffix(".dseg"), let first = UInt64(name.prefix(16), radix: 16) else {
                    return nil
                }
                return (first, String(name.dropLast(".dseg".utf8.count)))
            }
        } catch {
            throw .failed(error.message)
        }
    }

    /// Milliseconds of processor time for the streams of the events at some positions, which lie in
    /// one segment.
    func milliseconds(for positions: Range<UInt64>) throws(BenchError) -> Double {
        let index = segments.sortedIndex(behindAll: { $0.first <= positions.lowerBound })
        guard index > 0 else { return 0 }
        let segment = segments[index - 1]
        let frames = try frames(of: segment.name, positions, from: segment.first)
        // Safe: C reads the frames and their sizes, and keeps no pointer.
        let seconds = unsafe baseline_unzstd(frames.bytes, frames.sizes, frames.sizes.count / 2)
        guard seconds >= 0 else { throw .failed("zstd fails: \(seconds)") }
        return seconds * 1000
    }

    private func frames(
        of name: String,
        _ positions: Range<UInt64>,
        from first: UInt64
    ) throws(BenchError) -> KeptFrames {
        do throws(StorageError) {
            let path = folder + "/" + name
            let segment = try directory.contents(of: path + ".dseg", sizeMax: 1 << 30)
            let sidecar = try directory.contents(of: path + ".dper", sizeMax: 1 << 30)
            return try Self.frames(segment, sidecar, positions, from: first)
        } catch {
            throw .failed(error.message)
        }
    }

    private static func frames(
        _ segment: [UInt8],
        _ sidecar: [UInt8],
        _ positions: Range<UInt64>,
        from first: UInt64
    ) throws(StorageError) -> KeptFrames {
        do throws(SegmentError) {
            var reader = try SegmentReader(
                SegmentMemory(.segment, segment),
                sidecar: SegmentMemory(.sidecar, sidecar)
            )
            let start = Int(positions.lowerBound - first)
            let end = min(Int(positions.upperBound - first), reader.header.eventCount)
            guard start < end else { return KeptFrames() }
            reader.want(start..<end)
            reader.keepFrames()
            var rows = try SegmentRows(reader)
            while try rows.next() != nil {}
            return rows.reader.keptFrames
        } catch {
            preconditionFailure("a segment that was just written can be read: \(error.message)")
        }
    }
}
