package import DiarioCore
package import DiarioCrypto
package import DiarioFormat

/// The outcome of checking a proof, which needs no space.
package struct ProofCheck: Sendable {
    /// Why the proof does not hold, as a clause; nil if it does.
    package let fault: String?
    /// What it claims; nil if it is no proof.
    package let claim: ProofClaim?

    /// Bytes after which nothing of a proof can come.
    package static let sizeMax = ProofText.sizeMax

    /// Checks the proof in `bytes`, also against what is known of the log from elsewhere.
    package init(_ bytes: [UInt8], knowing known: KnownLog) {
        do throws(ProofTextError) {
            let proof = try ProofText(bytes)
            let claim = ProofClaim(proof)
            var fault = known.fault(claim)
            do throws(ProofFault) { try proof.check() } catch { fault = error.message }
            (self.fault, self.claim) = (fault, claim)
        } catch {
            (fault, claim) = ("it is no proof: \(error.message)", nil)
        }
    }
}

/// What a proof says.
package struct ProofClaim: Sendable {
    package let lineage: String
    package let size: UInt64
    package let root: Hash32
    package let kind: Kind

    package enum Kind: Sendable {
        /// The event at a position is in the log.
        case inclusion(position: UInt64, event: ProvenEvent?)
        /// The log begins with a smaller one.
        case consistency(fromSize: UInt64, fromRoot: Hash32)
    }

    fileprivate init(_ proof: ProofText) {
        (lineage, size, root) = (proof.lineage, proof.size, proof.root)
        kind =
            switch proof.claim {
            case .inclusion(let inclusion, _, let event):
                .inclusion(position: inclusion.index + 1, event: event.map { ProvenEvent($0) })
            case .consistency(let consistency, let fromRoot):
                .consistency(fromSize: consistency.fromSize, fromRoot: fromRoot)
            }
    }
}

/// The parts of a proven event that are known without its schema.
package struct ProvenEvent: Sendable {
    package let type: String
    package let version: Int
    package let origin: Origin
    package let subject: String?
    package let actor: String?
    package let at: Timestamp
    package let acceptedAt: Timestamp
    package let commitment: Hash32?

    fileprivate init(_ event: ProofEvent) {
        let (row, part) = (event.row, event.row.part)
        func text(_ range: Range<Int>?) -> String? {
            range.map { String(decoding: row.bytes[$0], as: UTF8.self) }
        }
        (type, version) = (row.typeName, row.typeVersion)
        origin = part.envelope.origin
        (subject, actor) = (text(part.subject), text(part.actor))
        (at, acceptedAt) = (part.envelope.at, Timestamp(milliseconds: event.acceptedAt))
        commitment = row.commitment
    }
}

/// What somebody knows of a log from elsewhere.
package struct KnownLog: Sendable {
    private let root: Hash32?
    private let size: UInt64?
    private let fromRoot: Hash32?
    package let needsEvent: Bool

    package init(root: Hash32?, size: UInt64?, fromRoot: Hash32?, needsEvent: Bool) {
        self.root = root
        self.size = size
        self.fromRoot = fromRoot
        self.needsEvent = needsEvent
    }

    /// The contradiction with a proof, as a clause; nil if there is none.
    fileprivate func fault(_ proof: ProofClaim) -> String? {
        if let size, proof.size != size {
            return "it is about a log of \(proof.size) events, not of \(size)"
        }
        if let root, proof.root != root { return "it is about the root \(proof.root.text)" }
        switch proof.kind {
        case .inclusion(_, let event):
            if fromRoot != nil { return "it is about one event, so it begins with no root" }
            if needsEvent, event == nil {
                return "it does not carry the event; make one with diario prove --event"
            }
        case .consistency(_, let proven):
            if let fromRoot, proven != fromRoot { return "it begins with the root \(proven.text)" }
            if needsEvent { return "it is about no single event" }
        }
        return nil
    }
}

extension ProofText {
    package func bytes(isIndented: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes, isIndented: isIndented)
        return bytes
    }
}
