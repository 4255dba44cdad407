import DiarioCore

/// The pixels of a picture, as a person sees it: turned as its camera was held, over white where it
/// is transparent.
///
/// Samples have 8 bits; those of more are rounded. Colour profiles are ignored.
package struct Picture: Hashable, Sendable {
    /// How many samples a pixel has.
    package enum Form: Int, CaseIterable, Sendable {
        case grey = 1
        /// Red, green, blue.
        case colour = 3
    }

    package let width: Int
    package let height: Int
    package let form: Form
    /// Row by row from the top, each from the left.
    package let samples: [UInt8]

    /// A picture of samples, of which there are as many as its size says.
    package init(width: Int, height: Int, form: Form, samples: [UInt8]) {
        precondition(width > 0 && height > 0, "a picture has pixels")
        precondition(samples.count == width * height * form.rawValue, "each pixel has its samples")
        (self.width, self.height, self.form, self.samples) = (width, height, form, samples)
    }

    /// Reads a file of a known type; left out, the form is that of the file.
    ///
    /// A colour becomes grey by the weights of ITU-R BT.601: (19,595 red + 38,470 green + 7,471
    /// blue + 32,768) / 65,536, rounded down. Nothing is given of a file that is cut off.
    package init(_ bytes: [UInt8], as form: Form? = nil) throws(PictureError) {
        switch try PictureType(bytes) {
        case .png: self = try PNG.read(bytes, form)
        case .jpeg: self = try JPEG.read(bytes, form)
        case .pgm, .ppm: self = try Netpbm.read(bytes, form)
        }
    }

    /// The picture as a file in PNG: its pixels and nothing else.
    package func png() throws(PictureError) -> [UInt8] { try PNG.write(self) }

    /// The picture as a file in JPEG of quality 90: nearly its pixels, and nothing else.
    package func jpeg() throws(PictureError) -> [UInt8] { try JPEG.write(self) }

    /// Checks a size that a file states, before memory is asked for.
    static func check(width: Int, height: Int) throws(PictureError) {
        guard width <= Limits.pictureSideMax, height <= Limits.pictureSideMax,
            width * height <= Limits.picturePixelCountMax
        else { throw .tooLarge(width: width, height: height) }
    }
}
