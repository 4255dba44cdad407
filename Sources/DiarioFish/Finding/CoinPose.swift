/// A coin as a short cylinder that lies on a table and is seen from somewhere, with its shadow.
///
/// Seen straight on, its rims are circles; from aside they are ellipses whose shorter axis points
/// where the coin's normal does, and the lower one is moved against it: one angle tells how flat
/// both are and how much of the wall shows between them. Towards the edges of a picture all is
/// stretched away from its middle. The shadow of the upper rim is the lower one, moved.
struct CoinPose {
    /// The middle of the upper rim, and its radius, in pixels.
    var middle: Vector
    var radius: Double
    /// Where the normal points, across the line of sight: its sine is the length.
    var normal: Vector
    /// How far the shadow reaches on the table, in radii.
    var shadow = Vector.zero

    /// Of a coin, in radii: between 0.15 and 0.21 for all of the euro.
    private static let thickness = 0.185

    /// The ellipses of both rims and of the shadow.
    func rims(_ view: CoinView) -> (upper: RimFrame, lower: RimFrame, shadow: RimFrame) {
        let square = min(normal.dot(normal), 0.6)
        // (1 - cosine) / sine^2, without a division by zero.
        let flat = 1 / (1 + (1 - square).squareRoot())
        let across = -flat * normal.x * normal.y
        let stretch = view.stretch(at: middle)
        let first = stretch.applied(to: Vector(1 - flat * normal.x * normal.x, across) * radius)
        let second = stretch.applied(to: Vector(across, 1 - flat * normal.y * normal.y) * radius)
        let upper = RimFrame(middle, first, second)
        // What lies lower is farther away, and so a little smaller.
        let scale = 1 / (1 + Self.thickness * radius / view.focal)
        let fall = stretch.applied(to: normal * (-Self.thickness * radius))
        let lower = RimFrame(middle + fall, first * scale, second * scale)
        let reach = stretch.applied(to: shadow * radius)
        return (upper, lower, RimFrame(middle + fall + reach, first * scale, second * scale))
    }

    /// The pose moved along one of seven ways, by a share of the radius.
    func moved(_ way: Int, by share: Double) -> CoinPose {
        var pose = self
        switch way {
        case 0: pose.middle.x += share * radius
        case 1: pose.middle.y += share * radius
        case 2: pose.radius *= 1 + share
        // What these change in the picture is a part of them.
        case 3: pose.normal.x += 4 * share
        case 4: pose.normal.y += 4 * share
        case 5: pose.shadow.x += 1.5 * share
        default: pose.shadow.y += 1.5 * share
        }
        return pose
    }
}

/// The camera, as far as it is guessed: its focal length is a little more than the longer side.
struct CoinView {
    let center: Vector
    let focal: Double

    init(_ picture: GreyPicture) {
        center = Vector(Double(picture.width), Double(picture.height)) * 0.5
        focal = 1.1 * Double(max(picture.width, picture.height))
    }

    /// How a picture stretches what is in one place of it.
    struct Stretch {
        fileprivate let axis: Vector
        fileprivate let more: Double

        func applied(to way: Vector) -> Vector { way + axis * (more * axis.dot(way)) }
    }

    func stretch(at place: Vector) -> Stretch {
        let way = (place - center) * (1 / focal)
        let more = (1 + way.dot(way)).squareRoot() - 1
        return Stretch(axis: way.direction ?? Vector(1, 0), more: more)
    }

    /// The normal of a table on which the camera looks straight down.
    func normal(at place: Vector) -> Vector {
        let way = (place - center) * (1 / focal)
        return way * (1 / (1 + way.dot(way)).squareRoot())
    }
}
