import DiarioCore
import DiarioFormat

extension LogStore {
    /// Events of a space that lost some, without those of an authority, which are counted one by
    /// one: how many of the lost ones it had written is not known.
    ///
    /// What cannot be read is counted as events of others.
    func countEvents(_ manifest: Manifest, _ index: SpaceIndex) -> Int {
        let lost = manifest.lost.reduce(0) { $0 + Int($1.count) }
        var authority = 0
        for entry in manifest.segments {
            authority += (try? authorityCount(in: entry, of: manifest.space)) ?? 0
        }
        let sealed = manifest.segments.last?.last ?? 0
        for run in index.canonical.runs where run.last > sealed {
            guard let block = try? shared.read(run),
                let summary = try? BlockSummary.parse(block.span, verifyChecksum: false),
                summary.isAuthority
            else { continue }
            authority += Int(run.last - max(run.first, sealed + 1)) + 1
        }
        return max(0, Int(clamping: index.head) - lost - authority + index.pendingCount)
    }

    private func authorityCount(
        in entry: SegmentEntry,
        of space: SpaceID
    ) throws(LogError) -> Int {
        guard var segment = try OpenSegment.open(entry, of: space, in: shared) else { return 0 }
        do throws(SegmentError) {
            return try segment.reader.authorityCount()
        } catch {
            throw segment.place.error(error)
        }
    }
}
