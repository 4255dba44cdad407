import DiarioFish

/// A kind of user, by how the marks of such a one are off.
///
/// The three kinds are the thesis's; the numbers are ours. They are chosen so that the thesis's
/// first two methods err about as far as its testers did with them.
package struct SimulatedUser: Equatable, Sendable {
    package let name: String
    /// The standard deviation of a mark from its edge, on the table.
    package let edgeUm: Int64
    /// The standard deviation of the line of two pins from the body's.
    package let offAxisMdeg: Int64
    /// How far two pins on the coin may be from its middle, as thousandths of the radius.
    package let chordMilliMax: Int
    /// How far pins around the rim may be from where they divide it evenly.
    package let unevenMdegMax: Int64

    /// Type 1: at ease with smartphones.
    package static let atEase = SimulatedUser(
        name: "at_ease",
        edgeUm: 250,
        offAxisMdeg: 3000,
        chordMilliMax: 250,
        unevenMdegMax: 20_000
    )
    /// Type 2: used to precision tools.
    package static let precise = SimulatedUser(
        name: "precise",
        edgeUm: 100,
        offAxisMdeg: 1000,
        chordMilliMax: 100,
        unevenMdegMax: 10_000
    )
    /// Type 3: little used to smartphones.
    package static let clumsy = SimulatedUser(
        name: "clumsy",
        edgeUm: 600,
        offAxisMdeg: 8000,
        chordMilliMax: 550,
        unevenMdegMax: 40_000
    )

    package static let all = [atEase, precise, clumsy]
}
