import Diario
import DiarioLog
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
        var recorder = LineRecorder(space)
        for file in BuiltInPacks.files where file.path.contains("/examples/") {
            for line in file.text.utf8.split(separator: UInt8(ascii: "\n")) {
                try recorder.add(Array(line).span)
            }
            recorder.finish()
        }
        _ = try recorder.commit()
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
