/// Answers whether a payload fits its type, one line of JSON for another.
///
/// The line is `{"judge":{"type":...,"version":...,"payload":...}}`. The answer is `{"ok":true}` or
/// `{"ok":false,"message":...,"field":...,"rule":...}`. For comparing with other validators.
package enum Judge {
    /// Appends the answer to `request`, without a line feed.
    package static func answer(
        _ request: Span<UInt8>,
        reader: inout EventLineReader,
        to output: inout [UInt8]
    ) {
        var line = EventLine()
        do {
            let inner = try event(in: request)
            try reader.read(request.extracting(inner), into: &line)
            output.append(contentsOf: "{\"ok\":true}".utf8)
        } catch {
            output.append(contentsOf: "{\"ok\":false,\"message\":".utf8)
            JSONWriter.appendString(error.message, to: &output)
            output.append(contentsOf: ",\"field\":".utf8)
            JSONWriter.appendString(error.path, to: &output)
            output.append(contentsOf: ",\"rule\":".utf8)
            JSONWriter.appendString(error.rule, to: &output)
            output.append(0x7d)
        }
    }

    /// The bytes between `{"judge":` and the last brace, which need not be JSON.
    private static func event(in request: Span<UInt8>) throws(SchemaError) -> Range<Int> {
        do throws(Fault) {
            var cursor = JSONCursor(request)
            try cursor.expect(0x7b)
            cursor.skipSpace()
            let token = try cursor.readString()
            guard cursor.text.extracting(token.range).elementsEqual("judge") else {
                throw Fault(.unknownKey, at: token.start - 1)
            }
            try cursor.expect(0x3a)
            var end = request.count
            while end > cursor.offset, request[end - 1] <= 0x20 { end -= 1 }
            guard end > cursor.offset, request[end - 1] == 0x7d else {
                throw Fault(.unexpectedEnd, at: end)
            }
            return cursor.offset..<end - 1
        } catch {
            throw SchemaError(explaining: error, in: request)
        }
    }
}

extension Span<UInt8> {
    fileprivate func elementsEqual(_ text: StaticString) -> Bool {
        let bytes = Array("\(text)".utf8)
        guard bytes.count == count else { return false }
        return indices.allSatisfy { self[$0] == bytes[$0] }
    }
}
