import DiarioCore
import DiarioSchema

extension SegmentBuilder {
    /// Writes columns that several types share; gives for each type how it uses one.
    func writeShared(
        _ encoder: inout ColumnEncoder,
        _ table: inout ReplicaTable,
        into file: inout SegmentFileWriter
    ) throws(FormatError) -> [SharedUse?] {
        var uses = [SharedUse?](repeating: nil, count: types.count)
        var number = 0
        for group in SharedSubjects.groups(types, publicFields) {
            let subjects = group.map { index in
                publicFields[index].compactMap { types[index].subjects(in: $0)?.strings }
            }
            guard let texts = SharedTexts(subjects) else { continue }
            let column = texts.column(group, envelope.types)
            encoder.writer.removeAll()
            encoder.writer.put(varint: group.count)
            for index in group { encoder.writer.put(varint: index) }
            encoder.writer.put(TextMethod.dictionaryTag)
            encoder.writer.put(varint: column.strings.count)
            try encoder.writer.put(strings: column.strings, &table)
            let scope = ColumnScope(
                keys: SharedColumn.keys(
                    column.events,
                    replicas: envelope.replicas,
                    replicaCount: replicas.count
                )
            )
            let first = types[group[0]].type
            let field = first.fields[first.subjectFieldIndex ?? 0].name
            let name = ColumnName(place: .shared("\(first.pack) \(field)"))
            _ = try encoder.encode(column.codes, name, .indices, scope)
            file.add(
                kind: SegmentBlockKind.shared.rawValue,
                key: number,
                rowCount: column.codes.count,
                encoder.writer
            )
            for (place, index) in group.enumerated() {
                uses[index] = SharedUse(
                    number: number,
                    field: types[index].type.subjectFieldIndex ?? 0,
                    codes: column.codesByType[place],
                    distinctCount: column.strings.count
                )
            }
            number += 1
        }
        return uses
    }
}

/// How a type's column uses a shared one.
struct SharedUse {
    var number: Int
    /// The index of the field in its type.
    var field: Int
    /// For each row the index of its text.
    var codes: [Int64]
    /// How many texts there are.
    var distinctCount: Int

    /// The same for some rows.
    func rows(_ rows: Range<Int>) -> SharedUse {
        var part = self
        part.codes = Array(codes[rows])
        return part
    }
}

/// The texts that several types have in common.
private struct SharedTexts {
    private var strings: ByteStrings
    /// By type, for each row the index of its text.
    private var codes: [[Int64]]

    /// Nil if most texts come once, or if they are too large for one block.
    init?(_ columns: [[ByteStrings]]) {
        var table = StringTable()
        var (size, count) = (0, 0)
        codes = []
        for chunks in columns {
            var own: [Int64] = []
            for strings in chunks {
                size += strings.bytes.count
                guard size <= SegmentLimits.poolSizeMax else { return nil }
                own.reserveCapacity(own.count + strings.count)
                for index in 0..<strings.count {
                    own.append(Int64(table.index(adding: strings[index])))
                }
            }
            count += own.count
            codes.append(own)
        }
        guard table.count * 4 <= count * 3 else { return nil }
        strings = table.strings
    }

    /// One column in the order of events.
    struct Column {
        /// In order of first sight.
        var strings = ByteStrings()
        var codes: [Int64] = []
        /// The event of each value.
        var events: [Int32] = []
        var codesByType: [[Int64]] = []
    }

    /// The column of the types in `group`, where `types` has the type of each event.
    func column(_ group: [Int], _ types: [Int64]) -> Column {
        var column = Column()
        var places = [Int](repeating: -1, count: (group.last ?? 0) + 1)
        for (place, index) in group.enumerated() { places[index] = place }
        var next = [Int](repeating: 0, count: group.count)
        var numbers = [Int64](repeating: -1, count: strings.count)
        for event in types.indices {
            let type = Int(types[event])
            guard type < places.count, places[type] >= 0 else { continue }
            let place = places[type]
            let code = Int(codes[place][next[place]])
            next[place] += 1
            if numbers[code] < 0 {
                numbers[code] = Int64(column.strings.count)
                column.strings.append(strings, code)
            }
            column.codes.append(numbers[code])
            column.events.append(Int32(truncatingIfNeeded: event))
        }
        column.codesByType = codes.map { own in own.map { numbers[Int($0)] } }
        return column
    }
}
