import DiarioFormat
import Synchronization

/// Decompresses condensed blocks for all who read the log.
final class Expander: Sendable {
    private struct State: ~Copyable {
        var expander: BlockExpander?
    }

    private let state = Mutex(State())

    /// A block of the log as it was before it was condensed.
    func expand(_ block: [UInt8]) throws(FormatError) -> [UInt8] {
        var output: [UInt8] = []
        // Carried out as a value, because the lock's closure is not generic over the error.
        var failure: FormatError?
        state.withLock { state in
            do throws(FormatError) {
                if state.expander == nil { state.expander = try BlockExpander() }
                try state.expander?.expand(block.span, into: &output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return output
    }
}
