import DiarioCore
import DiarioSchema
import Testing

@Suite struct PayloadPropertyTests {
    /// What is written is read back equal, whatever the order and the spacing of the text.
    @Test(arguments: UInt64(0)..<32) func payloadsAreReadBackAsWritten(seed: UInt64) throws {
        let type = try makeType()
        var generator = PayloadGenerator(random: SeededRandom(seed: seed))
        var reader = PayloadReader()
        for _ in 0..<10 {
            let bytes = Array(generator.payload().utf8)
            var first = Payload()
            try reader.read(bytes.span, as: type, into: &first)
            var output: [UInt8] = []
            PayloadWriter.append(first, of: type, to: &output)
            var second = Payload()
            try reader.read(output.span, as: type, into: &second)
            #expect(first == second)
            var again: [UInt8] = []
            PayloadWriter.append(second, of: type, to: &again)
            #expect(again == output)
        }
    }

    /// Broken payloads are read or refused, and the refusal always makes sense.
    @Test(arguments: UInt64(0)..<48) func mutilatedPayloadsAreReadOrRefused(seed: UInt64) throws {
        let type = try makeType()
        var generator = PayloadGenerator(random: SeededRandom(seed: seed))
        var breaker = JSONGenerator(random: SeededRandom(seed: seed ^ 0xffff))
        for _ in 0..<20 {
            let bytes = breaker.mutilated(Array(generator.payload().utf8))
            guard let error = fault(in: bytes, as: type) else { continue }
            #expect(0...bytes.count ~= error.byteOffset)
            #expect(error.value.utf8.count <= 63)
            #expect(!error.message.isEmpty)
        }
    }
}

/// Makes payloads of the type of `everyFormSchema`.
struct PayloadGenerator {
    var random: SeededRandom

    mutating func payload() -> String {
        var members = ["\"count\":\(random.below(5006) - 5)", "\"name\":\(string(1...5))"]
        add("thingId", string(1...20), to: &members)
        add("code", "\"ab\(random.below(1000))\"", to: &members)
        add("share", "\(random.unit() * 1.5)", to: &members)
        add("any", "\(Double(random.below(1 << 50)) / 1e5 - 1e9)", to: &members)
        add("big", "\(Int64(bitPattern: random.next()))", to: &members)
        add("isNew", random.oneIn(2) ? "true" : "false", to: &members)
        add(
            "colour",
            ["\"red\"", "\"green\"", #""\u00e8\"x""#, "\"\""][random.below(4)],
            to: &members
        )
        add(
            "day",
            "\"20\(10 + random.below(80))-0\(1 + random.below(9))-1\(random.below(9))\"",
            to: &members
        )
        add(
            "moment",
            "\"2026-11-20T10:44:0\(random.below(10)).\(random.below(1000))Z\"",
            to: &members
        )
        add("key", "\"0B8a1d1e-5c7f-4d3a-9b57-2f6c1a9e4d1\(random.below(10))\"", to: &members)
        add("blob", ["\"AQI=\"", "\"AAAAAAAA\"", "\"/+==\""][random.below(2)], to: &members)
        add("parentId", string(0...40), to: &members)
        add("note", string(0...60), to: &members)
        add("place", "{\"a\":[\(random.below(99))e-1],\"b\":\(-random.below(99)) }", to: &members)
        add(
            "list",
            "[\((0..<random.below(4)).map { _ in string(0...4) }.joined(separator: ", "))]",
            to: &members
        )
        for index in members.indices.dropFirst() {
            members.swapAt(index, random.below(index + 1))
        }
        let comma = [",", ", ", " ,\n"][random.below(3)]
        return "{\(members.joined(separator: comma))}"
    }

    private mutating func add(_ name: String, _ value: String, to members: inout [String]) {
        guard random.oneIn(2) else { return }
        // A key may be spelt with escapes.
        let key = random.oneIn(8) ? "\\u00\(hexadecimal(name))\(name.dropFirst())" : name
        members.append("\"\(key)\"\(random.oneIn(3) ? " : " : ":")\(value)")
    }

    /// The two digits of the first letter.
    private func hexadecimal(_ name: String) -> String {
        String(name.utf8.first ?? 0, radix: 16)
    }

    private mutating func string(_ lengths: ClosedRange<Int>) -> String {
        let pieces = [
            "a", "b", "Z", "0", "\u{e8}", "\u{20ac}", "\u{1f41f}", "\\n", "\\\"", "\\\\", "\\u00e8",
            "\\ud83d\\udc1f", "/", "\\/", "\u{7f}", "\\u0001",
        ]
        let length = lengths.lowerBound + random.below(lengths.count)
        let scalars = (0..<length).map { _ in pieces[random.below(pieces.count)] }
        return "\"\(scalars.joined())\""
    }
}
