import DiarioCore

extension SegmentBuilder {
    /// Writes the envelope columns; they become keys of `scope`.
    func writeEnvelope(
        _ encoder: inout ColumnEncoder,
        _ scope: ColumnScope,
        _ replicas: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        let keys = scope.keys
        func add(_ kind: SegmentBlockKind) {
            file.add(kind: kind.rawValue, rowCount: eventCount, encoder.writer)
            encoder.writer.removeAll()
        }
        func name(_ kind: SegmentBlockKind, _ part: Int = 0) -> ColumnName {
            ColumnName(place: .envelope(kind, part))
        }
        encoder.writer.removeAll()
        _ = try encoder.encode(envelope.types, name(.types), .choices, scope)
        keys.add(ColumnNumber.type, KeySource(envelope.types, distinctCount: types.count))
        add(.types)
        _ = try encoder.encode(envelope.replicas, name(.origins), .indices, scope)
        keys.add(
            ColumnNumber.replica,
            KeySource(envelope.replicas, distinctCount: self.replicas.count)
        )
        let (sequences, offsets, counts) = surprises
        _ = try encoder.encode(sequences, name(.origins, 1), .numbers, scope)
        add(.origins)
        _ = try encoder.encode(envelope.clocks, name(.clocks), .numbers, scope)
        add(.clocks)
        let milliseconds = envelope.clocks.map { $0 >> 16 }
        _ = try encoder.encode(
            variants: [zip(envelope.times, milliseconds).map { $0 &- $1 }, envelope.times],
            name(.times),
            .numbers,
            scope
        )
        add(.times)
        if firstPosition != nil {
            _ = try encoder.encode(
                variants: [
                    envelope.accepted, zip(envelope.accepted, milliseconds).map { $0 &- $1 },
                ],
                name(.accepted),
                .numbers,
                scope
            )
            add(.accepted)
        }
        _ = try encoder.encode(offsets, name(.batches), .numbers, scope)
        _ = try encoder.encode(counts, name(.batches, 1), .numbers, scope)
        add(.batches)
        _ = try encoder.encode(variants: baseVariants, name(.bases), .numbers, scope)
        add(.bases)
        let bit = Int64(RowFlags.personal.rawValue)
        let personal = envelope.flags.map { $0 & bit == 0 ? Int64(0) : 1 }
        let others = envelope.flags.map { $0 & ~bit }
        _ = try encoder.encode(others, name(.flags), .choices, scope)
        _ = try encoder.encode(personal, name(.flags, 1), .choices, scope)
        add(.flags)
        try writeTexts(&encoder, scope, &replicas, into: &file)
    }

    private func writeTexts(
        _ encoder: inout ColumnEncoder,
        _ scope: ColumnScope,
        _ replicas: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        for (flag, kind) in [(RowFlags.actor, SegmentBlockKind.actors), (.subject, .subjects)] {
            let strings = flag == .actor ? envelope.actors : envelope.subjects
            guard !strings.isEmpty else { continue }
            var scope = scope
            scope.present = envelope.rows(with: flag)
            let name = ColumnName(place: .envelope(kind, 0))
            let (codes, count) = try encoder.encode(strings, nil, name, scope, &replicas)
            if kind == .actors, let codes {
                let source = KeySource(codes: codes, present: scope.present, distinctCount: count)
                scope.keys.add(ColumnNumber.actor, source)
            }
            file.add(kind: kind.rawValue, rowCount: eventCount, encoder.writer)
            encoder.writer.removeAll()
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

extension KeySource {
    /// Numbers from 0 on that all rows have.
    init(_ numbers: [Int64], distinctCount: Int) {
        self.init(codes: .numbers(numbers), present: nil, distinctCount: distinctCount)
    }
}
