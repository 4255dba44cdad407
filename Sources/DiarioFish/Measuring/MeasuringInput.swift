/// A thing of known size beside the fish, in micrometres.
package enum ReferenceObject: Equatable, Sendable {
    case disc(diameterUm: Int64, thicknessUm: Int64)
    case card(widthUm: Int64, heightUm: Int64, thicknessUm: Int64)

    package static let eur2 = ReferenceObject.disc(diameterUm: 25_750, thicknessUm: 2200)
    package static let eur1 = ReferenceObject.disc(diameterUm: 23_250, thicknessUm: 2330)
    package static let eur050 = ReferenceObject.disc(diameterUm: 24_250, thicknessUm: 2380)
    /// A bank card: ISO 7810, ID-1.
    package static let card = ReferenceObject.card(
        widthUm: 85_600,
        heightUm: 53_980,
        thicknessUm: 760
    )
}

/// What is known of a photo and of the camera that took it.
package struct PhotoFacts: Equatable, Sendable {
    package let widthPx: Int
    package let heightPx: Int
    package let gravity: Gravity?
    /// The focal length, in thousandths of a pixel.
    package let focalMpx: Int64?
    /// Where the axis of the lens meets the photo: nil for its middle.
    package let principal: MarkPoint?

    package init(
        widthPx: Int,
        heightPx: Int,
        gravity: Gravity? = nil,
        focalMpx: Int64? = nil,
        principal: MarkPoint? = nil
    ) {
        self.widthPx = widthPx
        self.heightPx = heightPx
        self.gravity = gravity
        self.focalMpx = focalMpx
        self.principal = principal
    }
}

/// How exact marks and assumptions are: standard deviations, in micrometres if not said otherwise.
package struct ErrorModel: Equatable, Sendable {
    /// Of a mark from the edge that it is to be on, on the table.
    package let edgeUm: Int64
    /// The same in the photo, in thousandths of a pixel: nobody marks better, however near.
    package let edgeMinMpx: Int64
    /// Of the height of the fish's line above the table.
    package let heightUm: Int64
    /// The height of a camera that is not known.
    package let cameraHeightUm: Int64
    /// The tilt of a phone that does not tell, in thousandths of a degree.
    package let tiltMdeg: Int64

    package init(
        edgeUm: Int64 = 100,
        edgeMinMpx: Int64 = 500,
        heightUm: Int64 = 3000,
        cameraHeightUm: Int64 = 400_000,
        tiltMdeg: Int64 = 10_000
    ) {
        self.edgeUm = edgeUm
        self.edgeMinMpx = edgeMinMpx
        self.heightUm = heightUm
        self.cameraHeightUm = cameraHeightUm
        self.tiltMdeg = tiltMdeg
    }
}

/// All that a length is computed from.
package struct MeasuringInput: Equatable, Sendable {
    package let method: Fish.Method
    /// The line along the fish: two points, more for a bent one, or a frame around it.
    package let fish: MarkShape
    /// Two points of the body's line, on which a length between two points is projected.
    ///
    /// The end of the tail is the farther lobe; its distance from the snout is not the way to it.
    package let axis: [MarkPoint]?
    package let reference: MarkShape
    package let object: ReferenceObject
    package let photo: PhotoFacts
    /// The height of the fish's line above the table; what rectifies perspective allows for it.
    package let fishHeightUm: Int64
    package let errors: ErrorModel

    package init(
        method: Fish.Method,
        fish: MarkShape,
        axis: [MarkPoint]? = nil,
        reference: MarkShape,
        object: ReferenceObject,
        photo: PhotoFacts,
        fishHeightUm: Int64 = 8000,
        errors: ErrorModel = ErrorModel()
    ) {
        self.method = method
        self.fish = fish
        self.axis = axis
        self.reference = reference
        self.object = object
        self.photo = photo
        self.fishHeightUm = fishHeightUm
        self.errors = errors
    }
}
