/// The functions that read models and upcasts may call: all builds of SQLite give the same.
///
/// Left out are time and chance, sums of fractions, texts of fractions, texts joined in undefined
/// order, and functions that differ between builds.
package enum AllowList {
    package static let functions: Set<String> = [
        "abs", "sign", "coalesce", "ifnull", "iif", "nullif", "typeof",
        "count", "min", "max", "sum",
        "length", "instr", "substr", "substring", "replace", "trim", "ltrim", "rtrim",
        "unicode", "char", "hex", "glob",
        "json_extract", "json_type", "json_valid", "json_array_length", "->", "->>",
    ]

    /// Why a function is refused, and the way to do without it.
    static func remedy(for function: String) -> String {
        switch function {
        case "random", "randomblob":
            "chance gives other tables on every device; record the value in an event"
        case "date", "time", "datetime", "julianday", "strftime", "unixepoch", "current_date",
            "current_time", "current_timestamp":
            "tables are built again at another time; use :_at and day_of(:_at, offset)"
        case "avg", "total":
            "sums of fractions depend on their order; keep a sum of integers and a count"
        case "round", "printf", "format", "quote":
            "builds of SQLite differ in it; do it in a query, or with integers"
        case "lower", "upper", "like":
            "builds of SQLite differ in it; compare bytes, or do it in a query"
        case "group_concat", "row_number", "last_insert_rowid", "changes", "total_changes":
            "it depends on an undefined order; use keys and counts"
        default: "builds of SQLite may differ in it; do it in a query"
        }
    }
}
