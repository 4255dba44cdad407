import DiarioSchema

/// A place in a picture, in thousandths of a pixel from its upper left corner.
package struct PicturePoint: Equatable, Sendable {
    package let xMpx: Int
    package let yMpx: Int

    package init(_ place: Vector) {
        xMpx = milli(place.x)
        yMpx = milli(place.y)
    }

    package var json: [UInt8] {
        JSONObjectWriter.object { text in
            text.add("xMpx", xMpx)
            text.add("yMpx", yMpx)
        }
    }
}

/// An ellipse in a picture: its middle, its full axes and the direction of the longer one.
package struct PictureEllipse: Equatable, Sendable {
    package let xMpx: Int
    package let yMpx: Int
    /// The longer axis.
    package let widthMpx: Int
    package let heightMpx: Int
    /// From the picture's x axis towards its y axis, which points down: -90,000 to 90,000.
    package let angleMdeg: Int

    package init(_ ellipse: Ellipse) {
        xMpx = milli(ellipse.centre.x)
        yMpx = milli(ellipse.centre.y)
        widthMpx = milli(ellipse.width)
        heightMpx = milli(ellipse.height)
        let axis = ellipse.direction
        let angle = Trigonometry.arcTangent(y: axis.y, x: axis.x) * 180 / Trigonometry.pi
        // An axis has two directions, of which the one to the right is told.
        angleMdeg = milli(angle > 90 ? angle - 180 : angle < -90 ? angle + 180 : angle)
    }

    package var json: [UInt8] {
        JSONObjectWriter.object { add(to: &$0) }
    }

    func add(to text: inout JSONObjectWriter) {
        text.add("xMpx", xMpx)
        text.add("yMpx", yMpx)
        text.add("widthMpx", widthMpx)
        text.add("heightMpx", heightMpx)
        text.add("angleMdeg", angleMdeg)
    }
}
