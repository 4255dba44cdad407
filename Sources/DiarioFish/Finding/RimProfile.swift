/// The levels along lines across the rim of something round, and how well a coin explains them.
///
/// Along a line a coin has four levels: face, wall, shadow and table, with a step between each two
/// that blur makes soft. The levels nearest to what is seen follow by least squares for the lines
/// of each sector, from a few sums for each step.
struct RimProfile {
    private let middle: Vector
    private let radius: Double
    private let turns: [Vector]
    /// How long a soft step is, in cells.
    private let soft: Double
    /// The sum of the levels of each line.
    private var sums: [Double] = []
    /// For each line and half cell, the sum of the levels after a soft step there.
    private var rests: [Double] = []
    /// The sum of the squares of levels in each sector.
    private var squares = [Double](repeating: 0, count: Self.sectorCount)
    /// What is after a soft step before another, which is so many 32nds of a step later, begins.
    private let overlaps: [Double]

    static let sectorCount = 16
    private static let linesPerSector = 4
    /// Lines are looked at from 0.8 to 1.35 radii, where the face has no pattern that stands out.
    private static let first = 0.8
    private static let cellCount = 44
    private static let cellsPerRadius = 80.0
    /// The variance of levels that is nothing but noise.
    private static let noise = 4.0
    /// What a tilt of the camera costs, by the square of its sine: people hold it level, mostly.
    private static let tiltCost = 3.0
    /// What a shadow costs.
    private static let shadowCost = 0.2

    init(_ picture: GreyPicture, _ frame: RimFrame, edgeWidth: Double) {
        middle = Vector(frame.x, frame.y)
        radius = frame.radius
        turns = Vector.turns(Self.sectorCount * Self.linesPerSector)
        soft = min(max(1.2, 1.5 * edgeWidth) / radius * Self.cellsPerRadius, 18)
        overlaps = Self.overlaps(soft)
        rests.reserveCapacity(turns.count * (2 * Self.cellCount + 1))
        let pixel = max(1, radius / 60)
        var levels = [Double](repeating: 0, count: Self.cellCount)
        for (line, turn) in turns.enumerated() {
            let step = turn * (radius / Self.cellsPerRadius)
            let side = turn.turned * pixel
            var place = middle + turn * (Self.first * radius) + step * 0.5
            var sum = 0.0
            for cell in levels.indices {
                let two = picture.level(place + side) + picture.level(place - side)
                levels[cell] = (picture.level(place) + two) / 3
                squares[line / Self.linesPerSector] += levels[cell] * levels[cell]
                sum += levels[cell]
                place = place + step
            }
            sums.append(sum)
            addRests(levels)
        }
    }

    private mutating func addRests(_ levels: [Double]) {
        for half in 0...2 * Self.cellCount {
            let place = Double(half) / 2
            let begin = min(max(Int(place - soft / 2), 0), Self.cellCount)
            let end = max(begin, min(Int(place + soft / 2) + 1, Self.cellCount))
            var rest = 0.0
            for cell in begin..<end {
                rest += levels[cell] * Self.step((Double(cell) + 0.5 - place) / soft + 0.5)
            }
            for cell in end..<Self.cellCount { rest += levels[cell] }
            rests.append(rest)
        }
    }

    /// A soft step from 0 to 1.
    private static func step(_ share: Double) -> Double {
        let share = min(max(share, 0), 1)
        return share * share * (3 - 2 * share)
    }

    private static func overlaps(_ soft: Double) -> [Double] {
        (0...32).map { gap in
            var sum = 0.0
            for part in 0..<64 {
                let share = (Double(part) + 0.5) / 64
                sum += (1 - step(share)) * step(share - Double(gap) / 32)
            }
            return sum * soft / 64
        }
    }

    /// How much of the levels a pose explains: at most 1 for each sector.
    func explained(by pose: CoinPose, _ view: CoinView) -> Double {
        let rims = pose.rims(view)
        let (upper, lower) = (Crossing(rims.upper, self), Crossing(rims.lower, self))
        let shadow = Crossing(rims.shadow, self)
        let hasShadow = pose.shadow != .zero
        let end = Double(Self.cellCount)
        let scale = 32 / soft
        let noise = Self.noise * end * Double(Self.linesPerSector)
        var total = 0.0
        for sector in 0..<Self.sectorCount {
            var sum = StepSums()
            for line in sector * Self.linesPerSector..<(sector + 1) * Self.linesPerSector {
                let turn = turns[line]
                guard let place = upper.place(turn) else { return -.infinity }
                let a = cell(place, from: 0)
                let b = cell(lower.place(turn) ?? place, from: a)
                let c = hasShadow ? cell(shadow.place(turn) ?? place, from: b) : b
                sum.whole += sums[line]
                let (atB, atC) = (end - b, end - c)
                sum.after += SIMD4(end - a, atB, atC, 0)
                let shade = hasShadow ? self.rest(line, c) : 0
                sum.rests += SIMD4(self.rest(line, a), self.rest(line, b), shade, 0)
                let (overB, overC) = (overlap((b - a) * scale), overlap((c - a) * scale))
                sum.a += SIMD4(end - a, atB - overB, atC - overC, 0)
                sum.b += SIMD4(0, atB, atC - overlap((c - b) * scale), 0)
                sum.c += SIMD4(0, 0, atC, 0)
            }
            let lines = Double(Self.linesPerSector)
            sum.solve(count: end * lines, own: lines * overlaps[0], hasShadow: hasShadow)
            let whole = squares[sector] - sum.mean
            let rest = max(whole - sum.explained, 0)
            total += 1 - ((rest + noise) / (whole + noise)).squareRoot()
        }
        let tilt = pose.normal - view.normal(at: pose.middle)
        return total - Self.tiltCost * tilt.dot(tilt) - (hasShadow ? Self.shadowCost : 0)
    }

    private func cell(_ place: Double, from least: Double) -> Double {
        let cell = (place - Self.first) * Self.cellsPerRadius
        return min(max(cell, max(least, soft / 2)), Double(Self.cellCount) - soft / 2)
    }

    private func rest(_ line: Int, _ place: Double) -> Double {
        let half = min(Int(2 * place), 2 * Self.cellCount - 1)
        let index = line &* (2 * Self.cellCount + 1) &+ half
        return rests[index] + (rests[index &+ 1] - rests[index]) * (2 * place - Double(half))
    }

    private func overlap(_ gap: Double) -> Double {
        guard gap < 32 else { return 0 }
        let index = Int(gap)
        return overlaps[index] + (overlaps[index &+ 1] - overlaps[index]) * (gap - Double(index))
    }

    /// Where lines from the middle cross an ellipse: at `x` where |x * matrix * turn + start| = 1.
    private struct Crossing {
        private let xToX: Double
        private let yToX: Double
        private let xToY: Double
        private let yToY: Double
        private let start: Vector
        private let rest: Double

        init(_ frame: RimFrame, _ profile: RimProfile) {
            let scale = profile.radius / (frame.xToX * frame.yToY - frame.yToX * frame.xToY)
            (xToX, yToX) = (frame.yToY * scale, -frame.yToX * scale)
            (xToY, yToY) = (-frame.xToY * scale, frame.xToX * scale)
            let (u, v) = frame.circle(profile.middle.x, profile.middle.y)
            start = Vector(u, v)
            rest = 1 - start.dot(start)
        }

        /// In radii; nil if the line does not cross it.
        func place(_ turn: Vector) -> Double? {
            let way = Vector(xToX * turn.x + yToX * turn.y, xToY * turn.x + yToY * turn.y)
            let (square, half) = (way.dot(way), way.dot(start))
            let root = half * half + square * rest
            return root > 0 ? (root.squareRoot() - half) / square : nil
        }
    }
}

/// Sums over the lines of a sector, for least squares of levels that change at three soft steps.
private struct StepSums {
    /// Of all levels.
    var whole = 0.0
    /// Of how much is after each step, and of levels there.
    var after = SIMD4<Double>.zero
    var rests = SIMD4<Double>.zero
    /// Of how much is after both of two, as the upper half of a matrix.
    var a = SIMD4<Double>.zero
    var b = SIMD4<Double>.zero
    var c = SIMD4<Double>.zero
    /// The part of the squares of levels that their mean makes up, and that of the steps.
    private(set) var mean = 0.0
    private(set) var explained = 0.0

    /// Eliminates the mean and the steps.
    mutating func solve(count: Double, own: Double, hasShadow: Bool) {
        let level = whole / count
        mean = whole * level
        rests -= after * level
        let shares = after / count
        a -= after * shares.x + SIMD4(own, 0, 0, 0)
        b -= after * shares.y + SIMD4(0, own, 0, 0)
        c -= after * shares.z + SIMD4(0, 0, own, 0)
        // A step that is nearly the same as another, or as none, explains nothing more.
        let least = 0.1
        if a.x > least {
            let share = a / a.x
            (b, c) = (b - a * share.y, c - a * share.z)
            explained += rests.x * rests.x / a.x
            rests -= share * rests.x
        }
        if b.y > least {
            let share = b / b.y
            c -= b * share.z
            explained += rests.y * rests.y / b.y
            rests -= share * rests.y
        }
        if hasShadow, c.z > least { explained += rests.z * rests.z / c.z }
    }
}
