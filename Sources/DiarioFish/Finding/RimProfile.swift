/// The levels along lines across the rim of something round, and how well a coin explains them.
///
/// Along a line a coin has four levels: face, wall, shadow and table, with a step between each two
/// that blur makes soft, and all around there is a groove inside its raised rim. The levels nearest
/// to what is seen follow by least squares for the lines of each sector, from a few sums for each
/// step.
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
    /// Where the groove is, in radii of the coin.
    private static let groove = (inner: 0.925, outer: 0.957)
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
        var sectors = [StepSums](repeating: StepSums(), count: Self.sectorCount)
        var (rest, size) = (0.0, 0.0)
        for sector in 0..<Self.sectorCount {
            var sum = StepSums()
            for line in sector * Self.linesPerSector..<(sector + 1) * Self.linesPerSector {
                let turn = turns[line]
                guard let place = upper.place(turn) else { return -.infinity }
                let a = cell(place, from: 0)
                let b = cell(lower.place(turn) ?? place, from: a)
                let c = hasShadow ? cell(shadow.place(turn) ?? place, from: b) : b
                let inner = cell(Self.groove.inner * place, from: 0)
                let outer = cell(Self.groove.outer * place, from: 0)
                sum.whole += sums[line]
                sum.a += end - a
                sum.b += end - b
                sum.c += end - c
                sum.d += outer - inner
                sum.restA += self.rest(line, a)
                sum.restB += self.rest(line, b)
                sum.restD += self.rest(line, inner) - self.rest(line, outer)
                sum.ab += end - b - overlap((b - a) * scale)
                sum.ad += overlap((a - outer) * scale) - overlap((a - inner) * scale)
                sum.bd += overlap((b - outer) * scale) - overlap((b - inner) * scale)
                sum.dd += outer - inner + 2 * overlap((outer - inner) * scale)
                if hasShadow {
                    sum.restC += self.rest(line, c)
                    sum.ac += end - c - overlap((c - a) * scale)
                    sum.bc += end - c - overlap((c - b) * scale)
                    sum.cd += overlap((c - outer) * scale) - overlap((c - inner) * scale)
                }
            }
            let lines = Double(Self.linesPerSector)
            sum.solve(count: end * lines, own: lines * overlaps[0], hasShadow: hasShadow)
            rest += sum.restD
            size += sum.dd
            sectors[sector] = sum
        }
        let tilt = pose.normal - view.normal(at: pose.middle)
        var total = -Self.tiltCost * tilt.dot(tilt) - (hasShadow ? Self.shadowCost : 0)
        // The groove is dark, and as deep all around.
        let depth = min(rest / max(size, 1e-9), 0)
        let noise = Self.noise * end * Double(Self.linesPerSector)
        for sector in 0..<Self.sectorCount {
            let sum = sectors[sector]
            let whole = squares[sector] - sum.mean
            let more = sum.explained + depth * (2 * sum.restD - depth * sum.dd)
            total += 1 - ((max(whole - more, 0) + noise) / (whole + noise)).squareRoot()
        }
        return total
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

/// Sums over the lines of a sector, for least squares of levels that change at three soft steps,
/// a, b and c, and differ in a groove, d.
private struct StepSums {
    /// Of all levels.
    var whole = 0.0
    /// Of how much is after each step, and of levels there.
    var (a, b, c, d) = (0.0, 0.0, 0.0, 0.0)
    var (restA, restB, restC, restD) = (0.0, 0.0, 0.0, 0.0)
    /// Of how much is after both of two.
    var (ab, ac, bc, ad, bd, cd, dd) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    /// The part of the squares of levels that their mean makes up, and that of the steps.
    private(set) var mean = 0.0
    private(set) var explained = 0.0

    /// Eliminates the mean and the steps; `dd` and `restD` are then what is left for the groove.
    mutating func solve(count: Double, own: Double, hasShadow: Bool) {
        let level = whole / count
        mean = whole * level
        dd -= 2 * own + d * d / count
        restD -= d * level
        ad -= a * d / count
        bd -= b * d / count
        ab -= a * b / count
        restA -= a * level
        restB -= b * level
        var bb = b - own - b * b / count
        if hasShadow {
            ac -= a * c / count
            bc -= b * c / count
            cd -= c * d / count
            restC -= c * level
        }
        var cc = c - own - c * c / count
        let aa = a - own - a * a / count
        // A step that is nearly the same as another, or as none, explains nothing more.
        let least = 0.1
        if aa > least {
            explained += restA * restA / aa
            let (forB, forC, forD) = (ab / aa, ac / aa, ad / aa)
            bb -= forB * ab
            bc -= forB * ac
            cc -= forC * ac
            bd -= forB * ad
            cd -= forC * ad
            dd -= forD * ad
            restB -= forB * restA
            restC -= forC * restA
            restD -= forD * restA
        }
        if bb > least {
            explained += restB * restB / bb
            let (forC, forD) = (bc / bb, bd / bb)
            cc -= forC * bc
            cd -= forC * bd
            dd -= forD * bd
            restC -= forC * restB
            restD -= forD * restB
        }
        if hasShadow, cc > least {
            explained += restC * restC / cc
            dd -= cd / cc * cd
            restD -= cd / cc * restC
        }
    }
}
