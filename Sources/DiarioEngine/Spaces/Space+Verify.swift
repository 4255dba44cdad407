package import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// What `verify` found.
package struct SpaceVerification: Sendable {
    package let isOK: Bool
    /// Canonical and pending events without those of an authority.
    package let events: Int
    /// Nil if a fault leaves it unknown.
    package let root: Hash32?
    /// Frames that a crash tore and recovery set aside; they were never acknowledged.
    package let cuts: [String]
    package let faults: [Fault]
}

extension SpaceVerification {
    /// Of a space that cannot be opened because of a fault.
    package init(unopened fault: Fault) {
        self.init(
            isOK: false,
            events: 0,
            root: nil,
            cuts: [],
            faults: [fault]
        )
    }
}

/// Reads and checks everything that a space holds, a piece in each step: every checksum, rule, hash
/// and payload.
package struct SpaceVerify: ~Copyable {
    private let space: Space
    private var log: LogVerify
    private var payloads: PayloadCheck

    package init(_ space: Space) throws(DiarioError) {
        var newest = space
        try newest.takeUpAdoptions()
        do { log = try LogVerify(newest.store, newest.id) } catch { throw DiarioError(error) }
        payloads = PayloadCheck(types: newest.types)
        self.space = newest
    }

    /// Events that were read so far.
    package var count: Int { payloads.count }

    /// Goes on by about so many bytes; false once all was read.
    package mutating func step(_ budget: Int) throws(DiarioError) -> Bool {
        var payloads = PayloadCheck(types: payloads.types)
        swap(&payloads, &self.payloads)
        defer { swap(&payloads, &self.payloads) }
        do throws(LogError) {
            return try log.step(budget) { payloads.fault(in: $0) }
        } catch {
            throw DiarioError(error)
        }
    }

    /// What was found so far.
    package func result() throws(DiarioError) -> SpaceVerification {
        let found = log.result
        do {
            return SpaceVerification(
                isOK: found.faults.isEmpty,
                events: try space.store[space.id].status().events,
                root: found.root,
                cuts: try space.store.cuts(),
                faults: found.faults
            )
        } catch {
            throw DiarioError(error)
        }
    }
}

extension Space {
    /// Verifies the space by a machine that runs to its end.
    ///
    /// `progress` is told how many events were read.
    package func verify(
        progress: (Int) -> Void
    ) throws(DiarioError) -> SpaceVerification {
        var verify = try SpaceVerify(self)
        while try verify.step(Limits.stepSize) { progress(verify.count) }
        return try verify.result()
    }
}

/// Reads payloads by the schemas that a space adopted.
private struct PayloadCheck {
    let types: SpaceTypes
    private var payload = Payload()
    private(set) var count = 0

    init(types: SpaceTypes) { self.types = types }

    /// What is wrong with the first event that is not right; nil if all are.
    mutating func fault(in events: VerifiedEvents) -> String? {
        count += events.count
        switch events {
        case .rows(let rows): return fault(in: rows)
        case .sealed(let entries, _):
            // As they were checked against their own schemas, these must be adopted.
            for entry in entries where types.plan(of: entry) == nil {
                let name = String(decoding: entry.name, as: UTF8.self)
                return "no adopted pack has version \(entry.version) of \(name)"
            }
            return nil
        }
    }

    private mutating func fault(in events: StoredEvents) -> String? {
        do throws(FormatError) {
            let block = events.bytes.span
            let plans = events.types.map { types.plan(of: $0) }
            for stored in events.rows {
                guard let plan = plans[stored.row.typeIndex] else {
                    return "no adopted pack has the type of \(stored.row.origin.text)"
                }
                try PayloadCodec.decode(
                    block,
                    stored.row,
                    PublicPart.parse(block, stored.row),
                    plan: plan,
                    into: &payload
                )
            }
            return nil
        } catch {
            return error.message
        }
    }
}
