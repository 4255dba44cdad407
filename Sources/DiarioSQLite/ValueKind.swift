/// The kind of a value in a column of one row.
package enum ValueKind: Sendable {
    case null, integer, real, text, blob
}
