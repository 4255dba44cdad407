package import DiarioCore
import DiarioSQLite
import DiarioStorage

// Names of spaces: schema/format/control.md, section 4.

extension ControlFile {
    /// The space that has a name; nil if none has it.
    package func space(_ name: SpaceName) throws -> NamedSpace? {
        try reading { try $0.space(name) }
    }

    /// All spaces that have names, in their order.
    package func spaces() throws -> [NamedSpace] {
        try reading { try $0.connection.spaces("ORDER BY name") }
    }

    /// Gives a name to a space that is there already.
    package func name(
        _ id: SpaceID,
        _ name: SpaceName,
        at now: Timestamp = SystemClock().now
    ) throws {
        try writing { connection in
            try connection.checkFree(name)
            if let other = try connection.spaces("WHERE id = ?", [.text(id.text)]).first {
                let what = "The space \(id.text) has the name \(other.name.text), which"
                throw ControlError.taken(what)
            }
            try connection.run(
                "INSERT INTO space (name, id, created) VALUES (?, ?, ?)",
                [.text(name.text), .text(id.text), SQLValue(now)]
            )
        }
    }

    /// Gives a space another name; its tokens and replicas go with it.
    package func rename(_ old: SpaceName, to new: SpaceName) throws {
        try writing { connection in
            try connection.checkSpace(old)
            try connection.checkFree(new)
            // Tokens name the space, under one name and then the other.
            try connection.execute("PRAGMA defer_foreign_keys = ON")
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
    package func removeSpace(_ name: SpaceName) throws -> [SpaceID] {
        let stagings = try stagings(of: name)
        try writing { connection in
            try connection.checkSpace(name)
            for table in Self.tablesOfSpaces {
                try connection.run("DELETE FROM \(table) WHERE space = ?", [.text(name.text)])
            }
            try connection.run("DELETE FROM space WHERE name = ?", [.text(name.text)])
        }
        return stagings
    }

    /// Those whose column `space` is the name of one.
    private static let tablesOfSpaces = ["token", "replica", "publication", "contact", "blob"]

    /// Sets what a space may hold.
    package func setQuota(of name: SpaceName, _ quota: SpaceQuota) throws {
        try writing { connection in
            try connection.checkSpace(name)
            try connection.run(
                "UPDATE space SET eventsMax = ?, bytesMax = ?, blobBytesMax = ? WHERE name = ?",
                [
                    SQLValue(quota.eventsMax), SQLValue(quota.bytesMax),
                    SQLValue(quota.blobBytesMax), .text(name.text),
                ]
            )
        }
    }

    /// Sets the queries that anybody may ask, without a token.
    package func setPublicQueries(of name: SpaceName, _ queries: [QueryPattern]) throws {
        if let fault = PackWords.fault(in: queries) { throw ControlError.invalid(fault) }
        try writing { connection in
            try connection.checkSpace(name)
            try connection.run(
                "UPDATE space SET publicQueries = ? WHERE name = ?",
                [SQLValue(PackWords.column(queries.map(\.text))), .text(name.text)]
            )
        }
    }
}

extension ControlFile.State {
    /// The space that has a name; nil if none has it.
    mutating func space(_ name: SpaceName) throws -> NamedSpace? {
        if let known = spaces[name] { return known }
        let found = try connection.spaces("WHERE name = ?", [.text(name.text)]).first
        spaces[name] = found
        return found
    }
}

extension Connection {
    /// Throws unless a space has the name.
    func checkSpace(_ name: SpaceName) throws {
        guard try !spaces("WHERE name = ?", [.text(name.text)]).isEmpty else {
            throw ControlError.unknownSpace(name.text)
        }
    }

    fileprivate func checkFree(_ name: SpaceName) throws {
        guard try spaces("WHERE name = ?", [.text(name.text)]).isEmpty else {
            throw ControlError.taken("The name \(name.text)")
        }
    }

    /// The spaces for which a condition holds.
    func spaces(_ condition: String = "", _ values: [SQLValue] = []) throws -> [NamedSpace] {
        let newer = try columns([("blobBytesMax", since: 2), ("publicQueries", since: 3)])
        return try run(
            "SELECT name, id, created, eventsMax, bytesMax, \(newer) FROM space " + condition,
            values
        ).map { try NamedSpace($0) }
    }
}

extension NamedSpace {
    fileprivate init(_ row: [SQLValue]) throws {
        guard let name = row[0].asText.flatMap({ SpaceName($0) }),
            let id = row[1].asText.flatMap({ SpaceID(text: $0) }),
            let created = row[2].asTime
        else { throw ControlError.damaged(what: "a row of `space` is none") }
        (self.name, self.id, self.created) = (name, id, created)
        quota = SpaceQuota(eventsMax: row[3].asCount, bytesMax: row[4].asCount)
        quota.blobBytesMax = row[5].asCount
        publicQueries = try PackWords.words(row[6], of: "space") { QueryPattern($0) }
    }
}
