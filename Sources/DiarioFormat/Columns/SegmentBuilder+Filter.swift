import DiarioCore
import DiarioSchema

extension SegmentBuilder {
    /// Writes the filter of a type's subjects, if it has some that are texts of their own.
    func writeFilter(
        _ encoder: inout ColumnEncoder,
        _ index: Int,
        into file: inout SegmentFileWriter
    ) throws(FormatError) {
        let type = types[index]
        var checksums: [UInt32] = []
        if let subject = type.type.subjectFieldIndex {
            for chunk in type.chunks {
                for column in chunk.publicFields.columns
                where column.field.index == subject && column.field.kind == .string {
                    Self.add(column.strings, to: &checksums)
                }
            }
        } else if !envelope.subjects.isEmpty {
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

    private static func add(_ strings: ByteStrings, to checksums: inout [UInt32]) {
        checksums.reserveCapacity(checksums.count + strings.count)
        for index in 0..<strings.count { checksums.append(Checksum.crc32c(strings[index].raw)) }
    }
}
