/// How a picture has to be turned to be upright, as EXIF numbers it.
///
/// The names say where the first row and the first column of the file belong.
enum Orientation: UInt8, CaseIterable {
    case topLeft = 1
    case topRight = 2
    case bottomRight = 3
    case bottomLeft = 4
    case leftTop = 5
    case rightTop = 6
    case rightBottom = 7
    case leftBottom = 8

    /// True if the file's rows are columns.
    var swapsSides: Bool { rawValue > 4 }

    /// The pixel at which a row of the file begins, in the upright picture, and how far it is to
    /// the next one.
    func places(row y: Int, width: Int, height: Int) -> (start: Int, step: Int) {
        switch self {
        case .topLeft: (y * width, 1)
        case .topRight: (y * width + width - 1, -1)
        case .bottomRight: ((height - 1 - y) * width + width - 1, -1)
        case .bottomLeft: ((height - 1 - y) * width, 1)
        case .leftTop: (y, height)
        case .rightTop: (height - 1 - y, height)
        case .rightBottom: ((width - 1) * height + height - 1 - y, -height)
        case .leftBottom: ((width - 1) * height + y, -height)
        }
    }
}
