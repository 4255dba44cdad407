/// Runs steps until these went through about so many bytes; false once there are no more.
///
/// `step` gives how many bytes it went through, and nil at the end.
func spend<Failure: Error>(
    _ budget: Int,
    on step: () throws(Failure) -> Int?
) throws(Failure) -> Bool {
    var rest = budget
    while rest > 0 {
        guard let size = try step() else { return false }
        rest -= size
    }
    return true
}
