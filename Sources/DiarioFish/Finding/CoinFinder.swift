import DiarioSchema

/// A coin that was found.
package struct FoundCoin: Equatable, Sendable {
    /// The outer rim.
    package let rim: PictureEllipse
    /// How sure it is: 1,000 for a whole, smooth rim.
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
/// around one middle the outermost counts whose rim is about as good as the best: others are the
/// ring between two metals, the foot of the rim, or shadows, which go around only in part.
package enum CoinFinder {
    /// The longer side of the picture in which edges are looked for.
    static let sideMax = 640
    /// Ellipses flatter than this are coins seen from more than 44 degrees, or no coins.
    static let ratioMin = 0.72
    private static let scoreMin = 0.58
    private static let coinCountMax = 5
    /// Scores below which a part of the rim may be something else's edge.
    private static let doubtMax = 0.93
    /// Ellipses that are measured in the whole picture.
    private static let frameCountMax = 24
    /// Of the longer side: what is smaller could not be measured well.
    private static let radiusShareMin = 0.0185
    /// How wide the wall is, in radii, a whole longer side away from the picture's middle: the
    /// coin's thickness over its radius, for a focal length as long as that side.
    private static let wallShare = 0.18

    /// The coins in a picture, the surest first; none if nothing is sure enough.
    package static func coins(in picture: GreyPicture) -> [FoundCoin] {
        candidates(in: picture).filter { $0.score >= scoreMin }.prefix(coinCountMax).map { found in
            FoundCoin(rim: PictureEllipse(found.ellipse), scoreMilli: milli(found.score))
        }
    }

    struct Candidate {
        var rim: MeasuredRim
        var score: Double
        var ellipse: Ellipse
    }

    /// All that was looked at closely, the surest first, one for each place.
    static func candidates(in picture: GreyPicture) -> [Candidate] {
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
            guard let candidate = candidate(refinement.measured(frame)) else { continue }
            found.append(candidate)
        }
        found.removeAll { candidate in
            let frame = candidate.rim.frame
            return frame.radius < radiusMin || frame.radius > radiusMax
                || fish?.hasEye(frame) ?? false
        }
        return outermost(found).prefix(coinCountMax).map { best in
            guard best.score > 0.6 * scoreMin else { return best }
            let edge = upperEdge(best, picture, refinement)
            return Candidate(rim: edge.rim, score: best.score, ellipse: edge.ellipse)
        }.sorted { $0.score > $1.score }
    }

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

    private static func candidate(_ rim: MeasuredRim?) -> Candidate? {
        guard let rim, let ellipse = Ellipse(fitting: rim.points) else { return nil }
        return Candidate(rim: rim, score: score(rim), ellipse: ellipse)
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
                if isAround(other.rim.frame, chosen.rim.frame) { chosen = other }
            }
            result.append(chosen)
            rest.removeAll { isNear($0.rim.frame, best.rim.frame) }
        }
        return result
    }

    /// The edge of the upper face, if what was found goes around the coin's wall or its shadow.
    ///
    /// From aside one sees the wall on the side of the picture's middle, as wide as the coin is
    /// thick and far from there; a shadow may be on any side. On the other side the ellipse of the
    /// edge and that which was found meet.
    private static func upperEdge(
        _ outer: Candidate,
        _ picture: GreyPicture,
        _ refinement: RimRefinement
    ) -> Candidate {
        var best = outer
        if outer.score < doubtMax {
            let ways = [
                Vector(1, 0), Vector(0.7, 0.7), Vector(0, 1), Vector(-0.7, 0.7), Vector(-1, 0),
                Vector(-0.7, -0.7), Vector(0, -1), Vector(0.7, -0.7),
            ]
            best = inner(best, ways, gaps: 0.03...0.2, refinement)
        }
        let frame = best.rim.frame
        let middle = Vector(Double(picture.width) / 2, Double(picture.height) / 2)
        let way = middle - Vector(frame.x, frame.y)
        let longer = Double(max(picture.width, picture.height))
        let expected = wallShare * way.length / longer
        guard expected > 0.02, let toward = way.direction else { return best }
        return inner(best, [toward], gaps: 0.4 * expected...1.8 * expected, refinement)
    }

    /// The ellipse inside another that meets it on one side, and has a clear edge on the other.
    private static func inner(
        _ outer: Candidate,
        _ ways: [Vector],
        gaps: ClosedRange<Double>,
        _ refinement: RimRefinement
    ) -> Candidate {
        let frame = outer.rim.frame
        var (best, most) = (outer, 0.0)
        for way in ways {
            let rim = refinement.edges(frame, between: 0.98, and: 1.02, toward: way)
            for share in [0.15, 0.4, 0.7] {
                let gap = gaps.lowerBound + share * (gaps.upperBound - gaps.lowerBound)
                let start = frame.shrunk(by: gap / 2, awayFrom: way)
                guard let inner = candidate(refinement.measured(start)) else { continue }
                let less = (frame.radius - inner.rim.frame.radius) / frame.radius
                let shift =
                    Vector(frame.x - inner.rim.frame.x, frame.y - inner.rim.frame.y)
                    .dot(way) / frame.radius
                guard gaps.contains(less + shift), shift > 0.4 * less, shift < 3 * less,
                    inner.rim.support > 0.7 * outer.rim.support
                else { continue }
                let found = less + shift
                let edge = refinement.edges(
                    frame,
                    between: 1 - 1.3 * found,
                    and: 1 - 0.7 * found,
                    toward: way
                )
                if edge.share > 0.6, edge.strength > 0.2 * rim.strength,
                    edge.strength * edge.share > most
                {
                    (best, most) = (inner, edge.strength * edge.share)
                }
            }
        }
        return best
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
