/// How much the level has to change on the way to each pixel from the edge of the picture.
///
/// The change of a way is the difference between its brightest and its darkest pixel, and each
/// pixel has that of the best way to it, nearly: ways are found by sweeps over the rows. Light that
/// changes slowly, shadows and plates that reach the edge cost nothing; what lies in the middle and
/// differs from all around it does, whatever is on it (Zhang et al., "Minimum Barrier Salient
/// Object Detection at 80 FPS", 2015).
struct BarrierMap {
    let width: Int
    let height: Int
    /// In sixteenths of a level.
    private(set) var barriers: [Int32]
    private var highest: [Int32]
    private var lowest: [Int32]

    private static let sweepCount = 3

    init(_ picture: ReducedPicture) {
        width = picture.width
        height = picture.height
        (highest, lowest) = (picture.levels, picture.levels)
        barriers = [Int32](repeating: 0, count: picture.levels.count)
        guard width > 4, height > 4 else { return }
        // What is not at the edge has yet to be reached.
        for row in 1..<height - 1 {
            for index in row * width + 1..<(row + 1) * width - 1 { barriers[index] = .max }
        }
        for _ in 0..<Self.sweepCount {
            for row in 1..<height - 1 {
                for index in row * width + 1..<(row + 1) * width - 1 {
                    extend(to: index, from: index - 1, picture.levels[index])
                    extend(to: index, from: index - width, picture.levels[index])
                }
            }
            for row in stride(from: height - 2, to: 0, by: -1) {
                for index in stride(from: (row + 1) * width - 2, to: row * width, by: -1) {
                    extend(to: index, from: index + 1, picture.levels[index])
                    extend(to: index, from: index + width, picture.levels[index])
                }
            }
        }
    }

    private mutating func extend(to index: Int, from other: Int, _ level: Int32) {
        let high = max(highest[other], level)
        let low = min(lowest[other], level)
        // The neighbour may not have been reached.
        guard barriers[other] != .max, high - low < barriers[index] else { return }
        barriers[index] = high - low
        highest[index] = high
        lowest[index] = low
    }

    /// The connected regions whose barriers are at least `least`, as lists of indices.
    func regions(atLeast least: Int32, pixelCountMin: Int) -> [[Int]] {
        var isSeen = [Bool](repeating: false, count: barriers.count)
        var regions: [[Int]] = []
        for start in barriers.indices where barriers[start] >= least && !isSeen[start] {
            var region = [start]
            isSeen[start] = true
            var next = 0
            while next < region.count {
                let index = region[next]
                next += 1
                let column = index % width
                for other in [index - 1, index + 1, index - width, index + width] {
                    guard barriers.indices.contains(other), !isSeen[other],
                        barriers[other] >= least, (other % width - column).magnitude <= 1
                    else { continue }
                    isSeen[other] = true
                    region.append(other)
                }
            }
            if region.count >= pixelCountMin { regions.append(region) }
        }
        return regions
    }
}
