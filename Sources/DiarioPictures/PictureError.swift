import DiarioCore

/// Why no picture comes of some bytes.
package enum PictureError: Error, Hashable, Sendable {
    /// The file is something else, by its first bytes; nil if these tell nothing.
    case otherType(String?)
    case tooLarge(width: Int, height: Int)
    /// The file is of a known type and breaks its rules, or ends too early.
    case damaged(PictureType, String)
    /// The file is in order, and of a form that is not read.
    case unsupported(PictureType, String)
    case outOfMemory

    /// What is wrong, and what to do.
    package var message: String {
        switch self {
        case .otherType(let name):
            let found = name.map { "this is \($0)" } ?? "this is no picture of a known type"
            return found + "; PNG, JPEG, PGM and PPM are read: save it as one of these"
        case .tooLarge(let width, let height):
            return "the picture has \(width) x \(height) pixels; at most \(Limits.pictureSideMax) "
                + "on a side and \(Limits.picturePixelCountMax) in all are read: make it smaller"
        case .damaged(let type, let detail):
            return "the \(type.name) file is damaged or cut off (\(detail)): copy it again from "
                + "where it came"
        case .unsupported(let type, let detail):
            return "this \(type.name) file is not read: \(detail)"
        case .outOfMemory:
            return "there is not enough memory for the picture: make it smaller, or try again"
        }
    }
}
