/// Reads comma-separated values (RFC 4180) row by row; lines may end with CRLF or LF.
package struct CSVReader {
    private let bytes: [UInt8]
    /// Between cells; some spreadsheets write a semicolon.
    private let separator: UInt8
    private var offset = 0
    /// The line on which the next row starts, counted from 1.
    package private(set) var line = 1

    /// Why a row cannot be read; nothing after it can be either.
    package struct Failure: Error {
        package let line: Int
        package let message: String
    }

    package init(_ bytes: [UInt8], separator: UInt8 = 0x2c) {
        self.bytes = bytes
        self.separator = separator
    }

    /// The cells of the next row; nil at the end of the file.
    package mutating func next() throws(Failure) -> [[UInt8]]? {
        guard offset < bytes.count else { return nil }
        var cells: [[UInt8]] = []
        while true {
            cells.append(try nextCell())
            guard offset < bytes.count else { return cells }
            let end = bytes[offset]
            offset += 1
            if end == separator { continue }
            if end == 0x0d, offset < bytes.count, bytes[offset] == 0x0a { offset += 1 }
            line += 1
            return cells
        }
    }

    /// The next cell, up to a separator, the end of the line or the end of the file.
    private mutating func nextCell() throws(Failure) -> [UInt8] {
        guard offset < bytes.count, bytes[offset] == 0x22 else { return try nextPlainCell() }
        let start = line
        offset += 1
        var cell: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if byte != 0x22 {
                if byte == 0x0a { line += 1 }
                cell.append(byte)
                continue
            }
            guard offset < bytes.count else { return cell }
            switch bytes[offset] {
            case 0x22:
                cell.append(0x22)
                offset += 1
            case separator, 0x0a: return cell
            case 0x0d where offset + 1 == bytes.count || bytes[offset + 1] == 0x0a: return cell
            default:
                throw Failure(
                    line: line,
                    message: "text follows a closing quote; double the quotes inside"
                )
            }
        }
        throw Failure(line: start, message: "a quoted cell is never closed; add its quote")
    }

    private mutating func nextPlainCell() throws(Failure) -> [UInt8] {
        let start = offset
        while offset < bytes.count {
            switch bytes[offset] {
            case separator, 0x0a: return Array(bytes[start..<offset])
            case 0x22:
                throw Failure(
                    line: line,
                    message: "a quote inside a cell; put the cell in quotes, doubled"
                )
            case 0x0d:
                guard offset + 1 == bytes.count || bytes[offset + 1] == 0x0a else {
                    throw Failure(
                        line: line,
                        message: "a carriage return inside a cell; put it in quotes"
                    )
                }
                return Array(bytes[start..<offset])
            default: offset += 1
            }
        }
        return Array(bytes[start...])
    }
}
