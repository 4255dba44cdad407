import DiarioFormat
import DiarioSchema

/// Reads a pack of which one file is anything.
enum PackSubject {
    private static let files = [
        "pack.json": #"{"name":"a","version":1}"#,
        "events/b.1.json": #"""
        {"title":"a.b","x-diario-version":1,"x-diario-subject":"id","type":"object",
         "additionalProperties":false,"required":["id"],"properties":{
          "id":{"type":"string","maxLength":64},"n":{"type":"integer"},
          "x":{"type":"number"},"d":{"type":"string","format":"date"},
          "b":{"type":"boolean"},"o":{"type":"array","items":{"type":"string"}}}}
        """#,
    ]

    static func run(_ bytes: [UInt8], as path: String) {
        var list = files.filter { $0.key != path }.map { file in
            PackFile(path: file.key, bytes: Array(file.value.utf8))
        }
        list.append(PackFile(path: path, bytes: bytes))
        list.sort { $0.path < $1.path }
        guard let pack = try? Pack(files: list) else { return }
        _ = pack.checkExamples()
        for table in pack.references {
            for row in table.rows { write(row.payload, table.type) }
        }
        _ = Fingerprint.pack(pack.files)
    }

    private static func write(_ payload: Payload, _ type: EventType) {
        var text: [UInt8] = []
        PayloadWriter.append(payload, of: type, to: &text)
        precondition((try? JSON.parse(text)) != nil, "a row is JSON")
    }
}
