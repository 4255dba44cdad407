import CJPEG
import DiarioCore

/// Reads and writes JPEG by libjpeg-turbo.
enum JPEG {
    static func read(_ bytes: [UInt8], _ form: Picture.Form?) throws(PictureError) -> Picture {
        // Safe: the bytes stay until the reader has gone, which does not leave the closure.
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(PictureError) in
            let reader = try unsafe JPEGReader(buffer)
            let head = try reader.head(fileSize: bytes.count)
            var rows = PictureRows(
                width: head.width,
                height: head.height,
                head.source,
                EXIF(jpeg: bytes)?.orientation ?? .topLeft,
                as: form
            )
            try reader.read(head, into: &rows)
            return rows.finish()
        }
    }

    /// Writes the pixels and nothing else.
    static func write(_ picture: Picture) throws(PictureError) -> [UInt8] {
        let writer = try JPEGWriter()
        return try writer.write(picture)
    }

    /// From 1 to 100: at this one nobody sees a difference, and a photo stays about as large.
    fileprivate static let quality: Int32 = 90

    fileprivate static func failure(_ outcome: Int32, _ detail: String) -> PictureError {
        switch Int(outcome) {
        case DIARIO_JPEG_MEMORY: .outOfMemory
        case DIARIO_JPEG_SCANS:
            .unsupported(.jpeg, "it has more than \(Limits.pictureScanCountMax) scans")
        default: .damaged(.jpeg, detail)
        }
    }
}

/// One JPEG that is read; it must not outlive the bytes that it was given.
@safe private struct JPEGReader: ~Copyable {
    struct Head {
        let width: Int
        let height: Int
        let source: PictureRows.Source
    }

    private let handle: OpaquePointer

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(PictureError) {
        guard let handle = unsafe diario_jpeg_read(bytes.baseAddress, bytes.count) else {
            throw .outOfMemory
        }
        unsafe self.handle = handle
    }

    deinit { unsafe diario_jpeg_read_end(handle) }

    /// What the file says before its pixels, checked before memory is asked for.
    func head(fileSize: Int) throws(PictureError) -> Head {
        var head = diario_jpeg_head()
        try check(unsafe diario_jpeg_read_head(handle, &head))
        let (width, height) = (Int(head.width), Int(head.height))
        try Picture.check(width: width, height: height)
        guard let source = PictureRows.Source(rawValue: Int(head.channels)) else {
            throw .unsupported(.jpeg, "it has the colours of a printing press; save it as RGB")
        }
        guard head.is_arithmetic == 0 else {
            throw .unsupported(.jpeg, "it has arithmetic coding; save it with the usual one")
        }
        // Without arithmetic coding each block of 8 x 8 pixels takes a bit at least.
        guard fileSize >= width * height / 512 else {
            throw .damaged(.jpeg, "it is too short for \(width) x \(height) pixels")
        }
        return Head(width: width, height: height, source: source)
    }

    func read(_ head: Head, into rows: inout PictureRows) throws(PictureError) {
        // All coefficients of a JPEG in several scans, two bytes each, and room for their edges.
        let memoryMax = 8 * head.width * head.height + 16 * 1024 * 1024
        try check(
            unsafe diario_jpeg_begin_rows(handle, Int32(Limits.pictureScanCountMax), memoryMax)
        )
        var row = [UInt8](repeating: 0, count: head.width * head.source.rawValue)
        for y in 0..<head.height {
            try check(unsafe diario_jpeg_read_row(handle, &row))
            rows.put(row.span, at: y)
        }
        try check(unsafe diario_jpeg_end_rows(handle))
    }

    private func check(_ outcome: Int32) throws(PictureError) {
        guard outcome != DIARIO_JPEG_DONE else { return }
        throw JPEG.failure(outcome, unsafe String(cString: diario_jpeg_read_failure(handle)))
    }
}

/// One JPEG that is written.
@safe private struct JPEGWriter: ~Copyable {
    private let handle: OpaquePointer

    init() throws(PictureError) {
        guard let handle = unsafe diario_jpeg_write() else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { unsafe diario_jpeg_write_end(handle) }

    func write(_ picture: Picture) throws(PictureError) -> [UInt8] {
        try check(
            unsafe diario_jpeg_write_head(
                handle,
                UInt32(picture.width),
                UInt32(picture.height),
                Int32(picture.form.rawValue),
                JPEG.quality
            )
        )
        let rowSize = picture.width * picture.form.rawValue
        // Safe: each row is inside the samples, of which there are as many as the size says.
        try unsafe picture.samples.withUnsafeBufferPointer { (samples) throws(PictureError) in
            for y in 0..<picture.height {
                let row = unsafe UnsafeBufferPointer(rebasing: samples[(y * rowSize)...])
                try check(unsafe diario_jpeg_write_row(handle, row.baseAddress))
            }
        }
        var start: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe diario_jpeg_end_writing(handle, &start, &count))
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Nothing but memory can be missing: sizes are those of pictures.
    private func check(_ outcome: Int32) throws(PictureError) {
        guard outcome == DIARIO_JPEG_DONE else { throw .outOfMemory }
    }
}
