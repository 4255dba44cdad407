package import DiarioCore
package import DiarioCrypto

/// Where things lie in a data directory: schema/format/log.md, section 7.
package enum LogPaths {
    package static let directoryName = ".diario"
    package static let format = "format"
    package static let lock = "lock"
    package static let log = "wal"
    package static let reserve = "wal/reserve"
    package static let syncedMark = "wal/synced"
    package static let packs = "packs"
    package static let spaces = "spaces"
    private static let logSuffix = ".dwal"

    package static func logFile(_ number: UInt64) -> String {
        "wal/" + hexadecimal(number) + logSuffix
    }

    /// The number of a file's name within `wal`; nil if it is no log file's.
    package static func logFileNumber(_ name: String) -> UInt64? {
        guard name.hasSuffix(logSuffix) else { return nil }
        let digits = name.dropLast(logSuffix.utf8.count)
        // An index holds the number in 32 bits, which are enough for 64 PiB of log.
        guard digits.utf8.count == 16, let number = UInt64(digits, radix: 16),
            hexadecimal(number) == digits, 1...UInt64(UInt32.max) ~= number
        else { return nil }
        return number
    }

    package static func cut(_ number: UInt64, offset: Int) -> String {
        "wal/cut-\(hexadecimal(number))-\(offset)"
    }

    package static func isCut(_ name: String) -> Bool { name.hasPrefix("cut-") }

    package static func space(_ space: SpaceID) -> String { "spaces/\(space.text)" }
    package static func manifest(_ space: SpaceID) -> String { "spaces/\(space.text)/manifest" }
    package static func replica(_ space: SpaceID) -> String { "spaces/\(space.text)/replica" }
    package static func stagingLock(_ space: SpaceID) -> String { "spaces/\(space.text)/staging" }

    /// Held by the one process that seals a space.
    package static func sealingLock(_ space: SpaceID) -> String { "spaces/\(space.text)/sealing" }
    package static func segments(_ space: SpaceID) -> String { "spaces/\(space.text)/segments" }

    package static func segment(_ name: SegmentName, of space: SpaceID) -> String {
        "\(segments(space))/\(text(name)).dseg"
    }

    package static func sidecar(_ name: SegmentName, of space: SpaceID) -> String {
        "\(segments(space))/\(text(name)).dper"
    }

    private static func text(_ name: SegmentName) -> String {
        "\(hexadecimal(name.first))-\(hexadecimal(name.number))"
    }

    package static func pack(_ fingerprint: Hash32) -> String { "packs/\(fingerprint.text)" }

    package static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
