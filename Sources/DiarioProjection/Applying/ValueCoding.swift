import DiarioCore
import DiarioFormat
import DiarioSQLite

// Values of SQL as bytes: schema/format/models.md, section 3.

extension [UInt8] {
    mutating func append(value: SQLValue) {
        switch value {
        case .null: append(0)
        case .integer(let value):
            append(1)
            append(littleEndian: UInt64(bitPattern: value))
        case .real(let value):
            append(2)
            append(littleEndian: value.bitPattern)
        case .text(let value):
            append(3)
            append(text: value)
        case .blob(let value):
            append(4)
            append(counted: value.span.raw)
        }
    }

    /// The values that follow one another; nil if the bytes are damaged.
    func values() -> [SQLValue]? {
        var reader = ByteReader(span.raw)
        var values: [SQLValue] = []
        do throws(FormatError) {
            while !reader.isAtEnd {
                switch try reader.next(UInt8.self) {
                case 0: values.append(.null)
                case 1: values.append(.integer(Int64(bitPattern: try reader.next(UInt64.self))))
                case 2: values.append(.real(Double(bitPattern: try reader.next(UInt64.self))))
                case 3:
                    values.append(
                        .text(String(decoding: self[try reader.nextBytes()], as: UTF8.self))
                    )
                case 4: values.append(.blob(Array(self[try reader.nextBytes()])))
                default: return nil
                }
            }
            return values
        } catch {
            return nil
        }
    }
}
