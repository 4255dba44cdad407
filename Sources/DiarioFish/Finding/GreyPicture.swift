import DiarioCore

/// A picture in grey levels, row by row from the top.
///
/// Places in it are measured in pixels from its upper left corner, so the middle of the first pixel
/// is (0.5, 0.5); results give them in thousandths.
package struct GreyPicture: Equatable, Sendable {
    package let width: Int
    package let height: Int
    /// `width * height` levels: 0 is black, 255 white.
    package let levels: [UInt8]

    /// Nil if a side or the number of pixels is beyond its limit, or the number of levels differs.
    ///
    /// A picture without pixels is one; nothing is found in it.
    package init?(width: Int, height: Int, levels: [UInt8]) {
        guard 0...Limits.pictureSideMax ~= width, 0...Limits.pictureSideMax ~= height,
            width * height <= Limits.picturePixelCountMax, levels.count == width * height
        else { return nil }
        self.init(unchecked: levels, width: width, height: height)
    }

    /// For levels that were counted.
    package init(unchecked levels: [UInt8], width: Int, height: Int) {
        self.width = width
        self.height = height
        self.levels = levels
    }

    /// The picture as a binary PGM file.
    package var pgm: [UInt8] {
        Array("P5\n\(width) \(height)\n255\n".utf8) + levels
    }

    /// The level at a place between pixels; outside, that of the nearest.
    func level(_ place: Vector) -> Double {
        let x = min(max(place.x - 0.5, 0), Double(width - 1) - 1e-6)
        let y = min(max(place.y - 0.5, 0), Double(height - 1) - 1e-6)
        let (column, row) = (Int(x), Int(y))
        let (shareX, shareY) = (x - Double(column), y - Double(row))
        let index = row &* width &+ column
        let levels = levels.span
        let (a, b) = (Double(levels[index]), Double(levels[index &+ 1]))
        let below = index &+ width
        let (c, d) = (Double(levels[below]), Double(levels[below &+ 1]))
        let top = a + (b - a) * shareX
        return top + (c + (d - c) * shareX - top) * shareY
    }
}
