import DiarioCore
import DiarioFish

/// What a made picture has in it.
package struct SceneOptions: Sendable {
    package var width = 1200
    package var height = 900
    /// Low contrast, strong blur, glare over the rim, a shadow over the coin, and clutter.
    package var isHard = false
    package var hasCoin = true

    package init() {}
}

/// A fish and a coin on a table, seen by a camera: everything that a picture is made of.
struct PictureScene {
    let camera: SceneCamera
    let table: SceneTable
    let fish: SceneFish
    private(set) var coin: SceneCoin?
    private let clutter: [SceneClutter]
    /// Towards the light, along the table.
    private let light: Vector
    /// How long shadows are, as a share of heights, and how dark.
    private let shadowReach: Double
    private let shadowDepth: Double
    /// How light changes over the picture.
    private let slope: Vector
    /// A bright spot.
    private let glare: (center: Vector, radius: Double, strength: Double)?
    /// The soft edge of a large shadow: a point, the direction into the dark, and the light there.
    private let shade: (edge: Vector, into: Vector, share: Double)?

    init(_ options: SceneOptions, _ random: inout SeededRandom) {
        let isHard = options.isHard
        camera = Self.camera(options, &random)
        let background = SceneBackground.allCases[random.below(SceneBackground.allCases.count)]
        table = SceneTable(background, isHard: isHard, &random)
        fish = Self.fish(camera, table.level, isHard: isHard, &random)
        light = random.direction()
        shadowReach = random.uniform(0.2...1.1)
        shadowDepth = random.uniform(0.15...0.5)
        slope = random.direction() * random.uniform(0...(isHard ? 0.35 : 0.2))
        let coin = Self.coin(camera, fish, table.level, isHard: isHard, &random)
        self.coin = options.hasCoin ? coin : nil
        clutter = Self.clutter(camera, fish, coin, options, &random)
        let radius = coin.kind.radius
        let spot = random.direction() * (radius * random.uniform(0...(isHard ? 1 : 0.6)))
        let size = radius * random.uniform(0.2...(isHard ? 0.8 : 0.4))
        let strength = random.uniform(40...160)
        glare = random.oneIn(2) ? (coin.center + spot, size, strength) : nil
        let into = random.direction()
        let edge = isHard ? coin.center + into * random.uniform(-10...10) : fish.snout
        let share = random.uniform((isHard ? 0.5 : 0.6)...0.9)
        shade = random.oneIn(isHard ? 2 : 6) ? (edge, into, share) : nil
        separate(by: isHard ? 12 : 26)
    }

    /// The sine of the steepest tilt at which pictures are taken, and of one that is much too much.
    private static let gateSine = 0.1338
    private static let steepSine = 0.342

    private static func camera(
        _ options: SceneOptions,
        _ random: inout SeededRandom
    ) -> SceneCamera {
        let isOutside = random.oneIn(5)
        let sine = random.uniform(isOutside ? gateSine...steepSine : 0...gateSine)
        let tilt = random.direction() * sine
        return SceneCamera(
            width: options.width,
            height: options.height,
            focal: Double(options.width) * random.uniform(0.75...1.4),
            altitude: random.uniform(240...430),
            tilt: tilt
        )
    }

    /// A fish across most of the picture, with both ends inside it.
    private static func fish(
        _ camera: SceneCamera,
        _ table: Double,
        isHard: Bool,
        _ random: inout SeededRandom
    ) -> SceneFish {
        let (width, height) = (Double(camera.width), Double(camera.height))
        var (from, to) = (Vector.zero, Vector.zero)
        while (to - from).length < 0.5 * width {
            from = Vector(random.uniform(0.06...0.94) * width, random.uniform(0.1...0.9) * height)
            to = Vector(random.uniform(0.06...0.94) * width, random.uniform(0.1...0.9) * height)
        }
        let snout = camera.point(from.x, from.y, above: 5)
        let run = camera.point(to.x, to.y, above: 5) - snout
        return SceneFish(
            snout: snout,
            axis: run * (1 / run.length),
            length: run.length,
            table: table,
            isHard: isHard,
            &random
        )
    }

    private static func coin(
        _ camera: SceneCamera,
        _ fish: SceneFish,
        _ table: Double,
        isHard: Bool,
        _ random: inout SeededRandom
    ) -> SceneCoin {
        let kind = SceneCoin.kinds[random.below(SceneCoin.kinds.count)]
        let center = free(camera, fish, radius: kind.radius + 4, &random)
        let difference = isHard ? random.uniform(14...40) : random.uniform(38...110)
        let isBrighter = table < 120 || (table < 170 && random.oneIn(2))
        let level = table + (isBrighter ? difference : -difference)
        return SceneCoin(kind, at: center, level: min(max(level, 12), 243), &random)
    }

    /// A place for something round, in the picture and not under the fish.
    private static func free(
        _ camera: SceneCamera,
        _ fish: SceneFish,
        radius: Double,
        _ random: inout SeededRandom
    ) -> Vector {
        let (width, height) = (Double(camera.width), Double(camera.height))
        let margin = radius * camera.focal / camera.altitude * 1.15
        let wanted = radius + 0.24 * fish.length
        var (best, most) = (Vector.zero, -1.0)
        for _ in 0..<60 where most < wanted {
            let x = random.uniform(margin...max(width - margin, margin + 1))
            let y = random.uniform(margin...max(height - margin, margin + 1))
            let point = camera.point(x, y, above: 0)
            let distance = point.distance(from: fish.snout, to: fish.tail)
            if distance > most { (best, most) = (point, distance) }
        }
        return best
    }

    private static func clutter(
        _ camera: SceneCamera,
        _ fish: SceneFish,
        _ coin: SceneCoin,
        _ options: SceneOptions,
        _ random: inout SeededRandom
    ) -> [SceneClutter] {
        let count = options.isHard ? 1 + random.below(4) : random.below(3)
        return (0..<count).compactMap { _ in
            let kind = SceneClutter.Kind.allCases[random.below(SceneClutter.Kind.allCases.count)]
            let place = camera.point(
                random.unit() * Double(camera.width),
                random.unit() * Double(camera.height),
                above: 0
            )
            let thing = SceneClutter(kind, at: place, &random)
            // Close to the coin, at most; large ones may reach under the fish.
            let gap = (place - coin.center).length - coin.kind.radius - thing.radius * 1.2
            let isFree = place.distance(from: fish.snout, to: fish.tail) > 0.17 * fish.length + 16
            return gap > (options.isHard ? 1 : 4) && (isFree || kind == .plate) ? thing : nil
        }
    }

    /// Moves the coin's level away from the table's until its rim can be told apart.
    private mutating func separate(by contrastMin: Double) {
        for _ in 0..<8 {
            guard let coin, contrast() < contrastMin else { return }
            self.coin?.level += coin.level > table.level ? 10 : -10
        }
    }

    /// How far the coin's rim is from the table beside it, in grey levels, without noise.
    func contrast() -> Double {
        guard let coin else { return 0 }
        var (inside, outside) = (0.0, 0.0)
        var spoke = Vector(1, 0)
        for _ in 0..<72 {
            // A turn of 5 degrees.
            spoke = spoke * 0.9961946980917455 + spoke.turned * 0.08715574274765817
            let radius = coin.kind.radius
            let rim = coin.center + spoke * (0.97 * radius)
            inside += sample(camera.place(rim, above: coin.kind.thickness)).level
            outside += sample(camera.place(coin.center + spoke * (1.12 * radius), above: 0)).level
        }
        return (inside - outside).magnitude / 72
    }

    /// What a place of the picture shows: its level, and a number for the thing.
    func sample(_ place: Vector) -> (level: Double, thing: Int) {
        let ground = camera.point(place.x, place.y, above: 0)
        let shown = surface(place, ground)
        var level = shown.level * brightness(place, ground)
        if let glare {
            let share = 1 - (ground - glare.center).length / (2 * glare.radius)
            level += glare.strength * SceneNoise.smooth(share)
        }
        return (min(max(level, 0), 255), shown.thing)
    }

    private func surface(_ place: Vector, _ ground: Vector) -> (level: Double, thing: Int) {
        let body = camera.point(place.x, place.y, above: fish.above)
        if fish.depth(at: body) > 0 { return (fish.level(at: body, light: light), 1) }
        if let coin {
            let top = camera.point(place.x, place.y, above: coin.kind.thickness)
            let own = top - coin.center
            if own.length < coin.kind.radius { return (coin.face(own, light: light), 2) }
            // The line of sight goes on from there to the table.
            if coin.center.distance(from: top, to: ground) < coin.kind.radius {
                return (coin.wall(own, light: light), 3)
            }
        }
        var (level, thing) = (table.level(at: ground), 0)
        for (index, piece) in clutter.enumerated() {
            guard let cover = piece.cover(at: ground, light: light) else { continue }
            level = SceneNoise.mix(level, cover.level, cover.share)
            thing = 4 + index
        }
        return (level, thing)
    }

    /// The share of light at a place, with shadows on the table.
    private func brightness(_ place: Vector, _ ground: Vector) -> Double {
        let x = (place.x - Double(camera.width) / 2) / Double(camera.width)
        let y = (place.y - Double(camera.height) / 2) / Double(camera.width)
        var share = 1 + slope.x * x + slope.y * y - 0.25 * (x * x + y * y)
        if let shade {
            let inside = (ground - shade.edge).dot(shade.into) / 8
            share *= SceneNoise.mix(1, shade.share, SceneNoise.smooth(inside + 0.5))
        }
        if let coin {
            let reach = coin.kind.thickness * shadowReach
            let far = coin.center - light * reach
            let distance = ground.distance(from: coin.center, to: far) - coin.kind.radius
            let top = camera.point(place.x, place.y, above: coin.kind.thickness)
            if distance < 1, (top - coin.center).length > coin.kind.radius {
                let soft = 0.25 + 0.35 * reach
                share *= 1 - shadowDepth * SceneNoise.smooth(0.5 - distance / (2 * soft))
            }
        }
        if fish.depth(at: camera.point(place.x, place.y, above: fish.above)) < 0 {
            let reach = fish.above * shadowReach
            let depth = fish.depth(at: ground + light * (0.5 * reach))
            let soft = 0.15 * fish.above + 0.4 * reach + 0.5
            share *= 1 - shadowDepth * SceneNoise.smooth(0.5 + depth / (2 * soft))
        }
        return share
    }
}
