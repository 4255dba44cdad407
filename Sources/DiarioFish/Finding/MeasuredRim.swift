/// The rim of something round.
struct MeasuredRim {
    let frame: RimFrame
    /// The side of the rim that is brighter.
    let side: RimEdges.Side
    /// The share with an edge near it that points about across it.
    let share: Double
    /// How unlikely that is by chance, in bits.
    let surprise: Double
    /// How much of it has changes of level across it, and how unlikely that is.
    var alignment = (share: 0.0, bits: 0.0)
    /// On three eighths of the rim, the levels inside differ from those outside by at most this
    /// share of the greatest change at the rim: by 0 for a ring on an even ground.
    private(set) var through = 1.0
    /// How much the level changes close to the rim as a share of that farther off: large for a
    /// ring, small for a glare; and as a share of the ground's level: small for stains.
    private(set) var sharpness = 1.0
    private(set) var contrast = 1.0
    /// True if all of the middle is darker than what is around it.
    private(set) var hasPupil = false

    /// How much speaks for a coin, in bits: less if much of the rim is missing, if it is seen from
    /// far aside, or if one sees the ground through it.
    var weight: Double {
        func whole(_ share: Double) -> Double { min(share * share / 0.64, 1) }
        let upright = min(max((frame.ratio - 0.87) / 0.06, 0), 1)
        let solid = min(max((through - 0.08) / 0.12, 0), 1)
        // Both tell of the same rim, so half of each.
        let bits = surprise * whole(share) + alignment.bits * whole(alignment.share)
        let clear = min(3 / max(sharpness, 1), (sharpness - 0.2) / 0.25, contrast / 0.16, 1)
        return bits / 2 * upright * solid * max(clear, 0)
    }

    /// From 0 to 1, which no rim exceeds by much.
    var score: Double { min(weight / 140, 1) }

    /// What a flat ellipse costs beside others, in bits: people hold the camera level, mostly.
    var rating: Double { surprise - 300 * (1 - frame.ratio) }

    private static let turns = Vector.turns(32)

    /// The same with a look at the levels around it.
    func seen(in picture: GreyPicture) -> MeasuredRim {
        var shares: [Double] = []
        var (near, far, change, ground) = (0.0, 0.0, 0.0, 1.0)
        var isPupil = true
        for turn in Self.turns {
            func level(_ distance: Double) -> Double {
                picture.level(frame.place(turn.x * distance, turn.y * distance))
            }
            var (low, high) = (255.0, 0.0)
            for step in -4...4 {
                let level = level(1 + 0.04 * Double(step))
                (low, high) = (min(low, level), max(high, level))
            }
            let outside = (level(1.15) + level(1.2) + level(1.25)) / 3
            let inside = (level(0.45) + level(0.52) + level(0.6)) / 3
            shares.append((outside - inside).magnitude / max(high - low, 8))
            near += (level(1.06) - level(0.94)).magnitude
            far += (level(1.3) - level(0.7)).magnitude
            change += high - low
            ground += outside
            isPupil = isPupil && level(0.3) + 8 < level(0.8)
        }
        shares.sort()
        var seen = self
        seen.through = shares[3 * shares.count / 8]
        seen.sharpness = near / max(far, Double(Self.turns.count))
        seen.contrast = change / ground
        seen.hasPupil = isPupil
        return seen
    }
}
