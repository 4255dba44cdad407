import DiarioCore
import DiarioSchema
package import DiarioStorage

/// The events of a JSON array of CloudEvents, or of a file with one after the other, one by one;
/// memory is bounded by the largest that is allowed.
///
/// Finds where each element begins and ends, and leaves what is in it to `CloudEventReader`.
package struct CloudEventBatch {
    private let file: any LogFile
    private var reader: CloudEventReader
    private var fileOffset = 0
    private var buffer: [UInt8] = []
    /// What was not yet read of the buffer.
    private var start = 0
    private var line = 1
    package private(set) var number = 0
    private var isFinished = false
    /// False if events follow one another without brackets and commas.
    private var isArray = true

    private static let chunkSize = 256 * 1024

    package var offset: Int { fileOffset - (buffer.count - start) }
    package var ignoredNames: [String] { reader.ignoredNames.sorted() }

    /// Whether the event that was read last was recorded by another program.
    var isForeign: Bool { reader.isForeign }

    package init(_ file: any LogFile, _ reader: CloudEventReader) {
        self.file = file
        self.reader = reader
    }

    package mutating func next(
        _ body: (Span<UInt8>, InputPlace) throws(DiarioError) -> Void
    ) throws(DiarioError) -> Bool {
        guard !isFinished, try findElement() else { return false }
        number += 1
        let place = self.place
        let end = try elementEnd()
        let element = Array(buffer[start..<end])
        start = end
        let text = try reader.read(element, place)
        try body(text.span, place)
        return true
    }

    /// The place of the next byte.
    private var place: InputPlace {
        InputPlace(line: line, element: (number: max(1, number), byte: offset + 1))
    }

    /// Moves to the next element; false behind the last one.
    private mutating func findElement() throws(DiarioError) -> Bool {
        let isFirst = number == 0
        if isFirst {
            isArray = try take(UInt8(ascii: "["))
            let first = try peek()
            guard isArray || first == UInt8(ascii: "{") else {
                throw DiarioError(
                    .invalid,
                    "line \(line), byte \(offset + 1): CloudEvents come as one JSON array, which "
                        + "begins with [, or one after the other, each beginning with {.",
                    line: line
                )
            }
        }
        guard isArray else { return try findNext() }
        if try take(UInt8(ascii: "]")) {
            try expectEnd()
            return false
        }
        if !isFirst {
            guard try take(UInt8(ascii: ",")) else {
                throw broken("a comma or a closing bracket must follow the element")
            }
        }
        guard try peek() == UInt8(ascii: "{") else {
            number += 1
            throw broken("it is no JSON object")
        }
        return true
    }

    /// Moves to the event that follows without a comma; false at the end of the file.
    private mutating func findNext() throws(DiarioError) -> Bool {
        guard let byte = try peek() else { return false }
        guard byte == UInt8(ascii: "{") else {
            number += 1
            throw DiarioError.refused(
                place,
                "it is no JSON object. Events come one after the other, or with commas between "
                    + "them in brackets."
            )
        }
        return true
    }

    private mutating func expectEnd() throws(DiarioError) {
        isFinished = true
        guard try peek() != nil else { return }
        throw DiarioError(
            .invalid,
            "line \(line), byte \(offset + 1): something follows the array. "
                + "A file holds one array.",
            line: line
        )
    }

    private func broken(_ what: String) -> DiarioError {
        let isAtEnd = start == buffer.count
        return .refused(place, isAtEnd ? "the file ends here, before its array does" : what)
    }

    /// Moves past `byte` and the blanks before it, if it is the next one.
    private mutating func take(_ byte: UInt8) throws(DiarioError) -> Bool {
        guard try peek() == byte else { return false }
        start += 1
        return true
    }

    /// The next byte that is no blank; nil at the end of the file.
    private mutating func peek() throws(DiarioError) -> UInt8? {
        while true {
            while start < buffer.count, buffer[start].isJSONBlank {
                if buffer[start] == 0x0a { line += 1 }
                start += 1
            }
            if start < buffer.count { return buffer[start] }
            guard try fill() else { return nil }
        }
    }

    /// The index behind the object that begins at `start`.
    private mutating func elementEnd() throws(DiarioError) -> Int {
        let place = self.place
        var index = start
        var depth = 0
        var isInString = false
        while true {
            if index == buffer.count {
                guard index - start <= Limits.lineSizeMax else { throw tooLarge(place) }
                // What is read already stays in the buffer, from its start on.
                index -= start
                guard try fill() else {
                    throw .refused(place, "the file ends inside of it. Is it complete?")
                }
            }
            let byte = buffer[index]
            index += 1
            switch byte {
            case 0x0a: line += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString:
                // The byte behind a backslash ends nothing.
                if index < buffer.count {
                    index += 1
                } else {
                    index -= start
                    guard try fill() else {
                        throw .refused(place, "the file ends inside of it. Is it complete?")
                    }
                    index += 1
                }
            case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString:
                depth += 1
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString:
                depth -= 1
                guard depth == 0 else { continue }
                guard index - start <= Limits.lineSizeMax else { throw tooLarge(place) }
                return index
            default: break
            }
        }
    }

    private func tooLarge(_ place: InputPlace) -> DiarioError {
        DiarioError(
            .tooLarge,
            "\(place.text): it has more than \(Limits.lineSizeMax) bytes. Make it smaller.",
            line: place.line
        )
    }

    /// Reads more of the file behind what is left of the buffer; false at the end.
    private mutating func fill() throws(DiarioError) -> Bool {
        buffer.removeSubrange(..<start)
        start = 0
        let before = buffer.count
        do throws(StorageError) {
            try file.read(at: Int64(fileOffset), count: Self.chunkSize, into: &buffer)
        } catch {
            throw DiarioError(error)
        }
        if fileOffset == 0 { start = ByteOrderMark.size(atStartOf: buffer) }
        fileOffset += buffer.count - before
        return buffer.count > before
    }
}
