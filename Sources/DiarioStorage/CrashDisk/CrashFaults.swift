/// The planned faults of a `CrashDisk`, with the count of its operations.
struct CrashFaults {
    /// The operation that will be the last one.
    struct Cut {
        var operationsLeft: Int
        let moment: CrashDisk.CutMoment
        /// Whose operations count and who dies; nil is everyone.
        let process: Int32?
    }

    /// The error number of what fails: EIO.
    static let code: Int32 = 5

    var cut: Cut?
    var failingSyncCount = 0
    var failing: CrashDisk.Failing?
    /// The number of reads up to the one that fails; nil if none does.
    var readsToFailure: Int?
    /// Every so many writes, one fails.
    var writeFailurePeriod: Int?
    var writesSinceFailure = 0
    /// Bytes that all files together may have.
    var capacity: Int?
    /// Files that there may be, with those that only a power cut brings back.
    var slotCount: Int?
    var counters = CrashDisk.Counters()

    /// Counts an operation of `process`; the moment of the cut if it is the last one.
    mutating func count(_ process: Int32) -> Cut? {
        counters.operations += 1
        guard let planned = cut, planned.process == nil || planned.process == process else {
            return nil
        }
        guard planned.operationsLeft <= 1 else {
            cut?.operationsLeft -= 1
            return nil
        }
        cut = nil
        return planned
    }

    /// True if the write that is about to be made shall fail.
    mutating func nextWriteFails() -> Bool {
        guard let period = writeFailurePeriod else { return false }
        writesSinceFailure += 1
        guard writesSinceFailure >= period else { return false }
        writesSinceFailure = 0
        return true
    }

    mutating func nextReadFails() -> Bool {
        guard let left = readsToFailure else { return false }
        readsToFailure = left > 1 ? left - 1 : nil
        return left <= 1
    }

    /// Fails if the operation is one of those of which every so many do.
    mutating func check(
        _ operation: StorageError.Operation,
        _ path: String
    ) throws(StorageError) {
        guard var plan = failing, plan.operations.contains(operation) else { return }
        plan.count += 1
        failing = plan
        guard plan.count.isMultiple(of: plan.period) else { return }
        throw .failed(operation, path, code: CrashFaults.code)
    }

    mutating func nextSyncFails() -> Bool {
        guard failingSyncCount > 0 else { return false }
        failingSyncCount -= 1
        return true
    }
}
