import DiarioCore
import DiarioLog

/// Tells what a row file says: schema/format/log.md, section 8.
struct RowFileInspector {
    private let bytes: [UInt8]
    private let records: RecordInspector

    init(_ bytes: [UInt8], showsRows: Bool) {
        self.bytes = bytes
        records = RecordInspector(showsRows: showsRows)
    }

    func inspect<Failure: Error>(
        _ take: ([InspectLine]) throws(Failure) -> Void
    ) throws(Failure) {
        var reader = FieldReader(bytes, range: 0..<bytes.count, section: "8")
        reader.heading("header", size: min(RowFile.headerSize, bytes.count))
        var isWhole = (try? header(&reader)) != nil
        while isWhole, reader.remaining > 0 {
            isWhole = (try? records.inspect(&reader, end: bytes.count)) != nil
            try take(reader.takeLines())
        }
        try take(reader.takeLines())
    }

    private func header(_ reader: inout FieldReader) throws(InspectStop) {
        try reader.magic("DROW")
        try SmallFiles.version(&reader)
        try reader.zeros(3)
        try reader.number("number of this file", size: 8, show: Show.long)
        let size = UInt64(bytes.count)
        try reader.number(
            "length",
            size: 8,
            problem: { $0 == size ? nil : "\(size) bytes are there" }
        )
        try reader.zeros(4)
        try reader.checksum(of: 0..<28)
    }
}
