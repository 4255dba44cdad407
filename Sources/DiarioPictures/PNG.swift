import CPNG
import DiarioCore

/// Reads and writes PNG by libpng.
enum PNG {
    static func read(_ bytes: [UInt8], _ form: Picture.Form?) throws(PictureError) -> Picture {
        try checkSize(bytes)
        // Safe: the bytes stay until the reader has gone, which does not leave the closure.
        return try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(PictureError) in
            let reader = try unsafe PNGReader(buffer)
            let head = try reader.head(fileSize: bytes.count)
            var rows = PictureRows(
                width: head.width,
                height: head.height,
                head.source,
                EXIF(png: bytes)?.orientation ?? .topLeft,
                as: form
            )
            try reader.read(head, into: &rows)
            return rows.finish()
        }
    }

    /// The size stands at one place in all files, and the library takes memory by it.
    private static func checkSize(_ bytes: [UInt8]) throws(PictureError) {
        guard bytes.count >= 24 else { throw .damaged(.png, "the file ends too early") }
        let width = bytes[16..<20].reduce(0) { $0 << 8 | Int($1) }
        let height = bytes[20..<24].reduce(0) { $0 << 8 | Int($1) }
        try Picture.check(width: width, height: height)
    }

    /// Writes the pixels and nothing else.
    static func write(_ picture: Picture) throws(PictureError) -> [UInt8] {
        let writer = try PNGWriter()
        return try writer.write(picture)
    }

    fileprivate static func failure(_ outcome: Int32, _ detail: String) -> PictureError {
        outcome == DIARIO_PNG_MEMORY ? .outOfMemory : .damaged(.png, detail)
    }
}

/// One PNG that is read; it must not outlive the bytes that it was given.
@safe private struct PNGReader: ~Copyable {
    struct Head {
        let width: Int
        let height: Int
        let source: PictureRows.Source
        let isInterlaced: Bool
    }

    private let handle: OpaquePointer

    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(PictureError) {
        guard
            let handle = unsafe diario_png_read(
                bytes.baseAddress,
                bytes.count,
                UInt32(Limits.pictureSideMax)
            )
        else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { unsafe diario_png_read_end(handle) }

    /// What the file says before its pixels, checked before memory is asked for.
    func head(fileSize: Int) throws(PictureError) -> Head {
        var head = diario_png_head()
        try check(unsafe diario_png_read_head(handle, &head))
        let (width, height) = (Int(head.width), Int(head.height))
        // Deflate makes at most 1,032 bytes of one.
        let size = height * ((width * Int(head.bit_count) + 7) / 8 + 1)
        guard fileSize >= size / 1032 else {
            throw .damaged(.png, "it is too short for \(width) x \(height) pixels")
        }
        guard let source = PictureRows.Source(rawValue: Int(head.channels)) else {
            preconditionFailure("a PNG has 1 to 4 samples")
        }
        return Head(
            width: width,
            height: height,
            source: source,
            isInterlaced: head.is_interlaced != 0
        )
    }

    func read(_ head: Head, into rows: inout PictureRows) throws(PictureError) {
        let rowSize = head.width * head.source.rawValue
        if head.isInterlaced {
            var all = [UInt8](repeating: 0, count: rowSize * head.height)
            try check(unsafe diario_png_read_interlaced(handle, &all, rowSize))
            for y in 0..<head.height {
                rows.put(all.span.extracting((y * rowSize)..<((y + 1) * rowSize)), at: y)
            }
        } else {
            var row = [UInt8](repeating: 0, count: rowSize)
            for y in 0..<head.height {
                try check(unsafe diario_png_read_row(handle, &row))
                rows.put(row.span, at: y)
            }
        }
        try check(unsafe diario_png_end_rows(handle))
    }

    private func check(_ outcome: Int32) throws(PictureError) {
        guard outcome != DIARIO_PNG_DONE else { return }
        throw PNG.failure(outcome, unsafe String(cString: diario_png_read_failure(handle)))
    }
}

/// One PNG that is written.
@safe private struct PNGWriter: ~Copyable {
    private let handle: OpaquePointer

    init() throws(PictureError) {
        guard let handle = unsafe diario_png_write() else { throw .outOfMemory }
        unsafe self.handle = handle
    }

    deinit { unsafe diario_png_write_end(handle) }

    func write(_ picture: Picture) throws(PictureError) -> [UInt8] {
        try check(
            unsafe diario_png_write_head(
                handle,
                UInt32(picture.width),
                UInt32(picture.height),
                Int32(picture.form.rawValue)
            )
        )
        let rowSize = picture.width * picture.form.rawValue
        // Safe: each row is inside the samples, of which there are as many as the size says.
        try unsafe picture.samples.withUnsafeBufferPointer { (samples) throws(PictureError) in
            for y in 0..<picture.height {
                let row = unsafe UnsafeBufferPointer(rebasing: samples[(y * rowSize)...])
                try check(unsafe diario_png_write_row(handle, row.baseAddress))
            }
        }
        var start: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe diario_png_end_writing(handle, &start, &count))
        return unsafe Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Nothing but memory can be missing: sizes are those of pictures.
    private func check(_ outcome: Int32) throws(PictureError) {
        guard outcome == DIARIO_PNG_DONE else { throw .outOfMemory }
    }
}
