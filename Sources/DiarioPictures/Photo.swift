package import DiarioCore

/// A picture as it is kept: written anew from its pixels, so that nothing else of the file is left.
///
/// Where and with what it was taken, its small copy, comments and colour profile are gone. It is
/// upright.
package struct Photo: Hashable, Sendable {
    package let bytes: [UInt8]
    /// JPEG if it came as one, else PNG.
    package let type: PictureType
    package let width: Int
    package let height: Int
    /// The day that the file said, before it was written anew; nil if it said none.
    package let day: CivilDay?

    /// Reads a file and writes it anew; a JPEG loses a little each time.
    package static func rewritten(_ bytes: [UInt8]) throws(PictureError) -> Photo {
        let picture = try Picture(bytes)
        let kind = try PictureType(bytes)
        let type: PictureType = kind == .jpeg ? .jpeg : .png
        let metadata: EXIF? =
            switch kind {
            case .jpeg: EXIF(jpeg: bytes)
            case .png: EXIF(png: bytes)
            case .pgm, .ppm: nil
            }
        return Photo(
            bytes: type == .jpeg ? try picture.jpeg() : try picture.png(),
            type: type,
            width: picture.width,
            height: picture.height,
            day: metadata?.day
        )
    }
}
