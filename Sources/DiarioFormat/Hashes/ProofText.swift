package import DiarioCore
package import DiarioCrypto

/// A proof with everything needed to check it: schema/format/proofs.md, section 5.
///
/// Reading one checks its form only; `check` tells if it is valid.
package struct ProofText: Equatable, Sendable {
    static let version: Int64 = 1
    /// Bytes of the longest text that is read.
    package static let sizeMax = Limits.lineSizeMax

    package enum Claim: Equatable, Sendable {
        case inclusion(InclusionProof, leaf: Hash32, event: ProofEvent?)
        case consistency(ConsistencyProof, fromRoot: Hash32)
    }

    /// For people: nothing depends on it.
    package let space: SpaceID
    /// 32 digits of lower-case hexadecimal.
    package let lineage: String
    package let claim: Claim
    /// The root at the size of the proof.
    package let root: Hash32

    package init(space: SpaceID, lineage: String, claim: Claim, root: Hash32) {
        self.space = space
        self.lineage = lineage
        self.claim = claim
        self.root = root
    }

    package var size: UInt64 {
        switch claim {
        case .inclusion(let proof, _, _): proof.size
        case .consistency(let proof, _): proof.size
        }
    }

    /// Checks that all parts of the proof agree.
    ///
    /// The caller must know that the root is the right one.
    package func check() throws(ProofFault) {
        var hasher = EventHasher()
        switch claim {
        case .inclusion(let proof, let leaf, let event):
            if let event, event.leaf(&hasher) != leaf { throw .leafDiffers }
            try proof.check(leaf: leaf, root: root, &hasher)
        case .consistency(let proof, let fromRoot):
            try proof.check(fromRoot: fromRoot, root: root, &hasher)
        }
    }
}

/// The event that a proof of inclusion speaks of.
package struct ProofEvent: Equatable, Sendable {
    package let row: ProofRow
    /// In milliseconds.
    package let acceptedAt: Int64

    package init(row: ProofRow, acceptedAt: Int64) {
        self.row = row
        self.acceptedAt = acceptedAt
    }

    func leaf(_ hasher: inout EventHasher) -> Hash32 {
        let bytes = row.bytes
        return hasher.leaf(hasher.hash(bytes.span), acceptedAt: acceptedAt)
    }
}

/// A canonical row that was taken apart up to its payload: schema/format/rows.md, section 4.
package struct ProofRow: Equatable, Sendable {
    package let bytes: [UInt8]
    package let typeName: String
    package let typeVersion: Int
    package let part: PublicPart
    /// The commitment of the personal part, if the event has or had one.
    package let commitment: Hash32?

    package init(_ bytes: [UInt8]) throws(FormatError) {
        var reader = ByteReader(bytes.span.raw)
        let version = try reader.next(UInt8.self)
        guard version == 1 else { throw .unknownVersion(version, at: 0) }
        let name = try reader.nextText()
        guard 1...Limits.typeNameSizeMax ~= name.count else { throw .malformed(.typeName, at: 1) }
        let number = try reader.nextVarint()
        guard 1...65_535 ~= number else { throw .malformed(.typeVersion, at: name.upperBound) }
        let replicaOffset = reader.offset
        guard let replica = ReplicaID(rawValue: try reader.next(UInt64.self)) else {
            throw .malformed(.replica, at: replicaOffset)
        }
        let sequence = try reader.nextVarint()
        guard 1...UInt64.max - 1 ~= sequence else {
            throw .malformed(.sequence, at: replicaOffset + 8)
        }
        let start = reader.offset
        let hasPersonal = try Self.flags(&reader).contains(.personal)
        let end = bytes.count - (hasPersonal ? Hash32.size : 0)
        guard end >= reader.offset else { throw .truncated(at: reader.offset) }
        self.bytes = bytes
        typeName = String(decoding: bytes[name], as: UTF8.self)
        typeVersion = Int(number)
        part = try PublicPart.parse(
            bytes.span,
            start..<end,
            origin: Origin(replica: replica, sequence: sequence),
            // The length of the personal part is not known here.
            personalSize: hasPersonal ? 1 : 0
        )
        commitment = Hash32(bytes.span.extracting(end..<bytes.count))
    }

    /// Reads on up to the flags, which say where the public part ends.
    private static func flags(_ reader: inout ByteReader) throws(FormatError) -> RowFlags {
        _ = try reader.nextVarint()
        _ = try reader.nextVarint()
        _ = try reader.next(UInt64.self)
        _ = try reader.nextZigzag()
        _ = try reader.nextVarint()
        return RowFlags(rawValue: try reader.next(UInt8.self))
    }
}
