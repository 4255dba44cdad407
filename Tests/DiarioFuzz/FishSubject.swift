import Diario
import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioSchema

/// What the rules of fish are given from outside: files of reports, forms, and inputs of commands.
enum FishSubject {
    /// A file has the same rows in whatever parts it comes, and a row has one form.
    static func reports(_ bytes: [UInt8]) {
        let whole = read(bytes, by: bytes.count + 1)
        precondition(whole == read(bytes, by: 7), "the parts of a file do not matter")
        for case .row(let row) in whole.found {
            guard (try? JSON.parse(row.hashedBytes)) != nil else {
                preconditionFailure("a row is an object")
            }
        }
    }

    private struct Rows: Equatable {
        var found: [ReportReader.Found] = []
        var end: BrokenRule?
    }

    private static func read(_ bytes: [UInt8], by size: Int) -> Rows {
        var rows = Rows()
        var reader = ReportReader()
        var rest = bytes[...]
        repeat {
            reader.add(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            if rest.isEmpty { reader.finish() }
            do throws(BrokenRule) {
                while let next = try reader.next() { rows.found.append(next) }
            } catch {
                rows.end = error
                return rows
            }
        } while !rest.isEmpty
        return rows
    }

    /// What a form says is said again by the form in which nothing stands for itself.
    static func form(_ bytes: [UInt8]) {
        guard let form = OldForm(bytes) else { return }
        let text = form.fields.map { "\(encoded($0.name))=\(encoded($0.value))" }
        let again = OldForm(Array(text.joined(separator: "&").utf8))
        precondition(again?.fields == form.fields, "a form is read alike in both forms")
        for field in form.fields {
            _ = Month(named: field.value)
            _ = Fish.Origin(named: field.value)
            _ = Fish.Production(named: field.value)
            _ = Fish.Unit.cm.um(field.value)
        }
    }

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xf)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The input of each command and view, as its declaration lets it through, and its rules for a
    /// space that knows nothing or anything.
    static func input(_ bytes: [UInt8]) {
        for (declaration, entry) in entries {
            var payload = Payload()
            var reader = PayloadReader()
            guard (try? reader.read(bytes.span, as: declaration.input, into: &payload)) != nil,
                let value = try? JSON.parse(bytes).value
            else { continue }
            let space = NoSpace()
            _ = try? entry.run(CommandValues(value), space)
        }
    }

    private static let entries: [(Declaration, Domain.Entry)] = {
        let pack = try? PackSource.builtIn().first { $0.name == "fish" }
        return (pack?.declarations ?? []).compactMap { declaration in
            Fish.domain.entries.first { $0.declaration.name == declaration.name }.map {
                (declaration, $0)
            }
        }
    }()

    private final class NoSpace: CommandSpace {
        let now = Timestamp(milliseconds: 1_780_000_000_000)
        let actor: String? = "u1"
        let language = Language.english
        func chance() -> UInt64 { 7 }
        func note(_ fault: RowFault) {}
        func rows(_ query: AskedQuery, _ parameters: QueryParameters) -> [RowValues] { [] }
    }
}
