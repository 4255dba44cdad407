import DiarioCLI
import DiarioCore
import Foundation
import Testing

@Suite struct LineSourceTests {
    /// What a source makes of writes to a pipe, each read before the next: lines by read.
    private func lines(_ writes: [[UInt8]]) throws -> [[String]] {
        let pipe = Pipe()
        var source = LineSource(
            descriptor: pipe.fileHandleForReading.fileDescriptor,
            name: "the input"
        )
        var groups: [[String]] = []
        for bytes in writes {
            try pipe.fileHandleForWriting.write(contentsOf: bytes)
            #expect(try source.fill())
            groups.append(try drain(&source))
        }
        try pipe.fileHandleForWriting.close()
        while try source.fill() { groups.append(try drain(&source)) }
        return groups
    }

    private func drain(_ source: inout LineSource) throws -> [String] {
        var lines: [String] = []
        while try source.next({ text, number in
            lines.append("\(number):" + String(decoding: Array(text), as: UTF8.self))
        }) {}
        return lines
    }

    @Test func oneReadHandsOverAllItsCompleteLines() throws {
        let groups = try lines([Array("a\nb\nc".utf8), Array("d\n".utf8)])
        #expect(groups == [["1:a", "2:b"], ["3:cd"]])
    }

    @Test func theLastLineNeedsNoLineFeed() throws {
        #expect(try lines([Array("a\nb".utf8)]) == [["1:a"], ["2:b"]])
        #expect(try lines([]) == [])
        #expect(Array(try lines([Array("a\n".utf8)]).joined()) == ["1:a"])
    }

    /// The mark is passed over at the start of the input, and is a part of any other line.
    @Test(arguments: 1..<8) func aByteOrderMarkIsNoPartOfTheFirstLine(cut: Int) throws {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let bytes = mark + Array("a\n".utf8) + mark + Array("b\n".utf8)
        let groups = try lines([Array(bytes[..<cut]), Array(bytes[cut...])])
        #expect(Array(groups.joined()) == ["1:a", "2:\u{feff}b"])
        #expect(Array(try lines([mark]).joined()) == ["1:"])
        #expect(Array(try lines([Array("\n".utf8) + mark]).joined()) == ["1:", "2:\u{feff}"])
    }

    @Test func emptyLinesAreCounted() throws {
        #expect(try lines([Array("\n\na\n".utf8)]) == [["1:", "2:", "3:a"]])
    }

    /// Wherever the pipe cuts the bytes, the lines are the same.
    @Test(arguments: 1..<12) func linesDoNotDependOnCuts(cut: Int) throws {
        let bytes = Array("ab\n\ncdef\ngh".utf8)
        let groups = try lines(
            [Array(bytes[..<min(cut, 11)]), Array(bytes[min(cut, 11)...])]
                .filter { !$0.isEmpty }
        )
        #expect(Array(groups.joined()) == ["1:ab", "2:", "3:cdef", "4:gh"])
    }

    @Test func aLineAboveTheLimitIsRefusedBeforeItsEnd() throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        let chunk = [UInt8](repeating: 0x20, count: 32 * 1024)
        var source = LineSource(descriptor: descriptor, name: "the input")
        var written = 0
        var failure: Failure?
        while failure == nil, written < 4 * Limits.lineSizeMax {
            try pipe.fileHandleForWriting.write(contentsOf: chunk)
            written += chunk.count
            #expect(try source.fill())
            do { _ = try drain(&source) } catch { failure = Failure(error) }
        }
        #expect(written <= Limits.lineSizeMax + chunk.count)
        #expect(failure?.message?.contains("the input, line 1: more than 1048576 bytes") == true)
    }

    @Test func aFailureOfTheTakerEndsTheLines() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Array("a\nb\n".utf8))
        var source = LineSource(
            descriptor: pipe.fileHandleForReading.fileDescriptor,
            name: "the input"
        )
        #expect(try source.fill())
        let wanted = Failure.failed("no")
        var failure: Failure?
        do { _ = try source.next { _, _ in throw wanted } } catch { failure = Failure(error) }
        #expect(failure == wanted)
        #expect(try drain(&source) == ["2:b"])
    }
}

extension Array where Element == UInt8 {
    init(_ span: Span<UInt8>) {
        self.init()
        for index in span.indices { append(span[index]) }
    }
}
