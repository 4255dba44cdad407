/// The result of the work on a pack's read models.
package typealias ModelOutcome = Result<ReadModels.Report?, DiarioError>

/// Works on the read models of several packs, which are independent.
package protocol ModelCrew: AnyObject, Sendable {
    /// Does each piece by its number, and gives what came of them in the same order.
    ///
    /// Those with lower numbers are begun first. A piece tells how many events it applied;
    /// `progress` is told of all pieces, on the thread of the caller.
    func work(
        _ count: Int,
        _ piece: @escaping @Sendable (Int, (UInt64) -> Void) -> ModelOutcome,
        progress: ([UInt64]) -> Void
    ) -> [ModelOutcome]
}
