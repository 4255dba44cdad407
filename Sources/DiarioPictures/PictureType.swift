/// The types of files that are read.
package enum PictureType: String, CaseIterable, Sendable {
    case png
    case jpeg
    /// Grey, of the family Netpbm: P2 and P5.
    case pgm
    /// Colour, of the same family: P3 and P6.
    case ppm

    /// As people write it.
    package var name: String { rawValue.uppercased() }

    /// As HTTP names it.
    package var mediaType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .pgm: "image/x-portable-graymap"
        case .ppm: "image/x-portable-pixmap"
        }
    }

    /// The type of a file by its first bytes; its name or its sender may say otherwise.
    package init(_ bytes: [UInt8]) throws(PictureError) {
        switch bytes.prefix(2) {
        case [0x50, 0x32], [0x50, 0x35]: self = .pgm
        case [0x50, 0x33], [0x50, 0x36]: self = .ppm
        case [0xff, 0xd8]: self = .jpeg
        default:
            guard bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else {
                throw .otherType(Self.otherName(bytes))
            }
            self = .png
        }
    }

    /// What else a file is, for people.
    private static func otherName(_ bytes: [UInt8]) -> String? {
        func has(_ text: String, at start: Int = 0) -> Bool {
            bytes.dropFirst(start).starts(with: text.utf8)
        }
        if bytes.isEmpty { return "an empty file" }
        if has("RIFF"), has("WEBP", at: 8) { return "a WebP picture" }
        if has("GIF87a") || has("GIF89a") { return "a GIF picture" }
        if has("ftyp", at: 4) {
            return brandName(String(decoding: bytes[8...].prefix(4), as: UTF8.self))
        }
        if has("II*\0") || has("MM\0*") { return "a TIFF picture, or a camera's raw one" }
        if has("BM") { return "a BMP picture" }
        if has("P1") || has("P4") { return "a PBM picture" }
        if has("P7") { return "a PAM picture" }
        if bytes.starts(with: [0xff, 0x0a]) || has("JXL ", at: 4) { return "a JPEG XL picture" }
        if has("jP  ", at: 4) { return "a JPEG 2000 picture" }
        if has("%PDF") { return "a PDF document" }
        if has("<svg") || has("<?xml") { return "an SVG picture, or another XML document" }
        return nil
    }

    /// The files that phones and cameras write in boxes name themselves by four letters.
    private static func brandName(_ brand: String) -> String {
        switch brand {
        case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1": "a HEIC picture"
        case "avif", "avis": "an AVIF picture"
        default: "a film, or another file in boxes"
        }
    }
}
