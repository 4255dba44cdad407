/// A length, and how far to trust it.
package struct Measurement: Equatable, Sendable {
    package let method: Fish.Method
    package let algorithmVersion: Int
    package let lengthUm: Int64
    /// The standard error of the length, of all that is known to be uncertain.
    package let sigmaUm: Int64
    /// The part of it that comes from the marks.
    package let markingSigmaUm: Int64
    /// What a pixel of the photo is worth along the fish.
    package let scaleNmPerPx: Int64
    /// The ends of the line that was measured.
    package let start: MarkPoint
    package let end: MarkPoint
    /// The height of the camera above the table, where the method finds it.
    package let cameraHeightUm: Int64?
    package let warnings: [MeasuringWarning]

    /// The lengths that a fish may have, in micrometres.
    static let lengthRange: ClosedRange<Int64> = 1000...5_000_000
}
