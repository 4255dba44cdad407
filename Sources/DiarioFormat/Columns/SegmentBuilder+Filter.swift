import DiarioCore
import DiarioSchema

extension SegmentBuilder {
    /// Writes the filter of a type's subjects, if it has some that are texts of their own.
    func writeFilter(
        _ encoder: inout ColumnEncoder,
        _ index: Int,
        _ subjects: SubjectChecksums,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        var checksums = subjects.checksums
        if types[index].type.subjectFieldIndex == nil, !envelope.subjects.isEmpty {
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
}

/// The subjects of a type that its filter tells of: those that have no head.
struct SubjectChecksums {
    private(set) var checksums: [UInt32] = []

    mutating func add(
        _ fields: GatheredFields,
        _ uses: [Int: TextPools.Use],
        _ type: EventType,
        _ heads: SubjectHeads?
    ) {
        let subject = type.subjectFieldIndex
        guard let place = fields.fields.firstIndex(where: { $0.index == subject }),
            fields.fields[place].kind == .string
        else { return }
        let strings = fields.strings(at: place)
        let codes = uses[place]?.codes
        // With heads, only what lies in a pool is without one.
        if heads != nil, codes == nil { return }
        checksums.reserveCapacity(checksums.count + strings.count)
        for index in 0..<strings.count {
            if heads != nil, let codes, codes[index] == 0 { continue }
            checksums.append(Checksum.crc32c(strings[index].raw))
        }
    }
}
