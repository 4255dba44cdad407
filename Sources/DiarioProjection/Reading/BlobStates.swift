import DiarioCore
import DiarioSQLite
import DiarioSchema

/// Why it cannot be said whether the bytes of a blob are here.
package struct UnreadBlob: Error {
    let message: String

    package init(_ message: String) { self.message = message }
}

/// The states of blobs, as `blob_state(id)` gives them in queries: `erased` once no event that
/// refers to the blob has its key any more, else what the device knows of its bytes.
final class BlobStates {
    private let sources: [ModelReader.Source]
    private let stateOfBytes: ([UInt8]) throws(UnreadBlob) -> BlobState
    /// Opened when they are needed first; apart from the connection of the query, which is busy.
    private var lookups: [Lookup]?

    /// The table of blobs of one pack.
    private final class Lookup {
        let connection: Connection
        let statement: Statement

        /// Nil if the pack has no blobs.
        init?(_ source: ModelReader.Source) throws(SQLiteError) {
            connection = try Connection(
                path: source.path,
                source.isImmutable ? .immutable : .readOnly
            )
            let tables = try connection.rows(
                "SELECT 1 FROM sqlite_schema WHERE name = '\(BlobModel.name)'"
            )
            guard !tables.isEmpty else { return nil }
            statement = try connection.prepare(
                "SELECT min(isErased) FROM \(BlobModel.name) WHERE id = ?"
            )
        }
    }

    init(
        _ sources: [ModelReader.Source],
        stateOfBytes: @escaping ([UInt8]) throws(UnreadBlob) -> BlobState
    ) {
        self.sources = sources
        self.stateOfBytes = stateOfBytes
    }

    func add(to connection: borrowing Connection) throws(SQLiteError) {
        try connection.addFunction(PackConnection.blobState, argumentCount: 1) {
            [self] (arguments) throws(FunctionError) in try state(of: arguments[0])
        }
    }

    private func state(of id: SQLValue) throws(FunctionError) -> SQLValue {
        if id == .null { return .null }
        guard case .blob(let bytes) = id, bytes.count == 32 else {
            throw FunctionError("blob_state needs the id of a blob, which has 32 bytes")
        }
        let erased: Bool
        do throws(SQLiteError) { erased = try isErased(id) } catch {
            throw FunctionError(error.message)
        }
        guard !erased else { return .text(BlobState.erased.rawValue) }
        do throws(UnreadBlob) { return .text(try stateOfBytes(bytes).rawValue) } catch {
            throw FunctionError(error.message)
        }
    }

    private func isErased(_ id: SQLValue) throws(SQLiteError) -> Bool {
        if lookups == nil {
            var opened: [Lookup] = []
            for source in sources {
                if let lookup = try Lookup(source) { opened.append(lookup) }
            }
            lookups = opened
        }
        var isErased = false
        for lookup in lookups ?? [] {
            defer { lookup.statement.reset() }
            try lookup.statement.bind(id, at: 1)
            guard try lookup.statement.step() else { continue }
            switch lookup.statement.value(at: 0) {
            case .integer(0): return false
            case .integer: isErased = true
            default: break
            }
        }
        return isErased
    }
}
