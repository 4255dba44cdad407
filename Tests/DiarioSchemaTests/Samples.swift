import DiarioSchema
import Testing

/// A schema with a field of every form, in an order that is not that of the bytes.
let everyFormSchema = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "test.thing.made",
      "description": "Something with a field of every form was made.",
      "x-diario-version": 1,
      "x-diario-subject": "thingId",
      "type": "object",
      "additionalProperties": false,
      "required": ["count", "name"],
      "properties": {
        "thingId": { "type": "string", "maxLength": 64, "x-diario-id": "new" },
        "count": { "type": "integer", "minimum": -5, "maximum": 5000, "x-diario-unit": "mm" },
        "name": { "type": "string", "minLength": 1, "maxLength": 5, "title": "Name" },
        "code": { "type": "string", "pattern": "^[a-z]{2}[0-9]*$" },
        "share": { "type": "number", "minimum": 0, "maximum": 1.5 },
        "any": { "type": "number" },
        "big": { "type": "integer" },
        "isNew": { "type": "boolean" },
        "colour": { "enum": ["red", "green", "\\u00e8\\"x", ""] },
        "day": { "type": "string", "format": "date" },
        "moment": { "type": "string", "format": "date-time" },
        "key": { "type": "string", "format": "uuid" },
        "blob": { "type": "string", "contentEncoding": "base64", "minLength": 4, "maxLength": 8 },
        "parentId": { "type": "string", "maxLength": 40, "x-diario-id": "thing" },
        "note": { "type": "string", "x-diario-personal": true },
        "place": {
          "type": "object",
          "additionalProperties": false,
          "required": ["b"],
          "properties": {
            "b": { "type": "integer", "maximum": 9 },
            "a": { "type": "array", "minItems": 1, "maxItems": 3, "items": { "type": "number" } },
            "Z": { "type": "string", "format": "uuid" },
            "title": { "enum": ["x", "y"], "type": "string" }
          }
        },
        "list": { "type": "array", "items": { "type": "string", "maxLength": 4 } }
      }
    }
    """

func makeType(_ schema: String = everyFormSchema) throws -> EventType {
    var budget = PatternBudget()
    return try EventType(schema: Array(schema.utf8), file: "events/x.1.json", budget: &budget)
}

/// The problems that a schema has; empty if it has none.
func problems(ofSchema schema: String) -> [PackProblem] {
    do throws(PackError) {
        var budget = PatternBudget()
        _ = try EventType(schema: Array(schema.utf8), file: "events/x.1.json", budget: &budget)
        return []
    } catch {
        return error.problems
    }
}

/// A schema with one field besides a subject that needs nothing.
func schema(withField field: String, required: String = "[]") -> String {
    """
    {"title":"test.a.b","x-diario-version":1,"type":"object","additionalProperties":false,
    "required":\(required),"properties":{"f":\(field)}}
    """
}

/// Reads a payload and writes it again; nil if it is refused.
func rewritten(_ payload: String, as type: EventType) -> String? {
    var reader = PayloadReader()
    var result = Payload()
    let bytes = Array(payload.utf8)
    guard (try? reader.read(bytes.span, as: type, into: &result)) != nil else { return nil }
    var output: [UInt8] = []
    PayloadWriter.append(result, of: type, to: &output)
    return String(decoding: output, as: UTF8.self)
}

/// Why a payload is refused; nil if it is not.
func fault(
    in payload: [UInt8],
    as type: EventType,
    options: EventLineReader.Options = []
) -> SchemaError? {
    var reader = PayloadReader()
    var result = Payload()
    do throws(SchemaError) {
        try reader.read(payload.span, as: type, options: options, into: &result)
        return nil
    } catch {
        return error
    }
}

func fault(in payload: String, as type: EventType) -> SchemaError? {
    fault(in: Array(payload.utf8), as: type)
}

/// Why a line is refused; nil if it is not.
func fault(
    inLine line: String,
    _ catalog: TypeCatalog,
    _ options: EventLineReader.Options = []
) -> SchemaError? {
    var reader = EventLineReader(catalog: catalog, options: options)
    var result = EventLine()
    let bytes = Array(line.utf8)
    do throws(SchemaError) {
        try reader.read(bytes.span, into: &result)
        return nil
    } catch {
        return error
    }
}

func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Array(bytes), as: UTF8.self)
}
