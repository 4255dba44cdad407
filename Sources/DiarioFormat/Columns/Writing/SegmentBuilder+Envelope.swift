import DiarioCore

extension SegmentBuilder {
    /// Writes the envelope columns.
    func writeEnvelope(
        _ encoder: inout ColumnEncoder,
        _ replicas: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        let keys = KeyColumns(rowCount: eventCount)
        let scope = ColumnScope(keys)
        func add(_ kind: SegmentBlockKind) {
            file.add(kind: kind.rawValue, rowCount: eventCount, encoder.writer)
            encoder.writer.removeAll()
        }
        func addKey(_ name: Int, _ codes: [Int64], _ distinctCount: Int) {
            let codes = codes.map { UInt32(truncatingIfNeeded: $0) }
            keys.add(name, codes, distinctCount: distinctCount)
        }
        encoder.writer.removeAll()
        try encoder.encode(envelope.types, .envelope(.types, 0), .choices, scope)
        addKey(KeyColumns.types, envelope.types, types.count)
        add(.types)
        let first = ColumnName.envelope(.origins, 0)
        try encoder.encode(envelope.replicas, first, .indices(start: 0), scope)
        addKey(KeyColumns.replicas, envelope.replicas, self.replicas.count)
        let (sequences, offsets, counts) = surprises
        try encoder.encode(sequences, .envelope(.origins, 1), .numbers, scope)
        add(.origins)
        try encoder.encode(envelope.clocks, .envelope(.clocks, 0), .numbers, scope)
        add(.clocks)
        func variants(_ times: [Int64]) -> [[Int64]] {
            [times, zip(times, envelope.clocks).map { $0 &- $1 >> 16 }]
        }
        let times = variants(envelope.times)
        try encoder.encode(variants: times, .envelope(.times, 0), .numbers, scope)
        add(.times)
        if firstPosition != nil {
            let times = variants(envelope.accepted)
            try encoder.encode(variants: times, .envelope(.accepted, 0), .numbers, scope)
            add(.accepted)
        }
        try encoder.encode(offsets, .envelope(.batches, 0), .numbers, scope)
        try encoder.encode(counts, .envelope(.batches, 1), .numbers, scope)
        add(.batches)
        try encoder.encode(variants: baseVariants, .envelope(.bases, 0), .numbers, scope)
        add(.bases)
        let bit = Int64(RowFlags.personal.rawValue)
        let (others, personal) = (envelope.flags.map { $0 & ~bit }, envelope.flags.map { $0 & bit })
        try encoder.encode(others, .envelope(.flags, 0), .choices, scope)
        try encoder.encode(personal, .envelope(.flags, 1), .choices, scope)
        add(.flags)
        for (flag, kind) in [(RowFlags.actor, SegmentBlockKind.actors), (.subject, .subjects)] {
            let strings = flag == .actor ? envelope.actors : envelope.subjects
            guard !strings.isEmpty else { continue }
            let present = ColumnScope(keys, present: envelope.events(with: flag))
            _ = try encoder.encode(strings, .envelope(kind, 0), present, &replicas)
            add(kind)
        }
    }

    /// What of sequences and batches does not follow from the events before.
    private var surprises: (sequences: [Int64], offsets: [Int64], counts: [Int64]) {
        var sequences = [Int64](repeating: 0, count: eventCount)
        var offsets = sequences
        var counts = sequences
        var prediction = EnvelopePrediction(
            firstSequences: runs.map { Int64(bitPattern: $0.first?.first ?? 1) }
        )
        for index in 0..<eventCount {
            let replica = envelope.replicas[index]
            let expected = prediction.batch(of: replica)
            let sequence = envelope.sequences[index]
            sequences[index] = sequence &- prediction.sequence(of: replica)
            offsets[index] = envelope.batchOffsets[index] &- expected.offset
            counts[index] = envelope.batchCounts[index] &- expected.count
            prediction.note(
                replica: replica,
                sequence: sequence,
                offset: envelope.batchOffsets[index],
                count: envelope.batchCounts[index]
            )
        }
        return (sequences, offsets, counts)
    }

    private var baseVariants: [[Int64]] {
        guard let firstPosition else { return [envelope.bases] }
        var position = Int64(bitPattern: firstPosition)
        let distances = envelope.bases.map { base in
            defer { position &+= 1 }
            return position &- 1 &- base
        }
        return [envelope.bases, distances]
    }
}
