import DiarioCore
import DiarioFormat
import DiarioSchema
import DiarioStorage

/// The sizes of sealed events, by type and field, and by column of the envelope.
///
/// The bytes of the types and those of `common` add up to `bytes`, the sizes of all files.
package struct SealedSizes: Sendable {
    /// The size of a field's column, in all segments.
    package struct FieldSize: Equatable, Sendable {
        package let name: String
        /// In sidecars.
        package let isPersonal: Bool
        package fileprivate(set) var bytes = 0
    }

    /// The bytes of one type's fields, in all segments.
    package struct TypeSize: Sendable {
        package let name: String
        package let version: Int
        package fileprivate(set) var eventCount = 0
        /// Public fields, and what finds subjects among them.
        package fileprivate(set) var publicBytes = 0
        /// Personal fields, in sidecars.
        package fileprivate(set) var personalBytes = 0

        /// In the order of the format: by the bytes of their names.
        package fileprivate(set) var fields: [FieldSize] = []

        package var bytes: Int { publicBytes + personalBytes }
        /// The bytes outside of columns: beginnings of blocks, and filters of subjects.
        package var otherBytes: Int { fields.reduce(bytes) { $0 - $1.bytes } }
    }

    /// By name and version.
    package private(set) var types: [TypeSize] = []
    /// The columns that all events have, or types share, in the order of the format.
    package private(set) var common: [(name: String, bytes: Int)] = []
    /// Bytes of all files.
    package private(set) var bytes = 0

    private var typeNumbers: [TypeEntry: Int] = [:]

    package init() {}

    mutating func add(_ segment: inout OpenSegment) throws(LogError) {
        addBlocks(segment)
        do throws(SegmentError) { try addFields(&segment) } catch {
            throw segment.place.error(error)
        }
    }

    private mutating func addBlocks(_ segment: borrowing OpenSegment) {
        let index = segment.reader.index
        bytes += segment.entry.fileSize
        let numbers = index.types.map { type in
            let number = number(of: type.entry)
            types[number].eventCount += type.eventCount
            return number
        }
        var blockBytes = 0
        for block in index.blocks {
            blockBytes += block.storedSize
            switch SegmentBlockKind(rawValue: block.kind) {
            case .fields, .filter:
                types[numbers[block.key]].publicBytes += block.storedSize
            case .some(let kind): note("\(kind)", block.storedSize)
            case .none: note("unknown", block.storedSize)
            }
        }
        for block in segment.reader.sidecarBlocks {
            blockBytes += block.storedSize
            switch SidecarBlockKind(rawValue: block.kind) {
            case .personalFields: types[numbers[block.key]].personalBytes += block.storedSize
            case .some(let kind): note("\(kind)", block.storedSize)
            case .none: note("unknown", block.storedSize)
            }
        }
        note("headers and indexes", segment.entry.fileSize - blockBytes)
    }

    /// Decodes every column, since only that tells where one ends.
    private mutating func addFields(_ segment: inout OpenSegment) throws(SegmentError) {
        for (number, block) in segment.reader.index.blocks.enumerated()
        where block.kind == SegmentBlockKind.fields.rawValue {
            let type = try segment.reader.eventType(block.key)
            let own = self.number(of: segment.reader.index.types[block.key].entry)
            if types[own].fields.isEmpty {
                types[own].fields = type.fields.map {
                    FieldSize(name: $0.name, isPersonal: $0.isPersonal)
                }
            }
            let columns = try segment.reader.fields(inBlock: number)
            let personal = try segment.reader.personalFields(inBlock: number)
            for column in columns.columns + (personal?.columns ?? []) {
                types[own].fields[column.field].bytes += column.storedSize
            }
        }
    }

    private mutating func number(of entry: TypeEntry) -> Int {
        if let known = typeNumbers[entry] { return known }
        typeNumbers[entry] = types.count
        types.append(
            TypeSize(name: String(decoding: entry.name, as: UTF8.self), version: entry.version)
        )
        return types.count - 1
    }

    private mutating func note(_ name: String, _ bytes: Int) {
        if let known = common.firstIndex(where: { $0.name == name }) {
            common[known].bytes += bytes
        } else {
            common.append((name, bytes))
        }
    }

    mutating func sort() { types.sort { ($0.name, $0.version) < ($1.name, $1.version) } }
}

extension SpaceLog {
    /// The sizes of the sealed events.
    ///
    /// Reads all of its segments but the salts, one after the other.
    package func sealedSizes() throws(LogError) -> SealedSizes {
        var sizes = SealedSizes()
        let manifest = try SpaceHome.readManifest(space, in: shared.directory)
        for entry in manifest.segments + manifest.lanes {
            // One that another process replaced meanwhile is left out.
            guard var segment = try OpenSegment.open(entry, of: space, in: shared) else { continue }
            try sizes.add(&segment)
        }
        sizes.sort()
        return sizes
    }
}
