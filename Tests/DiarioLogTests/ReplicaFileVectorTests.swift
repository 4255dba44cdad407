import DiarioCore
import DiarioCrypto
import DiarioFormat
import DiarioLog
import DiarioStorage
import DiarioTestSupport
import Testing

/// Golden replica files: schema/vectors/layout-3.json.
@Suite struct ReplicaFileVectorTests {
    struct Vectors: Codable, Equatable {
        let comment: String
        let replicas: [Sample]
    }

    struct Sample: Codable, Equatable {
        let shows: String
        let bytes: String
        let holds: [String]
    }

    private static let comment =
        "schema/format/log.md, section 7. replicas: a replica file and what it holds: replica, "
        + "inode, creation time, hash of the machine, then of each former id the id and its end. "
        + "Bytes are hexadecimal, ids 13 characters."

    @Test func goldenFilesAreReadAndWritten() throws {
        let vectors = try VectorFile.load("layout-3.json", make: Self.make)
        #expect(vectors.replicas.count == 3)
        for sample in vectors.replicas {
            let bytes = try Hex.bytes(sample.bytes)
            let read = ReplicaFile(bytes.span)
            let file = try #require(read, "\(sample.shows)")
            #expect(Self.lines(file) == sample.holds, "\(sample.shows)")
            // Version 2 is not written any more.
            if bytes[4] != 2 { #expect(file.encoded() == bytes, "\(sample.shows)") }
            for index in bytes.indices {
                var flipped = bytes
                flipped[index] ^= 1
                #expect(ReplicaFile(flipped.span) == nil, "\(sample.shows), byte \(index)")
            }
        }
    }

    private static func lines(_ file: ReplicaFile) -> [String] {
        [
            file.replica.text, "\(file.home.inode)", "\(file.home.birthNanoseconds)",
            Hex.text(file.machine.bytes),
        ] + file.former.map { "former \($0.replica.text) \($0.lastSequence)" }
    }

    private static func make() throws -> Vectors {
        let ids = try [0x1111_2222_3333_4444, 5, 1 << 63].map { value in
            try #require(ReplicaID(rawValue: value))
        }
        let former = [
            FormerID(ids[1], lastSequence: 0), FormerID(ids[2], lastSequence: 1 << 40),
        ]
        let file = ReplicaFile(
            replica: ids[0],
            home: FileIdentity(inode: 12, birthNanoseconds: 1_700_000_000_123_456_789),
            machine: Hash32(words: (1, 2, 3, 4))
        )
        var parted = file
        parted.former = former
        var old = file
        old.former = former.map { FormerID($0.replica, lastSequence: .max) }
        return Vectors(
            comment: comment,
            replicas: [
                sample("an id and no former one", file, file.encoded()),
                sample("version 2: former ids without their ends", old, withoutEnds(parted)),
                sample("former ids and their ends", parted, parted.encoded()),
            ]
        )
    }

    private static func sample(_ shows: String, _ file: ReplicaFile, _ bytes: [UInt8]) -> Sample {
        Sample(shows: shows, bytes: Hex.text(bytes), holds: lines(file))
    }

    /// As programs before wrote it.
    private static func withoutEnds(_ file: ReplicaFile) -> [UInt8] {
        var bytes = Array(file.encoded()[..<72])
        bytes[4] = 2
        for id in file.former { bytes.append(littleEndian: id.replica.rawValue) }
        bytes.append(littleEndian: UInt32(0))
        bytes.append(littleEndian: Checksum.crc32c(bytes.span.raw))
        return bytes
    }
}
