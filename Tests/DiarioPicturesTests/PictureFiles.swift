import DiarioPictures
import DiarioTestSupport

/// The golden pictures of `schema/vectors/pictures-1`, each with its pixels as PGM or PPM.
enum PictureFiles {
    private static let folder = "vectors/pictures-1"

    static let exact = [
        "alpha.png", "colour.png", "colour-16.png", "grey.png", "grey-16-interlaced.png",
        "grey-alpha.png", "interlaced.png", "one-bit.png", "palette.png", "turned.png",
    ]
    /// A version of the library may round otherwise.
    static let near = ["baseline.jpg", "grey-jpeg.jpg", "photo.jpg", "progressive.jpg", "rgb.jpg"]

    static func bytes(_ name: String) throws -> [UInt8] {
        try SchemaFolder.contents("\(folder)/\(name)")
    }

    /// What a file shows, by the pixels beside it.
    static func pixels(_ name: String) throws -> Picture {
        let stem = name.prefix { $0 != "." }
        let files = try SchemaFolder.files(folder)
        let ending = files.contains("\(folder)/\(stem).pgm") ? "pgm" : "ppm"
        return try Picture(bytes("\(stem).\(ending)"))
    }

    /// A picture in which each pixel is another one.
    static func gradient(_ width: Int, _ height: Int, _ form: Picture.Form) -> Picture {
        let count = width * height * form.rawValue
        let samples = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 251) }
        return Picture(width: width, height: height, form: form, samples: samples)
    }
}

extension Picture {
    /// The largest difference of two samples; nil if the pictures differ in size or form.
    func distance(to other: Picture) -> Int? {
        guard (width, height, form) == (other.width, other.height, other.form) else { return nil }
        return zip(samples, other.samples).map { abs(Int($0) - Int($1)) }.max()
    }
}
