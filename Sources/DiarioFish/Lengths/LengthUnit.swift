/// A unit in which people type and read lengths.
package enum LengthUnit: String, Sendable, CaseIterable {
    case micrometre = "um"
    case millimetre = "mm"
    case centimetre = "cm"
    case metre = "m"

    /// The unit's micrometres as a power of ten.
    package var exponent: Int {
        switch self {
        case .micrometre: 0
        case .millimetre: 3
        case .centimetre: 4
        case .metre: 6
        }
    }
}
