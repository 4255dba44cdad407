import DiarioCore
import Diario
import DiarioFormat
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioStorage
import DiarioTestSupport

/// Spaces with the example events of the packs, and what they export.
enum SampleSpace {
    static func make(_ path: String) throws -> Space {
        let space = try Space.create(at: path, packs: PackSource.builtIn())
        try fill(space)
        return space
    }

    static func fill(_ space: Space) throws {
        for lines in examples { try space.record(lines) }
    }

    /// The example events of each pack, as lines.
    static var examples: [[String]] {
        BuiltInPacks.files.filter { $0.path.contains("/examples/") }
            .map { $0.text.split(separator: "\n").map { String($0) } }
    }

    static func lines(
        _ space: Space,
        _ filter: EventFilter = .everything
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var reader = try EventReader(space, filter)
        while let line = try reader.next() {
            EventLineWriter.append(line, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    static func cloudEvents(
        _ space: Space,
        _ filter: EventFilter = .everything
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = CloudEventWriter()
        var reader = try EventReader(space, filter)
        while let line = try reader.next() { writer.append(line, to: &bytes) }
        writer.finish(&bytes)
        return bytes
    }

    static func file(
        _ bytes: [UInt8],
        in folder: borrowing TemporaryFolder
    ) throws -> any LogFile {
        let file = try folder.directory().open("events", .create)
        try file.truncate(to: 0)
        try file.write(bytes.span, at: 0)
        return file
    }
}

extension Space {
    /// Records lines as `diario record -` takes them.
    @discardableResult
    func record(_ lines: [String]) throws -> [Origin] {
        var recorder = LineRecorder(self)
        for line in lines { try recorder.add(Array(line.utf8).span) }
        recorder.finish()
        return try recorder.commit()
    }
}

extension ReadModels {
    /// The answer to a question, from what is live.
    func rows(_ sql: String) throws -> [[SQLValue]] {
        let answer = try ModelReader(sources()).answer(sql)
        var rows: [[SQLValue]] = []
        while let row = try answer.next() { rows.append(row) }
        return rows
    }
}
