/// The rim of something round, as measured along lines from its middle in the whole picture.
struct MeasuredRim {
    var frame: RimFrame
    /// The share of the lines on which there is an edge at the rim.
    var support = 0.0
    /// The share of the lines on which there is one at any place beside the rim, by chance.
    var chance = 0.0
    /// The share of these edges on which the inside is brighter, or darker, whichever is more.
    var agreement = 0.0
    /// How much the levels inside and outside differ, as a share of the change at the rim: about
    /// 1 for a disc, 0 for a ring through which one sees the table.
    var fill = 0.0
    /// How far the edges are from the ellipse: the root of the mean square, in radii.
    var roughness = 0.0
}

/// Measures ellipses in the whole picture.
struct RimRefinement {
    private let picture: GreyPicture
    /// How wide sharp edges are, in pixels.
    private let edgeWidth: Double
    /// Directions of the lines.
    private let turns: [Vector]

    private static let lineCount = 96
    /// Edges further than this share of the radius from the rim are not looked at.
    private static let reach = 0.16
    /// Changes of less than this many levels are noise in any picture.
    private static let changeMin = 1.5

    init(_ picture: GreyPicture, edgeWidth: Double) {
        self.picture = picture
        self.edgeWidth = edgeWidth
        turns = Vector.turns(Self.lineCount)
    }

    /// An edge on a line: its place, 1 at the rim, and the change of level outwards.
    private struct Crossing {
        var place: Double
        var change: Double
    }

    /// A line, and its edges near the rim.
    private struct Line {
        var turn: Vector
        var crossings: [Crossing]

        func nearest(_ expected: Double, within tolerance: Double) -> Crossing? {
            var best: Crossing?
            var least = tolerance
            for crossing in crossings {
                let distance = (crossing.place - expected).magnitude
                if distance < least { (best, least) = (crossing, distance) }
            }
            return best
        }
    }

    /// Nil if the rim leaves the picture, or if there are too few edges for an ellipse.
    func measured(_ start: RimFrame) -> MeasuredRim? {
        // First on every other line, which is enough to see that nothing is there.
        guard let rough = lines(start, every: 2), let first = Self.wave(rough, [0.06, 0.04, 0.03])
        else { return nil }
        var frame = start.moved(by: first)
        guard isSound(frame, start), let fine = lines(frame, every: 1),
            let second = Self.wave(fine, [0.03, 0.025, 0.02])
        else { return nil }
        frame = frame.moved(by: second)
        guard isSound(frame, start), let last = lines(frame, every: 1) else { return nil }
        return rim(frame, last)
    }

    private func isSound(_ frame: RimFrame, _ start: RimFrame) -> Bool {
        frame.ratio > CoinFinder.ratioMin && 0.75..<1.35 ~= frame.radius / start.radius
    }

    /// The wave through the edges closest to it, in ever narrower rings.
    private static func wave(_ lines: [Line], _ tolerances: [Double]) -> RimWave? {
        var wave = RimWave()
        for tolerance in tolerances {
            var sums = RimWave.Sums()
            var count = 0
            for line in lines {
                let expected = 1 + wave.at(line.turn.x, line.turn.y)
                guard let nearest = line.nearest(expected, within: tolerance) else { continue }
                let share = (nearest.place - expected) / tolerance
                let weight = (1 - share * share) * min(nearest.change.magnitude, 20)
                sums.add(
                    line.turn.x,
                    line.turn.y,
                    distance: nearest.place - 1,
                    weight: weight
                )
                count += 1
            }
            guard count * 3 > lines.count, let next = sums.wave() else { return nil }
            wave = next
        }
        return wave
    }

    /// How far from the rim an edge on it may be, as a share of the radius: blur makes it doubtful.
    private func tolerance(_ frame: RimFrame) -> Double {
        max(0.015, min(max(0.6, 0.22 * edgeWidth) / frame.radius, 0.035))
    }

    private func rim(_ frame: RimFrame, _ lines: [Line]) -> MeasuredRim {
        let tolerance = tolerance(frame)
        var rim = MeasuredRim(frame: frame)
        var (count, brighter) = (0, 0)
        var (squares, signed, step) = (0.0, 0.0, 0.0)
        for line in lines {
            guard let crossing = line.nearest(1, within: tolerance) else { continue }
            count += 1
            if crossing.change < 0 { brighter += 1 }
            squares += (crossing.place - 1) * (crossing.place - 1)
            signed += crossing.change
            step += picture.level(frame.place(line.turn.x * 1.12, line.turn.y * 1.12))
            step -= picture.level(frame.place(line.turn.x * 0.76, line.turn.y * 0.76))
        }
        guard count > 0 else { return rim }
        for place in [1.07, 1.1, 1.13] {
            let others = lines.count { $0.nearest(place, within: tolerance) != nil }
            rim.chance += Double(others) / Double(3 * lines.count)
        }
        rim.support = Double(count) / Double(lines.count)
        rim.agreement = Double(max(brighter, count - brighter)) / Double(count)
        rim.roughness = (squares / Double(count)).squareRoot()
        rim.fill = signed == 0 ? 0 : step / signed
        return rim
    }

    /// The edges on each line near the rim; nil if the rim leaves the picture.
    private func lines(_ frame: RimFrame, every stride: Int) -> [Line]? {
        let radius = frame.radius
        guard radius > 4, radius < Double(picture.width + picture.height) else { return nil }
        // Finer than a sixtieth of the radius nothing is needed.
        let pixel = max(1, radius / 60)
        let step = 0.5 * pixel / radius
        // So many samples inside are compared with as many outside, more where edges are blurred.
        let span = max(3, Int(max(0.035, min((edgeWidth - 1.5) / radius, 0.08)) / step))
        let count = 2 * Int(Self.reach / step) + 2 * span
        let first = 1 - Double(count - 1) / 2 * step
        guard isInside(frame, 1 + 0.3 * Self.reach) else { return nil }
        var sums = [Double](repeating: 0, count: count + 1)
        var lines: [Line] = []
        for index in Swift.stride(from: 0, to: turns.count, by: stride) {
            let turn = turns[index]
            let side = turn.turned * (pixel / radius)
            fill(
                &sums,
                count,
                frame.place(turn.x * first, turn.y * first),
                step: frame.way(turn * step),
                side: frame.way(side)
            )
            lines.append(
                Line(
                    turn: turn,
                    crossings: Self.crossings(sums, span: span, first: first, step: step)
                )
            )
        }
        Self.dropNoise(&lines)
        return lines
    }

    /// Drops edges that are much weaker than those near the rim are.
    private static func dropNoise(_ lines: inout [Line]) {
        var strongest = lines.map { line in
            line.crossings.reduce(0) { most, crossing in
                (crossing.place - 1).magnitude < 0.05
                    ? max(most, crossing.change.magnitude) : most
            }
        }
        strongest.sort()
        let least = 0.3 * strongest[strongest.count / 2]
        for index in lines.indices {
            lines[index].crossings.removeAll { $0.change.magnitude < least }
        }
    }

    /// Sums of levels along a line, three pixels wide.
    private func fill(
        _ sums: inout [Double],
        _ count: Int,
        _ start: Vector,
        step: Vector,
        side: Vector
    ) {
        var sum = 0.0
        var place = start
        for index in 0..<count {
            sums[index] = sum
            sum += picture.level(place) + picture.level(place + side) + picture.level(place - side)
            place = place + step
        }
        sums[count] = sum
    }

    /// The greatest changes along sums of levels.
    private static func crossings(
        _ sums: [Double],
        span: Int,
        first: Double,
        step: Double
    ) -> [Crossing] {
        let scale = 1 / Double(3 * span)
        func change(_ index: Int) -> Double {
            (sums[index + span] + sums[index - span] - 2 * sums[index]) * scale
        }
        var found: [Crossing] = []
        let last = sums.count - 1 - span
        guard last > span + 1 else { return [] }
        var (before, own) = (change(span), change(span + 1))
        for index in span + 1..<last {
            let after = change(index + 1)
            defer { (before, own) = (own, after) }
            let (low, size, high) = (before.magnitude, own.magnitude, after.magnitude)
            guard size > changeMin, size > low, size >= high else { continue }
            let shift = (low - high) / (2 * (low + high - 2 * size))
            found.append(
                Crossing(place: first + (Double(index) - 0.5 + shift) * step, change: own)
            )
        }
        return found
    }

    private func isInside(_ frame: RimFrame, _ size: Double) -> Bool {
        stride(from: 0, to: turns.count, by: 8).allSatisfy { index in
            let place = frame.place(turns[index].x * size, turns[index].y * size)
            return place.x > 1 && place.y > 1 && place.x < Double(picture.width) - 1
                && place.y < Double(picture.height) - 1
        }
    }
}
