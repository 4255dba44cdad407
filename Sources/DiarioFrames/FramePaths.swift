/// The paths of the write-ahead log in a data directory: schema/format/directory.md, section 3.
package enum FramePaths {
    package static let folder = "wal"
    package static let reserve = "wal/reserve"
    package static let syncedMark = "wal/synced"
    private static let logSuffix = ".dwal"

    package static func file(_ number: UInt64) -> String {
        "wal/" + hexadecimal(number) + logSuffix
    }

    /// The number of a file's name within `wal`; nil if it is no such file's.
    package static func number(_ name: String) -> UInt64? {
        guard name.hasSuffix(logSuffix) else { return nil }
        let digits = name.dropLast(logSuffix.utf8.count)
        // An index holds the number in 32 bits, which are enough for 64 PiB of log.
        guard digits.utf8.count == 16, let number = UInt32(digits, radix: 16), number > 0,
            hexadecimal(UInt64(number)) == digits
        else { return nil }
        return UInt64(number)
    }

    package static func cut(_ number: UInt64, offset: Int) -> String {
        "wal/cut-\(hexadecimal(number))-\(offset)"
    }

    package static func isCut(_ name: String) -> Bool { name.hasPrefix("cut-") }

    package static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
