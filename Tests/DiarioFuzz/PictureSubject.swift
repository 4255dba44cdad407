import DiarioCore
import DiarioPictures

/// Reads a picture in both forms, and writes what is small anew.
enum PictureSubject {
    static func run(_ bytes: [UInt8]) {
        guard let picture = try? Picture(bytes) else { return }
        precondition(
            picture.width * picture.height <= Limits.picturePixelCountMax,
            "a picture keeps to its limits"
        )
        // Writing one of millions of pixels takes seconds.
        guard picture.samples.count < 1_000_000 else { return }
        guard let grey = try? Picture(bytes, as: .grey), let photo = try? Photo.rewritten(bytes),
            let again = try? Picture(photo.bytes)
        else { preconditionFailure("what is read once is read again, and written") }
        precondition(
            (grey.width, grey.height) == (picture.width, picture.height)
                && (again.width, again.height) == (picture.width, picture.height),
            "a picture has one size"
        )
    }
}
