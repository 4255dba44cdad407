import DiarioCore

/// Writes events as lines of JSON, as exports have them.
///
/// Keys come in the order of `EnvelopeKey`. Absent ones are left out, but never the version. A
/// reader with `.exportKeys` gets the same event back.
package enum EventLineWriter {
    /// Appends `line` without a line feed.
    ///
    /// Its times must be in the years 1 to 9999.
    package static func append(_ line: EventLine, to output: inout [UInt8]) {
        let arena = line.arena.span
        output.append(contentsOf: "{\"type\":\"".utf8)
        // The name of a type holds nothing that needs an escape.
        output.append(contentsOf: line.type.nameBytes)
        output.append(contentsOf: "\",\"version\":".utf8)
        JSONWriter.appendDigits(UInt64(line.type.version), to: &output)
        output.append(contentsOf: ",\"payload\":".utf8)
        PayloadWriter.append(line.payload, of: line.type, to: &output)
        if let subject = line.subject {
            appendKey(.subject, to: &output)
            JSONWriter.appendString(arena.extracting(subject), to: &output)
        }
        if let actor = line.actor {
            appendKey(.actor, to: &output)
            JSONWriter.appendString(arena.extracting(actor), to: &output)
        }
        if let at = line.at {
            appendKey(.at, to: &output)
            PayloadWriter.appendTime(at, to: &output)
        }
        if line.ifUnchanged {
            appendKey(.ifUnchanged, to: &output)
            output.append(contentsOf: "true".utf8)
        }
        appendExported(line, to: &output)
        if let batch = line.batch {
            appendKey(.batch, to: &output)
            JSONWriter.appendString(arena.extracting(batch), to: &output)
        }
        output.append(0x7d)
    }

    private static func appendExported(_ line: EventLine, to output: inout [UInt8]) {
        if let origin = line.origin {
            appendKey(.origin, to: &output)
            output.append(0x22)
            output.append(contentsOf: origin.replica.text.utf8)
            output.append(0x2d)
            JSONWriter.appendDigits(origin.sequence, to: &output)
            output.append(0x22)
        }
        if let position = line.position {
            appendKey(.position, to: &output)
            JSONWriter.appendDigits(position, to: &output)
        }
        if let base = line.base {
            appendKey(.base, to: &output)
            JSONWriter.appendDigits(base, to: &output)
        }
        if let clock = line.clock {
            appendKey(.clock, to: &output)
            output.append(0x22)
            JSONWriter.appendInteger(clock.milliseconds, to: &output)
            output.append(0x2d)
            JSONWriter.appendDigits(UInt64(clock.counter), to: &output)
            output.append(0x22)
        }
        if let acceptedAt = line.acceptedAt {
            appendKey(.acceptedAt, to: &output)
            PayloadWriter.appendTime(acceptedAt, to: &output)
        }
    }

    private static func appendKey(_ key: EnvelopeKey, to output: inout [UInt8]) {
        output.append(0x2c)
        let (tokens, ranges) = EnvelopeKey.tokens
        output.append(contentsOf: tokens[ranges[Int(key.rawValue)].indices])
    }
}
