import DiarioCore
import DiarioCrypto
package import DiarioEngine
import DiarioLog
import DiarioSchema

/// Work that takes longer than a page may wait, and goes on a step at a time.
package protocol PageJob: AnyObject {
    /// Goes on until `isOver`, or a little longer; gives what it has to tell by now.
    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep
}

/// What came of a step.
package enum PageStep: Equatable, Sendable {
    case more([UInt8])
    case end([UInt8])
}

/// Brings the read models up to date.
final class FollowJob: PageJob {
    private let models: ReadModels

    init(_ models: ReadModels) { self.models = models }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        try models.updateStep(isOver: isOver) ? .more([]) : .end([])
    }
}

/// Answers a question: first the columns, then rows as lines of JSON.
final class AnswerJob: PageJob {
    private let follow: FollowJob
    private let models: ReadModels
    private let question: Question
    private var answer: Answer?
    private var isFollowing = true

    /// Rows between two looks at the clock.
    private static let rowCount = 16
    /// Milliseconds after which nobody waits for an answer any more.
    private static let timeMax: Int64 = 10_000

    init(_ question: Question, _ models: ReadModels) {
        (self.question, self.models) = (question, models)
        follow = FollowJob(models)
    }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        if isFollowing {
            if case .more = try follow.step(isOver) { return .more([]) }
            isFollowing = false
        }
        guard let answer else {
            let space = models.space
            let end = space.now.milliseconds + Self.timeMax
            let found = try models.ask(question).answer(isOver: { space.now.milliseconds > end })
            try found.checkNames()
            answer = found
            return .more(Self.head(of: found))
        }
        var lines: [UInt8] = []
        repeat {
            for _ in 0..<Self.rowCount {
                guard let row = try answer.next() else { return .end(lines) }
                lines += row.json
                lines.append(UInt8(ascii: "\n"))
            }
        } while !isOver()
        return .more(lines)
    }

    private static func head(of answer: Answer) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("columns", texts: answer.columns)
            json.add("tables", texts: answer.readTables.sorted())
        }
    }
}

/// Reads and checks all that a space holds.
final class VerifyJob: PageJob {
    private var verify: SpaceVerify

    /// Bytes between two looks at the clock.
    private static let size = 16 * 1024

    init(_ space: Space) throws(DiarioError) { verify = try SpaceVerify(space) }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        repeat {
            guard try verify.step(Self.size) else { return .end(Self.json(try verify.result())) }
        } while !isOver()
        let count = verify.count
        return .more(JSONObjectWriter.object { $0.add("events", count) })
    }

    private static func json(_ found: SpaceVerification) -> [UInt8] {
        JSONObjectWriter.object { json in
            json.add("ok", found.isOK)
            json.add("events", found.events)
            if let root = found.root { json.add("root", root.text) }
            json.add("cuts", texts: found.cuts)
            json.add("faults", texts: found.faults.map { $0.message })
        }
    }
}

/// Does what a log has to do while nobody calls: hashing, then sealing.
final class RestJob: PageJob {
    private let space: Space
    private let helper: PageHelper
    private var seals: DueSeals?

    /// Bytes between two looks at the clock.
    private static let size = 64 * 1024

    init(_ space: Space, _ helper: PageHelper) { (self.space, self.helper) = (space, helper) }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        do throws(LogError) {
            if helper.takeHashes() {
                guard try !hash(isOver) else {
                    helper.hashSoon()
                    return .more([])
                }
            }
            if helper.takeSeals() { seals = DueSeals(space.store, and: space.id) }
            while var seals = seals.take() {
                guard try seals.step(Self.size) else { break }
                self.seals = consume seals
                if isOver() { return .more([]) }
            }
        } catch {
            throw DiarioError(error)
        }
        return .end([])
    }

    private func hash(_ isOver: () -> Bool) throws(LogError) -> Bool {
        if try space.store[space.id].hashStep(isOver: isOver) { return true }
        // What waits for the hashes of other spaces goes as well.
        space.store.hashDue()
        return false
    }
}

/// Hashes all events, for who asks for the root next.
final class HashJob: PageJob {
    private let space: Space

    init(_ space: Space) { self.space = space }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        do throws(LogError) {
            return try space.store[space.id].hashStep(isOver: isOver) ? .more([]) : .end([])
        } catch {
            throw DiarioError(error)
        }
    }
}
