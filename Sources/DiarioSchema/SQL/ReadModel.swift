/// A read model of a pack: tables, and what each event does to them.
package struct ReadModel: Equatable, Sendable {
    /// The statements for the events of some types.
    package struct Block: Equatable, Sendable {
        /// Full names of types, in the order of the heading.
        package let types: [String]
        /// The line of the heading.
        package let line: Int
        package let statements: [SQLStatement]
    }

    package let name: String
    package let version: Int
    /// The description in its heading.
    package let title: String
    /// The path of its file in the pack.
    package let file: String
    /// Tables, indexes, virtual tables, triggers and views, in order.
    package let definitions: [SQLStatement]
    package let blocks: [Block]

    /// Full names of the types it listens to, sorted.
    package var types: [String] { Set(blocks.flatMap { $0.types }).sorted() }
}

/// Reads a payload of an older version of a type as one of a newer version.
package struct Upcast: Equatable, Sendable {
    /// The full name of the type.
    package let type: String
    package let from: Int
    package let to: Int
    /// The path of its file in the pack.
    package let file: String
    /// One SELECT whose parameters are the old fields, and whose columns are the new ones.
    package let statement: SQLStatement
}

/// All SQL of a pack.
package struct PackSQL: Equatable, Sendable {
    /// By name of their files.
    package var readModels: [ReadModel] = []
    /// By name of their files.
    package var queries: [PackQuery] = []
    /// By name of their files.
    package var upcasts: [Upcast] = []

    package init() {}
}
