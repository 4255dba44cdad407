/// A length, and how far to trust it.
package struct Measurement: Equatable, Sendable {
    package let method: MeasuringMethod
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

    /// True if two measurements of one fish differ by more than twice what their errors allow.
    package func isApart(from other: Measurement) -> Bool {
        let apart = Double(lengthUm - other.lengthUm)
        let (own, its) = (Double(sigmaUm), Double(other.sigmaUm))
        return apart * apart > 4 * (own * own + its * its)
    }
}
