import DiarioCore
import DiarioFormat
import DiarioStorage
import Synchronization

// Rows that the log says are in row files, and that are not there any more.
extension SpaceRepair {
    /// Looks whether row files give what the log says; if not, what is found of it is sealed.
    mutating func findRows(
        _ setAside: inout SetAside,
        _ report: inout RepairReport
    ) throws(LogError) {
        var files: Set<String> = []
        for run in shared.index.withLock({ $0[space].canonical.runs }) where run.isMoved {
            guard let fault = try damage(of: run) else { continue }
            damagedRowsEnd = max(damagedRowsEnd, run.last)
            report.found(fault, "what else holds its events takes its place")
            guard files.insert(fault.file).inserted else { continue }
            try setAside.keep(fault.file, because: fault.what)
        }
    }

    private func damage(of run: Run) throws(LogError) -> Fault? {
        do throws(LogError) {
            guard let stored = try shared.read(run) else { throw run.missingFault }
            do throws(FormatError) {
                let block = try shared.expander.expand(stored)
                let summary = try BlockSummary.parse(block.span, verifyChecksum: true)
                guard summary.firstPosition == run.first - UInt64(run.skip),
                    summary.lastPosition ?? 0 >= run.last
                else { throw .malformed(.position, at: 0) }
            } catch {
                throw run.fault(error)
            }
        } catch {
            guard case .corrupt(let fault) = error else { throw error }
            return fault
        }
        return nil
    }
}
