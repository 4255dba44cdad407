import DiarioCore
import DiarioCrypto
import DiarioSchema
import DiarioZstd

extension SegmentBuilder {
    /// Seals what was gathered, which is at least one event.
    ///
    /// `plan` says how, and learns from this segment for the next one. When this throws, it has
    /// forgotten everything, unless a payload was none of its type.
    package consuming func finish(
        _ plan: inout SegmentPlan
    ) throws(FormatError) -> SealedSegment {
        precondition(!isEmpty, "a segment has at least one event")
        precondition(
            firstPosition != nil || replicas.count == 1,
            "pending events are those of one replica"
        )
        // Taken out, since what is held twice is copied when it changes.
        var taken = SegmentPlan()
        swap(&taken, &plan)
        var encoder = try ColumnEncoder(plan: consume taken)
        var segment = SegmentFileWriter()
        var sidecar = SegmentFileWriter()
        var table = ReplicaTable(indexedReplicas.map { $0.replica })
        try writeEnvelope(&encoder, &table, into: &segment)
        let pools = TextPools(types, typeOfEvents: envelope.types)
        try writePools(pools, &encoder, &table, into: &segment)
        for index in types.indices {
            try writeFields(&encoder, index, pools, &table, into: &segment, &sidecar)
            try writeFilter(&encoder, index, into: &segment)
        }
        try writeSchemas(&encoder, table, into: &segment)
        try writeSidecar(&encoder, into: &sidecar)
        plan = encoder.plan
        return try files(segment, sidecar, &encoder.writer.compressor)
    }

    private func writePools(
        _ pools: TextPools,
        _ encoder: inout ColumnEncoder,
        _ table: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        for (number, pool) in pools.pools.enumerated() {
            encoder.writer.removeAll()
            encoder.writer.put(varint: pool.types.count)
            for type in pool.types { encoder.writer.put(varint: type) }
            try encoder.writer.put(strings: pool.strings.strings, &table)
            if !pool.types.isEmpty {
                let sharing = Set(pool.types.map { Int64($0) })
                let events = envelope.types.indices.filter { sharing.contains(envelope.types[$0]) }
                let keys = KeyColumns(rowCount: events.count)
                keys.add(
                    KeyColumns.replicas,
                    events.map { UInt32(truncatingIfNeeded: envelope.replicas[$0]) },
                    distinctCount: replicas.count
                )
                let name = ColumnName.shared(pool.name)
                try encoder.encode(pool.codes, name, .indices(start: 0), ColumnScope(keys))
            }
            file.add(
                kind: SegmentBlockKind.pool.rawValue,
                key: number,
                rowCount: pool.strings.count,
                encoder.writer
            )
        }
    }

    private func writeFields(
        _ encoder: inout ColumnEncoder,
        _ index: Int,
        _ pools: TextPools,
        _ table: inout ReplicaTable,
        into segment: inout SegmentFileWriter,
        _ sidecar: inout SegmentFileWriter
    ) throws(FormatError) {
        let type = types[index]
        for (number, chunk) in type.chunks.enumerated() {
            let uses = chunk.publicFields.columns.indices.reduce(into: [Int: PoolUse]()) {
                uses,
                place in
                let column = TextPools.Column(type: index, chunk: number, place: place)
                uses[place] = pools.uses[column]
            }
            try encoder.encode(chunk.publicFields, of: type.entry, uses, &table)
            segment.add(
                kind: SegmentBlockKind.fields.rawValue,
                key: index,
                firstRow: chunk.firstRow,
                rowCount: chunk.publicFields.rowCount,
                encoder.writer
            )
            guard chunk.personalFields.rowCount > 0 else { continue }
            // The segment may not depend on what personal fields mention.
            table.mayGrow = false
            try encoder.encode(chunk.personalFields, of: type.entry, [:], &table)
            table.mayGrow = true
            sidecar.add(
                kind: SidecarBlockKind.personalFields.rawValue,
                key: index,
                firstRow: chunk.firstRow,
                rowCount: chunk.personalFields.rowCount,
                encoder.writer
            )
        }
    }

    /// Writes the filter of a type's subjects, if some are texts of their own.
    private func writeFilter(
        _ encoder: inout ColumnEncoder,
        _ index: Int,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        var checksums: [UInt32] = []
        if let place = types[index].subjectPlace {
            for chunk in types[index].chunks {
                let strings = chunk.publicFields.columns[place].strings
                for text in 0..<strings.count {
                    checksums.append(Checksum.crc32c(strings[text].raw))
                }
            }
        } else if types[index].type.subjectFieldIndex == nil {
            let bit = Int64(RowFlags.subject.rawValue)
            var next = 0
            for event in 0..<eventCount where envelope.flags[event] & bit != 0 {
                if envelope.types[event] == Int64(index) {
                    checksums.append(Checksum.crc32c(envelope.subjects[next].raw))
                }
                next += 1
            }
        }
        guard !checksums.isEmpty else { return }
        encoder.writer.removeAll()
        try SubjectFilter(checksums: checksums).write(into: &encoder.writer)
        file.add(
            kind: SegmentBlockKind.filter.rawValue,
            key: index,
            rowCount: 0,
            encoder.writer
        )
    }

    private func writeSchemas(
        _ encoder: inout ColumnEncoder,
        _ table: ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        var content: [UInt8] = []
        for type in types {
            let schema = type.type.canonicalSchema
            content.append(counted: schema.span.raw)
        }
        content.append(varint: UInt64(table.foreign.count))
        for replica in table.foreign { content.append(littleEndian: replica.rawValue) }
        encoder.writer.removeAll()
        try encoder.writer.put(stream: content.span)
        file.add(kind: SegmentBlockKind.schemas.rawValue, rowCount: 0, encoder.writer)
    }

    private func writeSidecar(
        _ encoder: inout ColumnEncoder,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        if !saltNodes.isEmpty {
            encoder.writer.removeAll()
            try writeSalts(&encoder.writer)
            file.add(
                kind: SidecarBlockKind.salts.rawValue,
                rowCount: saltNodes.count,
                encoder.writer
            )
        }
        guard !erasures.isEmpty else { return }
        encoder.writer.removeAll()
        var commitments: [UInt8] = []
        for erasure in erasures { commitments.append(erasure.commitment) }
        let indices = erasures.map { Int64($0.index) }
        try encoder.writer.put(simple: indices, .delta)
        try encoder.writer.put(stream: commitments.span)
        file.add(
            kind: SidecarBlockKind.erased.rawValue,
            rowCount: erasures.count,
            encoder.writer
        )
    }

    private func writeSalts(_ writer: inout ColumnWriter) throws(FormatError) {
        let numbers = saltNodes.map { node in Int64(replicas.firstIndex(of: node.replica) ?? -1) }
        precondition(!numbers.contains(-1), "salts are those of replicas of the segment")
        let groups = saltNodes.map { Int64(bitPattern: $0.group) }
        let levels = saltNodes.map { Int64($0.level) }
        let indices = saltNodes.map { Int64($0.index) }
        var values: [UInt8] = []
        for node in saltNodes { node.value.write(into: &values) }
        try writer.put(simple: numbers, .plain)
        try writer.put(simple: groups, .delta)
        try writer.put(simple: levels, .plain)
        try writer.put(simple: indices, .plain)
        try writer.put(stream: values.span)
    }

    private func files(
        _ segment: SegmentFileWriter,
        _ sidecar: SegmentFileWriter,
        _ compressor: inout Compressor
    ) throws(FormatError) -> SealedSegment {
        var header = SegmentHeader(
            file: .segment,
            isPositioned: firstPosition != nil,
            eventCount: eventCount,
            firstPosition: firstPosition ?? 0,
            fileSize: 0,
            revision: 0,
            identity: SegmentIdentity(first: 0, second: 0),
            isIndexCompressed: false,
            indexSize: 0,
            storedIndexSize: 0
        )
        let index = index(of: segment.sortedBlocks).bytes
        let bytes = try segment.bytes(index: index, header, compressor: &compressor)
        header.file = .sidecar
        header.identity = try SegmentHeader.parse(bytes.span, .segment).identity
        var list: [UInt8] = []
        SegmentIndex.write(sidecar.sortedBlocks, into: &list)
        return SealedSegment(
            segment: bytes,
            sidecar: try sidecar.bytes(index: list, header, compressor: &compressor)
        )
    }

    private func index(of blocks: [SegmentBlock]) -> SegmentIndex {
        var at = TimeRange()
        for type in types {
            at.add(type.times.range.lowerBound)
            at.add(type.times.range.upperBound)
        }
        let clocks = envelope.clocks.map { UInt64(bitPattern: $0) }
        var accepted: ClosedRange<Int64>?
        if let first = envelope.accepted.first, let last = envelope.accepted.last {
            accepted = first...last
        }
        return SegmentIndex(
            types: types.map {
                SegmentType(entry: $0.entry, eventCount: $0.rows.count, at: $0.times.range)
            },
            at: at.range,
            clocks: (clocks.min() ?? 0)...(clocks.max() ?? 0),
            acceptedAt: accepted,
            replicas: indexedReplicas,
            blocks: blocks
        )
    }

    /// The replicas with all their runs, those refused among them.
    private var indexedReplicas: [SegmentReplica] {
        var found = replicas.indices.map { number in
            SegmentReplica(replica: replicas[number], runs: runs[number])
        }
        for (replica, runs) in refused.sorted(by: { $0.key < $1.key }) {
            if let number = found.firstIndex(where: { $0.replica == replica }) {
                found[number].runs += runs
                found[number].runs.sort { $0.first < $1.first }
            } else {
                found.append(SegmentReplica(replica: replica, runs: runs))
            }
        }
        return found
    }
}
