/// A file that never changes, or a part of it, as the kernel sends it.
struct FileAnswer {
    let path: String
    let size: Int
    /// With quotes.
    let tag: String
    /// False if no cache may keep it, since it may be erased.
    let isCached: Bool

    func answer(to request: HTTPRequest) throws -> HTTPAnswer {
        var headers = [
            (name: "ETag", value: tag),
            (name: "Accept-Ranges", value: "bytes"),
            (
                name: "Cache-Control",
                value: isCached ? "private, max-age=31536000, immutable" : "no-store"
            ),
        ]
        if request.headers["if-none-match"]?.contains(tag) ?? false {
            return HTTPAnswer(304, headers: headers)
        }
        headers.append((name: "Content-Type", value: MediaType.file.rawValue))
        let range: Range<Int>?
        let condition = request.headers["if-range"]
        if let text = request.headers["range"], condition == nil || condition == tag, size > 0 {
            range = try ByteRange.range(text, of: size)
        } else {
            range = nil
        }
        guard let range else {
            return HTTPAnswer(
                200,
                headers: headers,
                .file(SentFile(path: path, offset: 0, count: size))
            )
        }
        headers.append(
            (
                name: "Content-Range",
                value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            )
        )
        return HTTPAnswer(
            206,
            headers: headers,
            .file(SentFile(path: path, offset: range.lowerBound, count: range.count))
        )
    }
}

/// The header Range.
enum ByteRange {
    /// The part that is asked for; nil if it is of a kind that is passed over, as the standard lets
    /// a server do with several ranges.
    static func range(_ text: String, of size: Int) throws -> Range<Int>? {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let parts = text.dropFirst("bytes=".count).split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        guard parts.count == 2 else { return nil }
        let first = parts[0].isEmpty ? nil : Int(parts[0])
        let last = parts[1].isEmpty ? nil : Int(parts[1])
        let range: Range<Int>
        switch (first, last) {
        case (let first?, nil) where parts[1].isEmpty: range = min(first, size)..<size
        case (let first?, let last?) where first <= last:
            range = min(first, size)..<min(last, size - 1) + 1
        case (nil, let count?) where parts[0].isEmpty: range = max(size - count, 0)..<size
        default: return nil
        }
        guard !range.isEmpty else {
            throw Problem(.range, "The file has \(size) bytes.", remedy: "Ask for a part of it.")
        }
        return range
    }
}
