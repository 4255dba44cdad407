#if hasFeature(Embedded)
import CWeb
import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioSchema
import DiarioStorage

// What the worker of a page calls: names, numbers and bytes in; a code out, and bytes that it takes
// with `diario_answer`. Lengths and places are those of the module's memory.

/// What the worker holds; the module has one thread.
struct Worker {
    var pool: PooledDirectory?
    var page: Page?
    var jobs: [Int32: any PageJob] = [:]
    var lastJob: Int32 = 0
    var answer: [UInt8] = []
    /// Files that SQLite has open, by their slots.
    var databases: [Int32: [any LogFile]] = [:]
}

// Sendable because the module has one thread.
nonisolated(unsafe) var worker = Worker()

private final class WorkerClock: TimeSource {
    var now: Timestamp { Timestamp(milliseconds: Int64(diario_web_now())) }
}

private final class WorkerEntropy: EntropySource {
    func next() -> UInt64 {
        var drawn: UInt64 = 0
        // Safe: as many bytes are written as there are.
        unsafe withUnsafeMutableBytes(of: &drawn) {
            unsafe diario_web_random($0.baseAddress, $0.count)
        }
        return drawn
    }
}

/// Bytes that the worker put into the memory of the module.
func bytes(_ start: Int, _ count: Int) -> [UInt8] {
    // Safe: the worker gives a place that it got from `malloc`, and its size.
    unsafe Array(UnsafeBufferPointer(start: UnsafePointer(bitPattern: start), count: count))
}

func text(_ start: Int, _ count: Int) -> String {
    String(decoding: bytes(start, count), as: UTF8.self)
}

/// Runs `body`, whose bytes are the answer; if it fails, the answer is the error.
private func answering(_ body: () throws(DiarioError) -> [UInt8]) -> Int32 {
    do throws(DiarioError) {
        worker.answer = try body()
        return 0
    } catch {
        worker.answer = error.json
        return -1
    }
}

@_cdecl("diario_answer")
public func diarioAnswer() -> Int {
    // Safe: the worker reads it before it calls again, and the answer stays until then.
    unsafe worker.answer.withUnsafeBufferPointer { unsafe Int(bitPattern: $0.baseAddress) }
}

@_cdecl("diario_answer_size")
public func diarioAnswerSize() -> Int { worker.answer.count }

// MARK: The pool

/// Takes the slots that the worker has opened, and what is in them.
@_cdecl("diario_pool")
public func diarioPool(_ count: Int32) -> Int32 {
    answering { () throws(DiarioError) in
        do throws(StorageError) {
            let pool = try PooledDirectory((0..<Int(count)).map { PageSlot(Int32($0)) })
            worker.pool = pool
            worker.page = Page(
                pool,
                time: WorkerClock(),
                entropy: WorkerEntropy(),
                domains: [Fish.domain]
            ) { PooledModels(pool, of: $0) }
        } catch {
            throw DiarioError(error)
        }
        return []
    }
}

/// Slots that the worker has opened since, behind those that are there.
@_cdecl("diario_pool_add")
public func diarioPoolAdd(_ count: Int32) {
    guard let pool = worker.pool else { return }
    let first = pool.slotCount
    pool.add((first..<first + Int(count)).map { PageSlot(Int32($0)) })
}

@_cdecl("diario_pool_free")
public func diarioPoolFree() -> Int32 { Int32(worker.pool?.freeCount ?? 0) }

// MARK: Calls and work

private func page() throws(DiarioError) -> Page {
    guard let page = worker.page else { throw DiarioError(.notFound, "There is no pool.") }
    return page
}

/// Does something at once: 0, or -1 with the error as the answer.
@_cdecl("diario_call")
public func diarioCall(
    _ name: Int,
    _ nameSize: Int,
    _ input: Int,
    _ inputSize: Int
) -> Int32 {
    let (name, input) = (text(name, nameSize), bytes(input, inputSize))
    return answering { () throws(DiarioError) in try page().call(name, input) }
}

/// Begins something that takes several steps: its number, or -1 with the error as the answer.
@_cdecl("diario_begin")
public func diarioBegin(
    _ name: Int,
    _ nameSize: Int,
    _ input: Int,
    _ inputSize: Int
) -> Int32 {
    let (name, input) = (text(name, nameSize), bytes(input, inputSize))
    let code = answering { () throws(DiarioError) in
        let job = try page().begin(name, input)
        worker.lastJob += 1
        worker.jobs[worker.lastJob] = job
        return []
    }
    return code == 0 ? worker.lastJob : code
}

/// Goes on for about so many milliseconds: 1 if there is more to do, 0 if it is done, -1 if it
/// failed.
@_cdecl("diario_step")
public func diarioStep(_ number: Int32, _ milliseconds: Double) -> Int32 {
    let end = diario_web_elapsed() + milliseconds
    var isMore = false
    let code = answering { () throws(DiarioError) in
        guard let job = worker.jobs[number] else {
            throw DiarioError(.notFound, "There is no such work.")
        }
        switch try job.step({ diario_web_elapsed() >= end }) {
        case .more(let told):
            isMore = true
            return told
        case .end(let told): return told
        }
    }
    if !isMore { worker.jobs[number] = nil }
    return isMore ? 1 : code
}

/// Ends something before it is done.
@_cdecl("diario_cancel")
public func diarioCancel(_ number: Int32) { worker.jobs[number] = nil }

// MARK: The names of SQLite's files: vfs.c

/// A name as C has it.
private func name(_ start: Int) -> String {
    // Safe: SQLite gives names, and ends them.
    unsafe UnsafePointer<CChar>(bitPattern: start).map { unsafe String(cString: $0) } ?? ""
}

@_cdecl("diario_web_open_name")
public func diarioWebOpenName(_ start: Int, _ creates: Int32) -> Int32 {
    let path = name(start)
    guard let pool = worker.pool else { return -1 }
    do throws(StorageError) {
        let (slot, file) = try pool.openSlot(path, creates != 0 ? .create : .readWrite)
        worker.databases[Int32(slot), default: []].append(file)
        return Int32(slot)
    } catch .noSlots {
        return -2
    } catch {
        return -1
    }
}

@_cdecl("diario_web_close_name")
public func diarioWebCloseName(_ slot: Int32) {
    worker.databases[slot]?.removeLast()
    if worker.databases[slot]?.isEmpty == true { worker.databases[slot] = nil }
}

@_cdecl("diario_web_remove_name")
public func diarioWebRemoveName(_ start: Int) -> Int32 {
    let path = name(start)
    do throws(StorageError) {
        try worker.pool?.remove(path)
        return 1
    } catch {
        return 0
    }
}

@_cdecl("diario_web_has_name")
public func diarioWebHasName(_ start: Int) -> Int32 {
    let path = name(start)
    return worker.pool?.identity(of: path) == nil ? 0 : 1
}
#endif
