/// Why nothing can be measured, and which part of the input is to blame.
package struct MeasuringRefusal: Error, Equatable, Sendable {
    package enum Rule: String, Sendable {
        /// Two marks that must be apart are at one place.
        case coincident
        /// The marks are on a line, and no circle goes through them.
        case collinear
        /// No ellipse goes by the marks.
        case notAnEllipse = "not_an_ellipse"
        /// The four corners are not those of a card that is seen.
        case notAQuadrangle = "not_a_quadrangle"
        /// The marks are fewer, or more, than the method takes.
        case pointCount = "point_count"
        /// The method takes another kind of marks.
        case wrongShape = "wrong_shape"
        /// The method takes a coin where there is a card, or the other way round.
        case wrongReference = "wrong_reference"
        /// A size is zero or less, or larger than any.
        case outOfRange = "out_of_range"
        /// A mark is outside of the photo by more than a twentieth of it.
        case outsideImage = "outside_image"
        /// The method needs it.
        case missing
        /// Gravity that no phone at rest feels.
        case implausible
        /// A mark is where no table can be: on the horizon or above it.
        case beyondHorizon = "beyond_horizon"
        /// The reference is less than 20 pixels across.
        case tooSmall = "too_small"
        /// The arithmetic came to no number.
        case notFinite = "not_finite"
    }

    package enum Field: String, Sendable {
        case fish, reference, object, photo, gravity, focal, fishHeight, length
    }

    package let rule: Rule
    package let field: Field

    package init(_ rule: Rule, _ field: Field) {
        self.rule = rule
        self.field = field
    }
}

/// What makes a measurement less certain than its standard error says.
package enum MeasuringWarning: String, Sendable {
    /// The reference is less than 60 pixels across.
    case referenceSmall = "reference_small"
    /// The coin's axes differ by more than 3 %, as at 14 degrees of tilt.
    case coinOblique = "coin_oblique"
    /// The coin is beside an end of the fish, where the tilt enlarges or shrinks it most.
    case coinFarFromMiddle = "coin_far_from_middle"
    /// A circle and an ellipse through the same marks differ by more than 3 %.
    case methodsApart = "methods_apart"
    /// A mark is so close to the edge of the photo that something may be cut off.
    case markAtEdge = "mark_at_edge"
    /// The reference is longer than the fish, so its errors count more than once.
    case referenceLongerThanFish = "reference_longer_than_fish"
    /// The phone did not tell how it was held.
    case tiltUnknown = "tilt_unknown"
    /// The phone was held at more than the gate's 7.69 degrees.
    case tiltOut = "tilt_out"
    /// Without the focal length, a card does not tell how far the camera was above the fish.
    case focalUnknown = "focal_unknown"
}
