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

    /// Reads a file and writes it anew; a JPEG loses a little each time.
    package static func rewritten(_ bytes: [UInt8]) throws(PictureError) -> Photo {
        let picture = try Picture(bytes)
        let type: PictureType = try PictureType(bytes) == .jpeg ? .jpeg : .png
        return Photo(
            bytes: type == .jpeg ? try picture.jpeg() : try picture.png(),
            type: type,
            width: picture.width,
            height: picture.height
        )
    }
}
