import DiarioCore
import DiarioCrypto
package import DiarioFormat
import DiarioLog

extension Space {
    /// Shows that the event at `position` is among the first `size`; without `size`, among all.
    ///
    /// With `includesEvent` the proof carries the event's row, without its personal part.
    package func proveInclusion(
        of position: UInt64,
        size: UInt64? = nil,
        includesEvent: Bool = false
    ) throws(DiarioError) -> ProofText {
        try checkSize(size)
        do {
            let proofs = store[id].proofs
            if let proven = try proofs.inclusion(of: position, size: size) {
                let event = includesEvent ? try proofs.provenEvent(at: position) : nil
                return try text(
                    .inclusion(proven.proof, leaf: proven.leaf, event: event),
                    proven.root
                )
            }
        } catch {
            throw DiarioError(error)
        }
        throw outside(position, size)
    }

    /// Shows that the first `size` positions begin with the first `fromSize`; without `size`, all.
    package func proveConsistency(
        from fromSize: UInt64,
        to size: UInt64? = nil
    ) throws(DiarioError) -> ProofText {
        try checkSize(size)
        do {
            if let proven = try store[id].proofs.consistency(from: fromSize, to: size) {
                return try text(.consistency(proven.proof, fromRoot: proven.fromRoot), proven.root)
            }
        } catch {
            throw DiarioError(error)
        }
        throw DiarioError(
            .notFound,
            "A log of \(size ?? head) events does not begin with \(fromSize). Give a smaller size "
                + "first, and then a larger one."
        )
    }

    private func checkSize(_ size: UInt64?) throws(DiarioError) {
        guard let size else { return }
        let head = head
        guard size > head else { return }
        throw DiarioError(
            .notFound,
            "The log has only \(head) events, so nothing can be shown of one with \(size). "
                + "Give a smaller size, or none."
        )
    }

    private func outside(_ position: UInt64, _ size: UInt64?) -> DiarioError {
        let head = head
        guard let size, position >= 1, position <= head else {
            return DiarioError(
                .notFound,
                "There is no event at position \(position): the log has \(head). "
                    + "Look for it: diario log"
            )
        }
        return DiarioError(
            .notFound,
            "Position \(position) is not among the first \(size). Give a larger size, or none."
        )
    }

    private func text(_ claim: ProofText.Claim, _ root: Hash32) throws(LogError) -> ProofText {
        let manifest = try store[id].status().manifest
        return ProofText(space: id, lineage: manifest.lineage.text, claim: claim, root: root)
    }
}
