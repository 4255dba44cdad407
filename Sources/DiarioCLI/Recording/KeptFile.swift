import Diario
import DiarioCore
import DiarioCrypto
import DiarioPictures
import DiarioSchema

/// A file as it is kept beside the events: a photo without all that its camera wrote into it.
struct KeptFile {
    private static let types = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp",
        "heic": "image/heic", "avif": "image/avif",
    ]
    private static let sizeMax = 256 * 1024 * 1024

    let bytes: [UInt8]
    /// The media type.
    let type: String
    /// In pixels; nil unless it is a photo that was read.
    let extent: (width: Int, height: Int)?
    /// The day on which a photo was taken, by its metadata, which are taken out; nil if it says
    /// none.
    let day: CivilDay?

    /// The media type of a file by the end of its name; nil if that says nothing.
    static func type(of path: String) -> String? {
        path.split(separator: ".").last.flatMap { types[$0.lowercased()] }
    }

    private init(bytes: [UInt8], type: String, extent: (width: Int, height: Int)?) {
        (self.bytes, self.type, self.extent, day) = (bytes, type, extent, nil)
    }

    /// Reads a photo and writes it anew; one of a type that is not read would keep its metadata, so
    /// it is refused.
    init(photo path: String, _ call: Invocation) throws {
        let file = try call.contents(of: path, "the photo", sizeMax: Self.sizeMax)
        do {
            let photo = try Photo.rewritten(file)
            (bytes, type) = (photo.bytes, photo.type.mediaType)
            (extent, day) = ((photo.width, photo.height), photo.day)
        } catch {
            throw Failure.failed("\(CellText.oneLine(path)): \(error.message)")
        }
    }

    /// Reads what a blob of a command is to be.
    init(_ path: String, for blob: BlobField, _ call: Invocation) throws {
        if blob.types.allSatisfy({ $0.hasPrefix("image/") }) {
            try self.init(photo: path, call)
        } else {
            let bytes = try call.contents(of: path, "the file", sizeMax: Self.sizeMax)
            self.init(bytes: bytes, type: Self.type(of: path) ?? blob.types[0], extent: nil)
        }
        let name = CellText.oneLine(path)
        guard blob.types.contains(type) else {
            throw Failure.failed(
                "\(name) is of the type \(type), and \(blob.name) is one of: "
                    + blob.types.joined(separator: ", ")
            )
        }
        guard bytes.count <= blob.sizeMax else {
            throw Failure.failed(
                "\(name) would take \(Show.grouped(bytes.count)) bytes, and \(blob.name) has at "
                    + "most \(Show.grouped(Int(blob.sizeMax))). Make it smaller"
            )
        }
    }

    /// Stores it, and gives the values of the fields of `blob`, and its size in pixels and its day
    /// where the form has fields for that without a value.
    func put(
        for blob: BlobField,
        of form: EventType,
        into values: inout CommandValues,
        in space: Space
    ) throws -> PutBlob {
        let put = try space.putBlob(bytes, isPublic: blob.isPublic)
        func name(_ index: Int) -> String { form.fields[index].name }
        values.set(name(blob.idIndex), put.id.bytes)
        values.set(name(blob.sizeIndex), put.size)
        values.set(name(blob.typeIndex), type)
        if let index = blob.keyIndex { values.set(name(index), put.key) }
        for (name, value) in [("widthPx", extent?.width), ("heightPx", extent?.height)]
        where form.fieldIndex(name) != nil && values[name] == nil {
            values.set(name, value.map { Int64($0) })
        }
        if form.fieldIndex("takenOn") != nil, values["takenOn"] == nil, values["takenAt"] == nil {
            values.set("takenOn", day)
        }
        return put
    }
}
