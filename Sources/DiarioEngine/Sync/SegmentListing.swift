package import DiarioCore
package import DiarioCrypto
package import DiarioLog
package import DiarioSchema

/// The sealed events of a space as a server lists them: schema/format/http.md, section 5.
package struct SegmentListing: Sendable {
    /// A file of a segment.
    package struct File: Hashable, Sendable {
        package let name: String
        package let size: Int
        package let hash: Hash32

        package init(name: String, size: Int, hash: Hash32) {
            self.name = name
            self.size = size
            self.hash = hash
        }
    }

    /// A segment and its sidecar.
    package struct Segment: Hashable, Sendable {
        package let name: SegmentName
        package let files: [File]

        package init(name: SegmentName, files: [File]) {
            self.name = name
            self.files = files
        }
    }

    package let lineage: Lineage
    package let epoch: UInt64
    /// The root of all events that are in segments.
    let root: Hash32
    package let segments: [Segment]

    var byteCount: UInt64 {
        segments.reduce(0) { $0 + $1.files.reduce(0) { $0 + UInt64($1.size) } }
    }

    package init(lineage: Lineage, epoch: UInt64, root: Hash32, segments: [Segment]) {
        self.lineage = lineage
        self.epoch = epoch
        self.root = root
        self.segments = segments
    }

    /// Nil if it is not what a server says; names in it become paths, so they are checked.
    package init?(_ json: JSON) {
        guard let lineage = json.member("lineage")?.item.value.text.flatMap({ Lineage(text: $0) }),
            let epoch = json.member("epoch")?.item.value.position,
            let root = json.member("root")?.item.value.text.flatMap({ Hash32(text: $0) }),
            let items = json.member("segments")?.item.value.items
        else { return nil }
        var segments: [Segment] = []
        for item in items {
            guard let segment = Segment(item) else { return nil }
            segments.append(segment)
        }
        self.init(lineage: lineage, epoch: epoch, root: root, segments: segments)
    }
}

extension SegmentListing.Segment {
    fileprivate init?(_ json: JSON) {
        guard let first = json.member("first")?.item.value.position,
            let items = json.member("files")?.item.value.items, items.count == 2
        else { return nil }
        var files: [SegmentListing.File] = []
        for (item, kind) in zip(items, ["segment", "sidecar"]) {
            guard item.member("kind")?.item.value.text == kind,
                let name = item.member("name")?.item.value.text,
                let size = item.member("size")?.item.value.position, size <= UInt64(Int32.max),
                let hash = item.member("sha256")?.item.value.text.flatMap({ Hash32(text: $0) })
            else { return nil }
            files.append(SegmentListing.File(name: name, size: Int(size), hash: hash))
        }
        guard let name = LogPaths.segmentName(files[0].name), name.first == first,
            LogPaths.sidecarName(name) == files[1].name
        else { return nil }
        self.init(name: name, files: files)
    }
}

extension JSON {
    /// A position, or a count of events.
    package var position: UInt64? {
        guard case .integer(let number) = self else { return nil }
        return UInt64(exactly: number)
    }

    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var items: [JSON]? {
        guard case .array(let items) = self else { return nil }
        return items.map { $0.value }
    }
}
