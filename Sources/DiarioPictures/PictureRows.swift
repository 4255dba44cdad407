/// Makes a picture of the rows that a file has: turns it, and gives it the wanted form.
struct PictureRows {
    /// How many samples a pixel of a row has.
    enum Source: Int {
        case grey = 1
        case greyAndAlpha = 2
        case colour = 3
        case colourAndAlpha = 4

        var form: Picture.Form { rawValue < 3 ? .grey : .colour }
    }

    private let width: Int
    private let height: Int
    private let source: Source
    private let orientation: Orientation
    private let form: Picture.Form
    private var samples: [UInt8]

    /// Asks for the picture's memory: its size was checked before.
    init(
        width: Int,
        height: Int,
        _ source: Source,
        _ orientation: Orientation,
        as form: Picture.Form?
    ) {
        (self.width, self.height, self.source, self.orientation) =
            (width, height, source, orientation)
        self.form = form ?? source.form
        samples = [UInt8](repeating: 0, count: width * height * self.form.rawValue)
    }

    /// Takes the row `y` of the file, from the top.
    mutating func put(_ row: Span<UInt8>, at y: Int) {
        let (start, step) = orientation.places(row: y, width: width, height: height)
        let (size, wanted) = (source.rawValue, form.rawValue)
        for x in 0..<width {
            let from = x * size
            let to = (start + x * step) * wanted
            switch source {
            case .grey: put(row[from], row[from], row[from], at: to)
            case .greyAndAlpha:
                let grey = Self.overWhite(row[from], row[from + 1])
                put(grey, grey, grey, at: to)
            case .colour: put(row[from], row[from + 1], row[from + 2], at: to)
            case .colourAndAlpha:
                let alpha = row[from + 3]
                put(
                    Self.overWhite(row[from], alpha),
                    Self.overWhite(row[from + 1], alpha),
                    Self.overWhite(row[from + 2], alpha),
                    at: to
                )
            }
        }
    }

    private mutating func put(_ red: UInt8, _ green: UInt8, _ blue: UInt8, at index: Int) {
        switch form {
        case .grey:
            let sum = 19_595 * UInt32(red) + 38_470 * UInt32(green) + 7471 * UInt32(blue)
            samples[index] = UInt8(truncatingIfNeeded: (sum + 32_768) >> 16)
        case .colour:
            samples[index] = red
            samples[index + 1] = green
            samples[index + 2] = blue
        }
    }

    private static func overWhite(_ sample: UInt8, _ alpha: UInt8) -> UInt8 {
        let sum = UInt32(sample) * UInt32(alpha) + 255 * (255 - UInt32(alpha))
        return UInt8(truncatingIfNeeded: (sum + 127) / 255)
    }

    consuming func finish() -> Picture {
        let isTurned = orientation.swapsSides
        return Picture(
            width: isTurned ? height : width,
            height: isTurned ? width : height,
            form: form,
            samples: samples
        )
    }
}
