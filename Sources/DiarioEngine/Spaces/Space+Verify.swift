import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioSchema
package import DiarioStorage

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

extension Space {
    /// Reads and checks everything that the space holds: every checksum, rule, hash and payload.
    ///
    /// `progress` is told how many events were read.
    package func verify(
        progress: (Int) -> Void
    ) throws(DiarioError) -> SpaceVerification {
        var newest = self
        try newest.takeUpAdoptions()
        let catalog = newest.catalog
        var plans: [TypeEntry: PayloadPlan] = [:]
        var payload = Payload()
        var count = 0
        return try logging { () throws(LogError) in
            let result = try store.verify(id) { events in
                count += events.count
                progress(count)
                switch events {
                case .rows(let rows): return Self.check(rows, catalog, &plans, &payload)
                case .sealed(let types, _):
                    // As they were checked against their own schemas, these must be adopted.
                    let unknown = types.first { Self.plan($0, catalog, &plans) == nil }
                    guard let unknown else { return nil }
                    let name = String(decoding: unknown.name, as: UTF8.self)
                    return "no adopted pack has version \(unknown.version) of \(name)"
                }
            }
            return SpaceVerification(
                isOK: result.faults.isEmpty,
                events: try store.status(of: id).events,
                root: result.root,
                cuts: try store.cuts(),
                faults: result.faults
            )
        }
    }

    /// Reads the payloads of rows; gives what is wrong with the first that is not right.
    private static func check(
        _ events: StoredEvents,
        _ catalog: TypeCatalog,
        _ plans: inout [TypeEntry: PayloadPlan],
        _ payload: inout Payload
    ) -> String? {
        do throws(FormatError) {
            let block = events.bytes.span
            for stored in events.rows {
                let entry = events.types[stored.row.typeIndex]
                guard let plan = plan(entry, catalog, &plans) else {
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

    private static func plan(
        _ entry: TypeEntry,
        _ catalog: TypeCatalog,
        _ known: inout [TypeEntry: PayloadPlan]
    ) -> PayloadPlan? {
        if let plan = known[entry] { return plan }
        let name = String(decoding: entry.name, as: UTF8.self)
        // A schema other than the one that was used would read other values.
        guard let type = catalog.type(name, version: entry.version),
            Fingerprint.schema(type) == entry.fingerprint
        else { return nil }
        let plan = PayloadPlan(type)
        known[entry] = plan
        return plan
    }
}
