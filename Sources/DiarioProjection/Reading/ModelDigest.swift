import DiarioCore
package import DiarioCrypto
import DiarioFormat
import DiarioSQLite

/// A hash of all rows of a read model: schema/format/models.md, section 6.
package struct ModelDigest: Hashable, Sendable {
    package let digest: Hash32
    /// Rows of its plain tables.
    package let rows: Int

    package init(digest: Hash32, rows: Int) {
        self.digest = digest
        self.rows = rows
    }
}

extension ModelFile {
    /// The digest of a read model's tables as they are.
    package func digest(of model: String) throws(ProjectionError) -> ModelDigest {
        let hasher = SHA256Stream()
        var count = 0
        let tables = try rows(
            "SELECT name FROM diario_table WHERE model = ? AND kind = 'table' ORDER BY name",
            [.text(model)]
        )
        for row in tables {
            guard let name = row[0].text, let shape = shapes[name] else {
                throw .damaged(path: path, what: "diario_table names a table that is not there")
            }
            count += try add(shape, to: hasher)
        }
        return ModelDigest(digest: hasher.finalize(), rows: count)
    }

    private func add(
        _ shape: TableShape,
        to hasher: SHA256Stream
    ) throws(ProjectionError) -> Int {
        var bytes: [UInt8] = []
        bytes.append(text: shape.name)
        bytes.append(varint: UInt64(shape.columns.count))
        for column in shape.columns { bytes.append(text: column.name) }
        let columns = shape.columns.map { $0.name.quotedName }.joined(separator: ", ")
        let order = shape.primaryKey.map { $0.quotedName }.joined(separator: ", ")
        var count = 0
        do throws(SQLiteError) {
            let statement = try connection.prepare(
                "SELECT \(columns) FROM \(shape.name.quotedName) ORDER BY \(order)",
                isKept: false
            )
            while try statement.step() {
                bytes.append(1)
                for column in shape.columns.indices {
                    bytes.append(value: statement.value(at: column))
                }
                count += 1
                if bytes.count > 64 * 1024 {
                    hasher.update(bytes.span)
                    bytes.removeAll(keepingCapacity: true)
                }
            }
        } catch {
            throw .file(path: path, error)
        }
        bytes.append(0)
        hasher.update(bytes.span)
        return count
    }
}
