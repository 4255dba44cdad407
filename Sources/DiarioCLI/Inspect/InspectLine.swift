/// One line of `inspect`: a field of a file, or a remark about a part of it.
package struct InspectLine: Equatable, Sendable {
    /// From the start of the file.
    package var offset: Int
    package var size: Int
    /// Its depth inside other parts, from 0.
    package let depth: Int
    package let name: String
    package let value: String
    /// The section that defines it, behind the letter of its document in schema/format: R rows.md,
    /// B blocks.md, F frames.md, D directory.md, S segments.md, P proofs.md, Y sync.md,
    /// O blobs.md.
    package let section: String
    package let check: Check

    package enum Check: Equatable, Sendable {
        /// Nothing by which it could be found wrong alone.
        case none
        case good
        /// Does not verify, with the reason.
        case bad(String)
    }
}
