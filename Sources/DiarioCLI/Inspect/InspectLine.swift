/// One line of `inspect`: a field of a file, or a remark about a part of it.
package struct InspectLine: Equatable, Sendable {
    /// From the start of the file.
    package let offset: Int
    package let size: Int
    /// How deep inside other parts it lies, from 0.
    package let depth: Int
    package let name: String
    package let value: String
    /// The section of schema/format/log.md that defines it.
    package let section: String
    package let check: Check

    package enum Check: Equatable, Sendable {
        /// Nothing by which it could be found wrong alone.
        case none
        case good
        /// Does not verify; says why.
        case bad(String)
    }
}
