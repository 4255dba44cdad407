/// Searches for the pose that explains the levels around a rim best.
struct PoseSearch {
    private let profile: RimProfile
    private let view: CoinView

    private typealias Found = (pose: CoinPose, fit: Double)

    /// The upper rim of the coin as which something round is seen best, and how well it is.
    ///
    /// That is 1 if all levels around it are explained. Nil if a first search explains little.
    static func coin(
        _ picture: GreyPicture,
        _ frame: RimFrame,
        edgeWidth: Double,
        fitMin: Double
    ) -> (rim: RimFrame, fit: Double)? {
        let view = CoinView(picture)
        let profile = RimProfile(picture, frame, edgeWidth: edgeWidth)
        let search = PoseSearch(profile: profile, view: view)
        let sectors = Double(RimProfile.sectorCount)
        let start = search.rough(frame)
        guard start.fit > fitMin * sectors else { return nil }
        let best = search.fine(start)
        return (best.pose.rims(view).upper, best.fit / sectors)
    }

    /// The best pose near an ellipse, with its shadow.
    private func rough(_ frame: RimFrame) -> Found {
        let middle = Vector(frame.x, frame.y)
        let normal = view.normal(at: middle)
        let pose = CoinPose(middle: middle, radius: frame.radius, normal: normal)
        var best = climbed(found(pose), [0.03, 0.015], ways: 5)
        for turn in Vector.turns(8) {
            var other = best.pose
            other.shadow = turn * 0.12
            let found = climbed(found(other), [0.02, 0.01], ways: 7)
            if found.fit > best.fit { best = found }
        }
        return best
    }

    /// Of some other ways to see the coin, the one that leads highest.
    private func fine(_ start: Found) -> Found {
        var best = start
        for turn in Vector.turns(8) {
            for kind in 0..<4 {
                var other = best.pose
                if kind < 2 { other.middle = other.middle + turn * (0.035 * other.radius) }
                if kind == 0 { other.radius *= 0.97 }
                if kind == 1 || kind == 2 { other.normal = other.normal + turn * 0.2 }
                if kind == 3 { other.shadow = turn * 0.12 }
                let found = climbed(found(other), [0.02, 0.01], ways: 7)
                if found.fit > best.fit { best = found }
            }
        }
        return climbed(best, [0.01, 0.005, 0.0025], ways: 7)
    }

    private func found(_ pose: CoinPose) -> Found { (pose, profile.explained(by: pose, view)) }

    /// The best pose to which ever smaller steps lead.
    private func climbed(_ start: Found, _ steps: [Double], ways: Int) -> Found {
        var best = start
        for step in steps {
            for _ in 0..<4 {
                let before = best.fit
                for way in 0..<ways {
                    for share in [-step, step] {
                        let other = found(best.pose.moved(way, by: share))
                        if other.fit > best.fit { best = other }
                    }
                }
                guard best.fit > before else { break }
            }
        }
        return best
    }
}
