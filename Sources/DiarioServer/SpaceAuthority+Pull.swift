import DiarioCore
import DiarioCrypto
import DiarioLog
import DiarioSchema
import DiarioStorage
import DiarioSync

// What a replica asks an authority for: schema/format/sync.md, section 6.

extension SpaceAuthority {
    func news(for pull: Pull, _ outline: SpaceOutline) throws -> News {
        var own: [ReplicaID: [ClosedRange<UInt64>]] = [:]
        for run in pull.own where run.firstSequence > 0 && run.count > 0 {
            let range = run.firstSequence...run.firstSequence + run.count - 1
            own[run.replica, default: []].append(range)
        }
        let countMax = Int(clamping: max(pull.countMax, 1))
        let (pieces, end) = try store[space].news(
            after: pull.standing.size,
            own: own,
            countMax: countMax,
            inColumns: true,
            afterContext: pull.hasContext
        )
        guard let root = try store[space].proofs.root(size: end) else {
            throw LogError.outOfOrder(what: "the root at \(end) is not known")
        }
        return News(
            epoch: outline.manifest.epoch,
            head: store[space].head(),
            end: end,
            root: root,
            pieces: pieces.map { piece in
                switch piece {
                case .block(let block): .block(block)
                case .own(let run, let hash): .own(run, hash)
                }
            }
        )
    }

    /// The largest of the sizes at which this log has the same root.
    func common(_ compare: Compare) throws -> Common {
        let outline = try outline(of: compare.lineage)
        // Logs that are the same at a size are so at all sizes below.
        var same = compare.points.prefix { $0.size <= outline.head }
        var known: UInt64 = 0
        while !same.isEmpty {
            let middle = same.startIndex + same.count / 2
            let point = same[middle]
            let root = try store[space].proofs.root(size: point.size)
            if root == point.root {
                known = point.size
                same = same[(middle + 1)...]
            } else {
                same = same[..<middle]
            }
        }
        return Common(epoch: outline.manifest.epoch, head: outline.head, size: known)
    }

    func pack(_ fingerprint: Hash32, for caller: Caller) throws -> PackFiles {
        do {
            let pack = try store.packs.pack(fingerprint)
            guard pack.format <= caller.packFormat else {
                throw Refusal(
                    .version,
                    number: UInt64(SyncMessage.version),
                    "The pack \(pack.name) \(pack.version) of this space needs a newer version of "
                        + "the program that asks. Install one; what was recorded stays."
                )
            }
            let files = pack.files
            return PackFiles(
                files: files.map { PackFiles.File(path: $0.path, content: $0.bytes) }
            )
        } catch {
            guard case LogError.storage(.notFound) = error else { throw error }
            throw Refusal(.noPack, "There is no pack with the fingerprint \(fingerprint.text).")
        }
    }
}
