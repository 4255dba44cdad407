import DiarioSchema

/// A coin that was found.
package struct FoundCoin: Equatable, Sendable {
    /// The outer rim.
    package let rim: PictureEllipse
    /// How sure it is: 1,000 for a whole rim of something solid.
    package let scoreMilli: Int

    package var json: [UInt8] {
        JSONObjectWriter.object { text in
            rim.add(to: &text)
            text.add("scoreMilli", scoreMilli)
        }
    }
}

/// Finds coins in a grey picture, without training: solid round things with a whole rim.
///
/// Edges of smaller and smaller pictures vote for middles of circles. Around those with most votes,
/// ellipses are fitted to edges, first of the small picture and then of the whole one. An ellipse
/// counts if so many parts of its rim have an edge, and so many levels change across it, as chance
/// hardly brings about; of several around one middle, the outermost that is well supported. Seen as
/// a short cylinder with a shadow, a rim may move a little, if that explains the levels around it.
package enum CoinFinder {
    /// The longer side of the largest picture in which circles are looked for.
    static let sideMax = 640
    /// Ellipses flatter than this are coins seen from more than 44 degrees, or no coins.
    static let ratioMin = 0.72
    private static let coinCountMax = 5
    /// Ellipses that are measured in the whole picture.
    private static let frameCountMax = 24
    /// Of the longer side: what is smaller could not be measured well.
    private static let radiusShareMin = 0.0185
    /// Of the shorter side: a coin beside a fish is smaller.
    private static func radiusMax(_ picture: GreyPicture) -> Double {
        0.17 * Double(min(picture.width, picture.height))
    }
    /// The least weight of a coin: some 2^31 ellipses can be told apart in a picture, and of 2^10
    /// pictures not one should have a find by chance.
    private static let weightMin = 41.0
    /// In bits, for a second look.
    private static let roughMin = 20.0
    /// What a cylinder has to explain of the levels around a rim, and how far it may move it.
    private static let fitMin = 0.75
    private static let moveMax = 0.1

    /// Of what edges are taken for a rim, as shares of its radius, one after the other: where it
    /// is only guessed, and where it is known nearly.
    private static let roughTolerances = [0.12, 0.1, 0.08, 0.06]
    private static let tolerances = [0.06, 0.05, 0.04, 0.03]

    /// The coins in a picture, the surest first; none if nothing is sure enough.
    package static func coins(in picture: GreyPicture) -> [FoundCoin] {
        guard picture.width > 32, picture.height > 32 else { return [] }
        let reduced = ReducedPicture(picture, sideMax: sideMax)
        let edges = EdgeMap(reduced.smoothed)
        let fish = FishFinder.region(in: reduced)
        let rims = frames(reduced, edges, in: picture).compactMap { frame -> MeasuredRim? in
            func best(_ frame: RimFrame, from inner: Double, to outer: Double) -> MeasuredRim? {
                guard let measurement = RimMeasurement(picture, frame) else { return nil }
                return measurement.rims(from: inner, to: outer, tolerances)
                    .max { $0.weight < $1.weight }
                    .map(measurement.aligned)
            }
            // The second time from nearby, where edges of the rim are told from others.
            guard let first = best(frame, from: 0.7, to: 1.4), first.surprise > roughMin,
                let second = best(first.frame, from: 0.85, to: 1.18)
            else { return nil }
            let rim = second.weight > first.weight ? second : first
            guard rim.weight >= weightMin else { return nil }
            let seen = rim.seen(in: picture)
            let isEye = seen.hasPupil && (fish?.hasEye(seen.frame) ?? false)
            return seen.weight >= weightMin && !isEye ? seen : nil
        }
        let edgeWidth = PictureQuality.edgeWidth(picture, edges, reduced.factor) ?? 1
        return apart(rims).prefix(coinCountMax).compactMap { rim in
            guard let outer = RimMeasurement.outermost(picture, rim),
                outer.frame.radius < 1.2 * radiusMax(picture),
                let ellipse = Ellipse(refined(picture, outer.frame, edgeWidth: edgeWidth))
            else { return nil }
            return FoundCoin(rim: PictureEllipse(ellipse), scoreMilli: milli(rim.score))
        }
    }

    /// Ellipses in the whole picture to be measured, those first that chance explains least.
    private static func frames(
        _ largest: ReducedPicture,
        _ edges: EdgeMap,
        in picture: GreyPicture
    ) -> [RimFrame] {
        let radiusMin = Double(max(picture.width, picture.height)) * radiusShareMin
        let radiusMax = radiusMax(picture)
        var rims: [MeasuredRim] = []
        var (level, edges) = (largest, edges)
        while true {
            let factor = Double(level.factor)
            for circle in CircleVotes.circles(edges) {
                rims += RimMeasurement(level, edges, circle, factor: factor)
                    .rims(from: 0.75, to: 1.35, roughTolerances)
            }
            guard Double(CircleVotes.radiusMax) * factor < radiusMax else { break }
            level = ReducedPicture(level, sideMax: max(level.width, level.height) / 2)
            guard level.width > 32, level.height > 32 else { break }
            edges = EdgeMap(level.smoothed)
        }
        var kept: [RimFrame] = []
        for rim in rims.sorted(by: { $0.surprise > $1.surprise })
        where kept.count < frameCountMax {
            guard 0.9 * radiusMin..<1.1 * radiusMax ~= rim.frame.radius,
                rim.frame.ratio > ratioMin
            else { continue }
            let isNew = kept.allSatisfy { other in
                distance(rim.frame, other) > 0.1 * other.radius
                    || (rim.frame.radius / other.radius - 1).magnitude > 0.1
            }
            if isNew { kept.append(rim.frame) }
        }
        return kept
    }

    /// The rims, of those that overlap only the best.
    private static func apart(_ all: [MeasuredRim]) -> [MeasuredRim] {
        var result: [MeasuredRim] = []
        for rim in all.sorted(by: { $0.weight > $1.weight }) {
            let isNew = result.allSatisfy { other in
                distance(other.frame, rim.frame) >= max(other.frame.radius, rim.frame.radius)
            }
            if isNew { result.append(rim) }
        }
        return result
    }

    /// The upper rim of the cylinder as which a rim is seen best, if that explains enough.
    private static func refined(
        _ picture: GreyPicture,
        _ frame: RimFrame,
        edgeWidth: Double
    ) -> RimFrame {
        let posed = PoseSearch.coin(picture, frame, edgeWidth: edgeWidth, fitMin: 0.7 * fitMin)
        guard let posed, posed.fit > fitMin,
            (posed.rim.radius / frame.radius - 1).magnitude < moveMax,
            distance(posed.rim, frame) < moveMax * frame.radius
        else { return frame }
        return posed.rim
    }

    private static func distance(_ first: RimFrame, _ second: RimFrame) -> Double {
        Vector(first.x - second.x, first.y - second.y).length
    }
}
