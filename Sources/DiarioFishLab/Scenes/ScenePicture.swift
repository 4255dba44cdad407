import DiarioCore
package import DiarioFish

/// A made picture with the truth about it.
package struct ScenePicture: Sendable {
    package let picture: GreyPicture
    package let truth: SceneTruth

    /// The same picture for the same seed and options, on every machine.
    package init(seed: UInt64, _ options: SceneOptions) {
        var random = SeededRandom(seed: seed)
        let scene = PictureScene(options, &random)
        truth = SceneTruth(scene, seed: seed)
        var raster = SceneRaster(scene)
        let isHard = options.isHard
        // Blur grows with the picture, as a lens's does.
        let size = Double(options.width) / 1200
        let blur = (isHard ? random.uniform(1.2...3.2) : random.uniform(0.5...1.3)) * size
        let stretched = random.oneIn(3) ? random.uniform(1...1.6) : 1
        raster.blur(max(blur, 0.3), max(blur * stretched, 0.3))
        // Cameras sharpen what they take.
        if random.oneIn(2) {
            raster.sharpen(random.uniform(0.2...0.8), radius: max(1.4 * size, 0.5))
        }
        let noise = isHard ? random.uniform(2.5...6) : random.uniform(0.8...3)
        picture = raster.picture(noise: noise, &random)
    }
}

/// Levels of a picture on their way to whole numbers.
private struct SceneRaster {
    let width: Int
    let height: Int
    var levels: [Float]

    /// Looks at the middle of each pixel, and at 16 places of those where things meet.
    init(_ scene: PictureScene) {
        width = scene.camera.width
        height = scene.camera.height
        levels = []
        levels.reserveCapacity(width * height)
        var things: [Int8] = []
        for row in 0..<height {
            for column in 0..<width {
                let sample = scene.sample(Vector(Double(column) + 0.5, Double(row) + 0.5))
                levels.append(Float(sample.level))
                things.append(Int8(sample.thing))
            }
        }
        for row in 0..<height {
            for column in 0..<width {
                let index = row * width + column
                let isEdge =
                    (column + 1 < width && things[index + 1] != things[index])
                    || (column > 0 && things[index - 1] != things[index])
                    || (row + 1 < height && things[index + width] != things[index])
                    || (row > 0 && things[index - width] != things[index])
                guard isEdge else { continue }
                var sum = 0.0
                for part in 0..<16 {
                    let x = Double(column) + (Double(part % 4) + 0.5) / 4
                    let y = Double(row) + (Double(part / 4) + 0.5) / 4
                    sum += scene.sample(Vector(x, y)).level
                }
                levels[index] = Float(sum / 16)
            }
        }
    }

    mutating func blur(_ sigmaX: Double, _ sigmaY: Double) {
        levels = blurred(levels, sigmaX, step: 1, count: width)
        levels = blurred(levels, sigmaY, step: width, count: height)
    }

    mutating func sharpen(_ amount: Double, radius: Double) {
        var soft = blurred(levels, radius, step: 1, count: width)
        soft = blurred(soft, radius, step: width, count: height)
        for index in levels.indices {
            levels[index] += Float(amount) * (levels[index] - soft[index])
        }
    }

    private func blurred(_ source: [Float], _ sigma: Double, step: Int, count: Int) -> [Float] {
        let reach = min(Int(3 * sigma) + 1, 30)
        var weights = (-reach...reach).map { offset in
            // Close to a bell: (1 - x^2 / 16 s^2)^8.
            var weight = max(0, 1 - Double(offset * offset) / (16 * sigma * sigma))
            for _ in 0..<3 { weight *= weight }
            return Float(weight)
        }
        let sum = weights.reduce(0, +)
        for index in weights.indices { weights[index] /= sum }
        var result = source
        for index in source.indices {
            let place = step == 1 ? index % width : index / width
            var level: Float = 0
            for offset in -reach...reach {
                let other = min(max(place + offset, 0), count - 1)
                level += weights[offset + reach] * source[index + (other - place) * step]
            }
            result[index] = level
        }
        return result
    }

    func picture(noise: Double, _ random: inout SeededRandom) -> GreyPicture {
        let bytes = levels.map { level -> UInt8 in
            // The sum of eight bytes is close to a bell of width 209.
            var (bits, sum) = (random.next(), 0)
            for _ in 0..<8 {
                sum += Int(bits & 0xff)
                bits >>= 8
            }
            // Bright pixels have more of it, as in a camera.
            let share = noise * (0.6 + Double(level) / 320) / 209
            return UInt8(min(max(Double(level) + Double(sum - 1020) * share + 0.5, 0), 255))
        }
        return GreyPicture(unchecked: bytes, width: width, height: height)
    }
}
