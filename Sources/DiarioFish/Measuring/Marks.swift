/// A mark on a photo, in thousandths of a pixel from its top left corner, y down.
package struct MarkPoint: Equatable, Sendable {
    package let xMpx: Int64
    package let yMpx: Int64

    package init(xMpx: Int64, yMpx: Int64) {
        self.xMpx = xMpx
        self.yMpx = yMpx
    }

    /// The nearest mark to a point; nil if that is not finite, or farther off than any photo.
    package init?(_ pixels: Vector) {
        guard let x = (pixels.x * 1000).nearestInteger, let y = (pixels.y * 1000).nearestInteger
        else { return nil }
        self.init(xMpx: x, yMpx: y)
    }

    /// The same point in pixels.
    package var pixels: Vector { Vector(Double(xMpx) / 1000, Double(yMpx) / 1000) }
}

/// A rectangle, by its top left corner.
package struct MarkFrame: Equatable, Sendable {
    package let xMpx: Int64
    package let yMpx: Int64
    package let widthMpx: Int64
    package let heightMpx: Int64

    package init(xMpx: Int64, yMpx: Int64, widthMpx: Int64, heightMpx: Int64) {
        self.xMpx = xMpx
        self.yMpx = yMpx
        self.widthMpx = widthMpx
        self.heightMpx = heightMpx
    }
}

/// An ellipse, by its centre; the angle turns the width from the x axis towards the y axis.
package struct MarkEllipse: Equatable, Sendable {
    package let xMpx: Int64
    package let yMpx: Int64
    package let widthMpx: Int64
    package let heightMpx: Int64
    package let angleMdeg: Int64

    package init(xMpx: Int64, yMpx: Int64, widthMpx: Int64, heightMpx: Int64, angleMdeg: Int64) {
        self.xMpx = xMpx
        self.yMpx = yMpx
        self.widthMpx = widthMpx
        self.heightMpx = heightMpx
        self.angleMdeg = angleMdeg
    }

    /// The direction of the width; not a number for an angle of more than 55,000 turns.
    package var direction: Vector {
        let angle = Double(angleMdeg) * (Trigonometry.pi / 180_000)
        let (sine, cosine) = Trigonometry.sineAndCosine(angle)
        return Vector(cosine, sine)
    }
}

/// What a user, or a program that proposes it, puts on the photo.
package enum MarkShape: Equatable, Sendable {
    case points([MarkPoint])
    case frame(MarkFrame)
    case ellipse(MarkEllipse)
}
