import DiarioSchema

/// A coin that was found.
package struct FoundCoin: Equatable, Sendable {
    /// The outer rim.
    package let rim: PictureEllipse
    /// How sure it is: 1,000 for a whole, smooth rim of a coin that explains all levels around it.
    package let scoreMilli: Int

    package var json: [UInt8] {
        JSONObjectWriter.object { text in
            rim.add(to: &text)
            text.add("scoreMilli", scoreMilli)
        }
    }
}

/// Finds coins in a grey picture, without training: round things with a smooth rim.
///
/// Edges of a reduced picture vote for middles; near the middles with most votes, ellipses are
/// fitted to edges, and measured along lines from their middle in the whole picture. Of ellipses
/// around one middle the outermost is taken whose rim is about as good as the best: others may be
/// the ring between two metals. What remains is seen as a coin with a wall and a shadow, which
/// tells the rim of its upper face from the foot of its wall.
package enum CoinFinder {
    /// The longer side of the picture in which edges are looked for.
    static let sideMax = 640
    /// Ellipses flatter than this are coins seen from more than 44 degrees, or no coins.
    static let ratioMin = 0.72
    private static let scoreMin = 0.25
    /// Rims with a lower score are not looked at as coins.
    private static let rimScoreMin = 0.33
    private static let coinCountMax = 5
    /// Ellipses that are measured in the whole picture.
    private static let frameCountMax = 24
    /// Of the longer side: what is smaller could not be measured well.
    private static let radiusShareMin = 0.0185

    /// The coins in a picture, the surest first; none if nothing is sure enough.
    package static func coins(in picture: GreyPicture) -> [FoundCoin] {
        guard picture.width > 32, picture.height > 32 else { return [] }
        var reduced = ReducedPicture(picture, sideMax: sideMax)
        let fish = FishFinder.region(in: reduced)
        reduced.smooth()
        let edges = EdgeMap(reduced)
        let edgeWidth = PictureQuality.edgeWidth(picture, edges, reduced.factor)
        let refinement = RimRefinement(picture, edgeWidth: edgeWidth ?? 1)
        let radiusMin = Double(max(picture.width, picture.height)) * radiusShareMin
        let radiusMax =
            Double(min(picture.width, picture.height)) * Double(CenterVotes.radiusShareMax)
        var found: [Candidate] = []
        for frame in frames(edges, reduced.factor) where frame.radius > 0.9 * radiusMin {
            guard let rim = refinement.measured(frame), rim.frame.radius >= radiusMin,
                rim.frame.radius <= radiusMax, !(fish?.hasEye(rim.frame) ?? false)
            else { continue }
            found.append((rim.frame, score(rim)))
        }
        let coins = outermost(found).prefix(coinCountMax).compactMap { best -> FoundCoin? in
            guard best.score >= rimScoreMin else { return nil }
            func score(_ fit: Double) -> Double {
                best.score * max(fit, 0) * max(fit, 0).squareRoot()
            }
            let coin = PoseSearch.coin(picture, best.frame, edgeWidth: edgeWidth ?? 1) {
                score($0) >= 0.7 * scoreMin
            }
            guard let coin else { return nil }
            let score = score(coin.fit)
            guard score >= scoreMin, let ellipse = Ellipse(coin.rim) else { return nil }
            return FoundCoin(rim: PictureEllipse(ellipse), scoreMilli: milli(score))
        }
        return coins.sorted { $0.scoreMilli > $1.scoreMilli }
    }

    /// The rim of something round, and how good it is.
    private typealias Candidate = (frame: RimFrame, score: Double)

    /// Ellipses in the whole picture to be measured, those with most of their rim first.
    private static func frames(_ edges: EdgeMap, _ factor: Int) -> [RimFrame] {
        let search = RimSearch(edges)
        let rims = CenterVotes.guesses(edges).flatMap { search.rims(near: $0) }
        var kept: [RimFrame] = []
        for rim in rims.sorted(by: { $0.covered > $1.covered }) where kept.count < frameCountMax {
            let isNew = kept.allSatisfy { other in
                distance(rim.frame, other) > 0.06 * other.radius
                    || (rim.frame.radius / other.radius - 1).magnitude > 0.04
            }
            if isNew { kept.append(rim.frame) }
        }
        return kept.map { $0.scaled(by: Double(factor)) }
    }

    private static func score(_ rim: MeasuredRim) -> Double {
        let smooth = 1 - min(1, rim.roughness / 0.03)
        let support = max(0, rim.support - rim.chance) / (1.001 - rim.chance)
        let filled = min(1, max(0, rim.fill) / 0.35)
        return support * (0.2 + 0.8 * rim.agreement) * (0.6 + 0.4 * smooth) * (0.3 + 0.7 * filled)
    }

    /// The candidates with all that is around the same middle taken together.
    private static func outermost(_ all: [Candidate]) -> [Candidate] {
        var rest = all.sorted { $0.score > $1.score }
        var result: [Candidate] = []
        while let best = rest.first {
            var chosen = best
            for other in rest where other.score > 0.5 * best.score {
                if isAround(other.frame, chosen.frame) { chosen = other }
            }
            result.append(chosen)
            rest.removeAll { isNear($0.frame, best.frame) }
        }
        return result
    }

    private static func distance(_ first: RimFrame, _ second: RimFrame) -> Double {
        Vector(first.x - second.x, first.y - second.y).length
    }

    /// True if there is a gap between both on all sides.
    private static func isAround(_ outer: RimFrame, _ inner: RimFrame) -> Bool {
        let gap = outer.radius - inner.radius
        return gap > 0.01 * inner.radius && gap < 0.6 * inner.radius
            && distance(outer, inner) < 0.5 * gap
    }

    private static func isNear(_ first: RimFrame, _ second: RimFrame) -> Bool {
        distance(first, second) < max(first.radius, second.radius)
    }
}
