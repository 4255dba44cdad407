import DiarioCore
import DiarioFormat
import DiarioSchema

/// Makes columns of blocks that follow one another.
enum WireColumns {
    /// The blocks in columns; nil if these cannot hold them: a schema is not known here, or a
    /// version of a type has two.
    static func made(
        of blocks: [[UInt8]],
        in space: SpaceID,
        _ store: LogShared
    ) throws(LogError) -> [UInt8]? {
        var types = SealedTypes(store, space)
        var heads: [BlockHead] = []
        var seen: Set<TypeEntry> = []
        do throws(LogError) {
            for block in blocks {
                let head = try parse(block)
                for entry in head.types where seen.insert(entry).inserted {
                    _ = try types.type(entry)
                }
                heads.append(head)
            }
        } catch .noSchema {
            return nil
        }
        let versions = Set(seen.map { Version(name: $0.name, number: $0.version) })
        guard seen.count == versions.count, seen.count <= SegmentLimits.typeCountMax else {
            return nil
        }
        var builder = SegmentBuilder(
            firstPosition: heads.first?.summary.firstPosition,
            expected: heads.reduce(0) { $0 + $1.summary.eventCount }
        )
        var salts: Set<SaltNode> = []
        var plan = store.sealing.plan(.complete)
        do throws(FormatError) {
            for (block, head) in zip(blocks, heads) {
                try append(block, head, types.known, to: &builder)
                for node in head.saltNodes where salts.insert(node).inserted {
                    builder.append(node)
                }
                for refusal in try store.engine.facts(in: block.span, head.summary).refusals {
                    builder.refuse(refusal.replica, refusal.sequences)
                }
            }
            let sealed = try builder.finish(&plan)
            store.sealing.keep(plan, .complete)
            return sealed.segment + sealed.sidecar
        } catch {
            throw .format(error)
        }
    }

    private struct Version: Hashable {
        let name: [UInt8]
        let number: Int
    }

    private static func parse(_ block: [UInt8]) throws(LogError) -> BlockHead {
        do throws(FormatError) {
            return try BlockHead.parse(block.span, verifyChecksum: false)
        } catch {
            throw .format(error)
        }
    }

    private static func append(
        _ block: [UInt8],
        _ head: BlockHead,
        _ types: [TypeEntry: EventType],
        to builder: inout SegmentBuilder
    ) throws(FormatError) {
        let own = head.types.map { types[$0] }
        var cursor = RowCursor(block.span, head.summary)
        while let row = try cursor.next() {
            guard let type = own[row.typeIndex] else {
                preconditionFailure("each type was looked up")
            }
            try builder.append(
                SegmentEvent(row, isAuthority: head.summary.isAuthority),
                of: block.span,
                type: type
            )
        }
    }
}
