package import DiarioCore
import DiarioFormat
import DiarioStorage

/// What sealed events take, by type and by what of them.
package struct SealedSizes: Sendable {
    /// The bytes of one type's fields, in all segments.
    package struct TypeSize: Sendable {
        package let name: String
        package let version: Int
        package fileprivate(set) var eventCount = 0
        /// Public fields, and what finds subjects among them.
        package fileprivate(set) var publicBytes = 0
        /// Personal fields, in sidecars.
        package fileprivate(set) var personalBytes = 0

        package var bytes: Int { publicBytes + personalBytes }
    }

    /// By name and version.
    package private(set) var types: [TypeSize] = []
    /// What all events have, or types share, in the order of the format.
    package private(set) var common: [(name: String, bytes: Int)] = []
    /// Bytes of all files.
    package private(set) var bytes = 0

    private var typeNumbers: [TypeEntry: Int] = [:]

    package init() {}

    mutating func add(_ segment: borrowing OpenSegment) {
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
            case .fields, .filter, .heads:
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

extension LogStore {
    /// What the sealed events of a space take; reads the headers and indexes of its segments.
    package func sealedSizes(of space: SpaceID) throws(LogError) -> SealedSizes {
        var sizes = SealedSizes()
        let manifest = try SpaceHome.readManifest(space, in: shared.directory)
        for entry in manifest.segments + manifest.lanes {
            // One that another process replaced meanwhile is left out.
            guard let segment = try OpenSegment.open(entry, of: space, in: shared) else { continue }
            sizes.add(segment)
        }
        sizes.sort()
        return sizes
    }
}
