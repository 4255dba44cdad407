import DiarioCore
import DiarioSQLite

/// Makes connections on which SQL of packs is prepared and run.
enum PackConnection {
    /// The function that tells queries the state of a blob.
    static let blobState = "blob_state"

    /// A database in memory, to try things on.
    static func scratch() throws(SQLiteError) -> Connection {
        let connection = try Connection(path: ":memory:", .create)
        try prepare(connection)
        try addStandIns(to: connection)
        return connection
    }

    /// Lets queries that ask for the states of blobs and of events be tried where there are none:
    /// each blob is missing, each event accepted, and the inbox is empty.
    static func addStandIns(to connection: borrowing Connection) throws(SQLiteError) {
        try connection.execute(KnownPlaces.emptyTable)
        try connection.addFunction(EventPlaces.function, argumentCount: 1) {
            (arguments) throws(FunctionError) in
            arguments[0] == .null ? .null : .text(EventState.accepted.rawValue)
        }
        try connection.addFunction(blobState, argumentCount: 1) {
            (arguments) throws(FunctionError) in
            arguments[0] == .null ? .null : .text(BlobState.missing.rawValue)
        }
    }

    /// Sets functions, limits and pragmas of every connection to a pack's tables.
    static func prepare(_ connection: borrowing Connection) throws(SQLiteError) {
        for function in EngineFunction.allCases {
            try connection.addFunction(
                function.rawValue,
                argumentCount: function.argumentCount
            ) { (arguments) throws(FunctionError) in try function(arguments) }
        }
        // A pack may come from others, so it has limits, which no honest one comes near.
        connection.setLimit(.length, to: Limits.sqlValueSizeMax)
        connection.setLimit(.statementLength, to: Limits.sqlStatementSizeMax)
        connection.setLimit(.columnCount, to: Limits.sqlColumnCountMax)
        connection.setLimit(.expressionDepth, to: Limits.sqlExpressionDepthMax)
        connection.setLimit(.patternLength, to: Limits.sqlPatternSizeMax)
        connection.setLimit(.compoundSelectCount, to: 32)
        connection.setLimit(.programLength, to: 1_000_000)
        connection.setLimit(.attachedCount, to: 0)
        connection.setLimit(.triggerDepth, to: 8)
        connection.setLimit(.workerThreads, to: 0)
        // Triggers that feed an index of texts are the pack's own, and checked as it is.
        try connection.execute("PRAGMA trusted_schema = ON")
        // With it off, INSERT OR REPLACE was seen to damage an index of texts.
        try connection.execute("PRAGMA recursive_triggers = ON; PRAGMA foreign_keys = ON")
    }
}
