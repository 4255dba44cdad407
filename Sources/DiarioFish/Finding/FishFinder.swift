import DiarioSchema

/// A proposal for the line along which a fish is measured, which a person confirms or moves.
package struct FoundFish: Equatable, Sendable {
    package let snout: PicturePoint
    /// On the body's axis, at the level of the lobe of the tail that reaches farther.
    package let tail: PicturePoint

    package var json: [UInt8] {
        JSONObjectWriter.object { text in
            text.add("snout", json: snout.json)
            text.add("tail", json: tail.json)
        }
    }
}

/// Finds the largest long thing in a picture that differs from all around it.
package enum FishFinder {
    /// The longer side of the picture in which regions are looked for.
    static let sideMax = 160
    /// Barriers at which regions are cut, in sixteenths of a level.
    private static let cuts: [Int32] = [160, 224, 304, 400, 520, 680, 880]

    /// The fish in a picture; nil if nothing looks like one.
    package static func fish(in picture: GreyPicture) -> FoundFish? {
        guard picture.width > 32, picture.height > 32 else { return nil }
        let reduced = ReducedPicture(picture, sideMax: CoinFinder.sideMax)
        return region(in: reduced)?.found
    }

    /// The region of the fish in a picture that is reduced already.
    static func region(in picture: ReducedPicture) -> FishRegion? {
        let small = ReducedPicture(picture, sideMax: sideMax)
        let map = BarrierMap(small)
        var best: FishRegion?
        for cut in cuts {
            let least = small.width * small.height / 100
            for pixels in map.regions(atLeast: cut, pixelCountMin: least) {
                guard let region = FishRegion(pixels, small), region.score > (best?.score ?? 0)
                else { continue }
                best = region
            }
        }
        return best
    }
}

/// A connected region that may be a fish.
struct FishRegion {
    let found: FoundFish
    let score: Double
    /// From one end to the other, and the greatest width across.
    private let start: Vector
    private let way: Vector
    private let depth: Double
    private let factor: Double

    private static let binCount = 40

    /// Nil if the region is not long enough, or too ragged.
    init?(_ pixels: [Int], _ picture: ReducedPicture) {
        factor = Double(picture.factor)
        var isInside = [Bool](repeating: false, count: picture.levels.count)
        for index in pixels { isInside[index] = true }
        let points = pixels.map { index in
            Vector(Double(index % picture.width) + 0.5, Double(index / picture.width) + 0.5)
        }
        let middle = Vector.mean(points)
        guard let axis = Self.axis(points, middle) else { return nil }
        let profile = Profile(points, middle, axis, count: Self.binCount)
        let length = profile.last - profile.first
        let mean = Double(pixels.count) / length
        depth = profile.widest
        let fullness = mean / depth
        guard length > 0.25 * Double(picture.width), length > 2.6 * mean, fullness > 0.35,
            profile.gaps == 0
        else { return nil }
        // The outline of a fish is where the level changes most.
        score = Self.edge(pixels, isInside, picture) * fullness * (length * mean).squareRoot()
        let (snout, tail) = profile.ends
        start = middle + snout
        way = tail - snout
        let size = Vector(Double(picture.width), Double(picture.height))
        found = FoundFish(
            snout: PicturePoint(Self.inside(middle + snout, of: size) * factor),
            tail: PicturePoint(Self.inside(middle + tail, of: size) * factor)
        )
    }

    /// The nearest place in a picture: the ends of a line may be guessed beyond it.
    private static func inside(_ place: Vector, of size: Vector) -> Vector {
        Vector(min(max(place.x, 0), size.x), min(max(place.y, 0), size.y))
    }

    /// True if something round in the whole picture is where an eye may be: on the body near an
    /// end of it, and small.
    func hasEye(_ frame: RimFrame) -> Bool {
        let own = Vector(frame.x, frame.y) * (1 / factor) - start
        let along = own.dot(way) / way.dot(way)
        let across = own.cross(way).magnitude / way.length
        return 2 * frame.radius < 0.06 * way.length * factor && across < 0.5 * depth
            && (0..<0.25 ~= along || 0.75..<1 ~= along)
    }

    /// The direction in which the points spread most.
    private static func axis(_ points: [Vector], _ middle: Vector) -> Vector? {
        var (xx, xy, yy) = (0.0, 0.0, 0.0)
        for point in points {
            let own = point - middle
            xx += own.x * own.x
            xy += own.x * own.y
            yy += own.y * own.y
        }
        let half = (xx - yy) / 2
        let spread = (half * half + xy * xy).squareRoot()
        return (xx > yy ? Vector(half + spread, xy) : Vector(xy, spread - half)).direction
    }

    /// The mean change of level across the outline, in levels.
    private static func edge(
        _ pixels: [Int],
        _ isInside: [Bool],
        _ picture: ReducedPicture
    ) -> Double {
        var (sum, count) = (0, 1)
        for index in pixels {
            for step in [1, picture.width] {
                for (near, far) in [(index + step, index - step), (index - step, index + step)] {
                    guard isInside.indices.contains(near), isInside.indices.contains(far),
                        !isInside[near]
                    else { continue }
                    sum += Int((picture.levels[near] - picture.levels[far]).magnitude)
                    count += 1
                }
            }
        }
        return Double(sum) / Double(count) / 16
    }
}

/// How wide a region is along its axis.
private struct Profile {
    let first: Double
    let last: Double
    /// The length without the fin of the tail, of the whole.
    private static let bodyShare = 0.85
    private let axis: Vector
    private let middle: Vector
    /// The pixels of each part of the axis, and the sums of their places across it.
    private var counts: [Double]
    private var sums: [Double]
    /// How far apart the outermost pixels of each part are.
    private let extents: [Double]

    init(_ points: [Vector], _ middle: Vector, _ axis: Vector, count: Int) {
        self.axis = axis
        self.middle = middle
        let places = points.map { ($0 - middle).dot(axis) }
        let (low, high) = (places.min() ?? 0, places.max() ?? 0)
        // A pixel is as wide as itself.
        (first, last) = (low - 0.5, high + 0.5)
        counts = [Double](repeating: 0, count: count)
        sums = counts
        var (lows, highs) = (counts, counts)
        let scale = Double(count) / (last - first)
        for (point, place) in zip(points, places) {
            let bin = min(max(Int((place - first) * scale), 0), count - 1)
            let across = (point - middle).dot(axis.turned)
            lows[bin] = counts[bin] == 0 ? across : min(lows[bin], across)
            highs[bin] = counts[bin] == 0 ? across : max(highs[bin], across)
            counts[bin] += scale
            sums[bin] += scale * across
        }
        extents = zip(lows, highs).map { $1 - $0 + 1 }
    }

    var widest: Double { counts.max() ?? 0 }
    var gaps: Int { counts.dropFirst().dropLast().count { $0 == 0 } }

    /// The snout and the tail, from the middle of the region.
    var ends: (snout: Vector, tail: Vector) {
        let isReversed = tailness(true) < tailness(false)
        let (snout, tail) = isReversed ? (last, first) : (first, last)
        let along = isReversed ? counts.count - 1 : 0
        let step = isReversed ? -1 : 1
        // The head's middle line, and that of the root of the tail, give the line of the body.
        let head = across(from: along, step)
        let root = across(from: along + step * (counts.count * 3 / 4), step)
        let slope = (root - head) / 0.75
        // A fin that cannot be told from the table is as long as most are.
        let stretch = hasFin(isReversed) ? 1 : 1 / Self.bodyShare
        return (
            axis * snout + axis.turned * head,
            axis * (snout + (tail - snout) * stretch) + axis.turned * (head + slope * stretch)
        )
    }

    /// The narrowest place before the last eighth of the axis, and the widest in it.
    private func rootAndFin(_ isReversed: Bool) -> (root: Double, fin: Double) {
        let widths = isReversed ? extents.reversed() : extents
        let part = widths.count / 8
        return (widths[(5 * part)..<(7 * part)].min() ?? 1, widths[(7 * part)...].max() ?? 1)
    }

    private func hasFin(_ isReversed: Bool) -> Bool {
        let (root, fin) = rootAndFin(isReversed)
        return fin > 1.4 * root
    }

    /// The middle of four parts of the axis.
    private func across(from start: Int, _ step: Int) -> Double {
        var (count, sum) = (0.0, 0.0)
        for index in 0..<4 {
            count += counts[start + step * index]
            sum += sums[start + step * index]
        }
        return count > 0 ? sum / count : 0
    }

    /// Small if the head is first and the tail last, with its narrow root, and not if reversed.
    private func tailness(_ isReversed: Bool) -> Double {
        let (root, fin) = rootAndFin(isReversed)
        var (sum, moment) = (0.0, 0.0)
        for (index, count) in counts.enumerated() {
            sum += count
            moment += count * (Double(index) / Double(counts.count) - 0.5)
        }
        return root / fin + (isReversed ? -8 : 8) * moment / max(sum, 1)
    }
}
