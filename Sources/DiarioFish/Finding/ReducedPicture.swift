/// A picture with fewer pixels, smoothed, in which shapes are looked for.
///
/// Levels have four more bits than bytes have. Places in it are those of the picture, divided by
/// `factor`.
struct ReducedPicture {
    let width: Int
    let height: Int
    /// How many pixels of the picture a pixel has on each side.
    let factor: Int
    private(set) var levels: [Int32]

    /// The mean of squares of pixels, so many that the longer side has at most `sideMax`.
    init(_ picture: GreyPicture, sideMax: Int) {
        let longer = max(picture.width, picture.height)
        let factor = max(1, (longer + sideMax - 1) / sideMax)
        let (width, height) = (picture.width, picture.height)
        self.init(picture, left: 0, top: 0, width: width, height: height, factor: factor)
    }

    /// A part of the picture, of which places are measured from its own corner.
    init(_ picture: GreyPicture, left: Int, top: Int, width: Int, height: Int, factor: Int) {
        self.factor = factor
        self.width = width / factor
        self.height = height / factor
        levels = []
        levels.reserveCapacity(self.width * self.height)
        var sums = [Int32](repeating: 0, count: self.width)
        let count = Int32(factor * factor)
        for row in 0..<self.height {
            for column in 0..<self.width { sums[column] = 0 }
            for line in top + row * factor..<top + (row + 1) * factor {
                var index = line * picture.width + left
                for column in 0..<self.width {
                    for _ in 0..<factor {
                        sums[column] &+= Int32(picture.levels[index])
                        index &+= 1
                    }
                }
            }
            for sum in sums { levels.append((sum &* 16 &+ count / 2) / count) }
        }
    }

    /// A still smaller one, of which the longer side has at most `sideMax` pixels.
    init(_ picture: ReducedPicture, sideMax: Int) {
        let longer = max(picture.width, picture.height)
        let step = max(1, (longer + sideMax - 1) / sideMax)
        factor = picture.factor * step
        width = picture.width / step
        height = picture.height / step
        levels = []
        levels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width {
                var sum: Int32 = 0
                for line in row * step..<(row + 1) * step {
                    let start = line * picture.width + column * step
                    for index in start..<start + step { sum &+= picture.levels[index] }
                }
                levels.append(sum / Int32(step * step))
            }
        }
    }

    /// The same, smoothed.
    var smoothed: ReducedPicture {
        var picture = self
        picture.smooth()
        return picture
    }

    /// Smooths with the weights 1, 4, 6, 4, 1 in both directions; the edge is left as it is.
    private mutating func smooth() {
        guard width > 4, height > 4 else { return }
        var lines = levels
        for row in 0..<height {
            for index in row * width + 2..<(row + 1) * width - 2 {
                let near = levels[index - 1] &+ levels[index + 1]
                let far = levels[index - 2] &+ levels[index + 2]
                lines[index] = (6 &* levels[index] &+ 4 &* near &+ far &+ 8) >> 4
            }
        }
        for row in 2..<height - 2 {
            for index in row * width..<(row + 1) * width {
                let near = lines[index - width] &+ lines[index + width]
                let far = lines[index - 2 * width] &+ lines[index + 2 * width]
                levels[index] = (6 &* lines[index] &+ 4 &* near &+ far &+ 8) >> 4
            }
        }
    }
}
