package import DiarioCore
import DiarioLog
import DiarioSQLite
import DiarioStorage

// Names of spaces: schema/format/control.md, section 4.

extension ControlFile {
    /// The space that has a name; nil if none has it.
    package func space(_ name: SpaceName) throws(ControlError) -> NamedSpace? {
        try reading { (state) throws(ControlError) in try Self.space(name, in: &state) }
    }

    static func space(
        _ name: SpaceName,
        in state: inout State
    ) throws(ControlError) -> NamedSpace? {
        if let known = state.spaces[name] { return known }
        let found = try spaces(state.connection, "WHERE name = ?", [.text(name.text)]).first
        state.spaces[name] = found
        return found
    }

    /// All spaces that have names, in their order.
    package func spaces() throws(ControlError) -> [NamedSpace] {
        try reading { (state) throws(ControlError) in
            try Self.spaces(state.connection, "ORDER BY name", [])
        }
    }

    /// Gives a name to a space that is there already.
    package func name(
        _ id: SpaceID,
        _ name: SpaceName,
        at now: Timestamp = SystemClock().now
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            try Self.checkFree(name, connection)
            let known = try Self.spaces(connection, "WHERE id = ?", [.text(id.text)])
            if let other = known.first {
                throw .taken("The space \(id.text) has the name \(other.name.text), which")
            }
            try Self.insert(name, id, at: now, connection)
        }
    }

    /// Gives a space another name; its tokens and replicas go with it.
    package func rename(
        _ old: SpaceName,
        to new: SpaceName
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            _ = try Self.space(old, connection)
            try Self.checkFree(new, connection)
            // Tokens name the space, under one name and then the other.
            try connection.run("PRAGMA defer_foreign_keys = ON", [])
            try connection.run(
                "UPDATE space SET name = ? WHERE name = ?",
                [.text(new.text), .text(old.text)]
            )
            for table in Self.tablesOfSpaces {
                try connection.run(
                    "UPDATE \(table) SET space = ? WHERE space = ?",
                    [.text(new.text), .text(old.text)]
                )
            }
        }
    }

    /// Forgets a space with its tokens and replicas; gives the spaces that attempts to publish
    /// under its name are filling.
    package func removeSpace(_ name: SpaceName) throws(ControlError) -> [SpaceID] {
        let stagings = try stagings(of: name)
        try writing { (connection) throws(ControlError) in
            _ = try Self.space(name, connection)
            for table in Self.tablesOfSpaces {
                try connection.run("DELETE FROM \(table) WHERE space = ?", [.text(name.text)])
            }
            try connection.run("DELETE FROM space WHERE name = ?", [.text(name.text)])
        }
        return stagings
    }

    /// Those whose column `space` is the name of one.
    private static let tablesOfSpaces = ["token", "replica", "publication", "contact"]

    /// The space that has a name.
    static func space(
        _ name: SpaceName,
        _ connection: borrowing Connection
    ) throws(ControlError) -> NamedSpace {
        let found = try spaces(connection, "WHERE name = ?", [.text(name.text)])
        guard let space = found.first else { throw .unknownSpace(name.text) }
        return space
    }

    private static func checkFree(
        _ name: SpaceName,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        guard try spaces(connection, "WHERE name = ?", [.text(name.text)]).isEmpty else {
            throw .taken("The name \(name.text)")
        }
    }

    /// Sets what a space may hold.
    package func setQuota(
        of name: SpaceName,
        _ quota: SpaceQuota
    ) throws(ControlError) {
        try writing { (connection) throws(ControlError) in
            _ = try Self.space(name, connection)
            try connection.run(
                "UPDATE space SET eventsMax = ?, bytesMax = ? WHERE name = ?",
                [Value(quota.eventsMax), Value(quota.bytesMax), .text(name.text)]
            )
        }
    }

    static func insert(
        _ name: SpaceName,
        _ id: SpaceID,
        at now: Timestamp,
        _ connection: borrowing Connection
    ) throws(ControlError) {
        try connection.run(
            "INSERT INTO space (name, id, created) VALUES (?, ?, ?)",
            [.text(name.text), .text(id.text), Value(now)]
        )
    }

    static func spaces(
        _ connection: borrowing Connection,
        _ condition: String,
        _ values: [Value]
    ) throws(ControlError) -> [NamedSpace] {
        let rows = try connection.rows(
            "SELECT name, id, created, eventsMax, bytesMax FROM space " + condition,
            values
        )
        var spaces: [NamedSpace] = []
        for row in rows {
            guard let name = row[0].asText.flatMap({ SpaceName($0) }),
                let id = row[1].asText.flatMap({ SpaceID(text: $0) }),
                let created = row[2].asTime
            else { throw .damaged(what: "a row of `space` is none") }
            spaces.append(
                NamedSpace(
                    name: name,
                    id: id,
                    created: created,
                    quota: SpaceQuota(eventsMax: row[3].asCount, bytesMax: row[4].asCount)
                )
            )
        }
        return spaces
    }
}
