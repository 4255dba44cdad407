import DiarioCrypto
import DiarioStorage

/// The pages of browsers: the files that tools/web makes, at their paths.
///
/// All are read when the server starts, since they are few, and belong together.
package final class WebShell: Connector {
    private let files: [String: WebFile]

    /// Beside this file the names of its compressed forms.
    private static let encodings = [(name: "br", suffix: ".br"), (name: "gzip", suffix: ".gz")]
    /// More than the files of a page have.
    private static let sizeMax = 64 * 1024 * 1024

    /// The files of a folder; without one, pages that were not built.
    package init(folder path: String?) throws {
        var found: [String: WebFile] = [:]
        if let path {
            let folder = try POSIXDirectory(path: path, access: .read)
            try Self.read("", in: folder, into: &found)
        }
        files = found
    }

    /// The folder of the pages that belong to this program; nil if there is none.
    package static func ownFolder() -> String? {
        let process = try? POSIXDirectory(path: "/proc/self", access: .read)
        guard let path = process?.link("exe") else { return nil }
        // Built here, in a folder like .build/release; or installed.
        var folders: [String] = []
        if let end = path.firstRange(of: "/.build/") {
            folders.append(path[..<end.upperBound] + "web")
        }
        let above = path.split(separator: "/").dropLast(2).joined(separator: "/")
        folders.append("/\(above)/share/diario/web")
        return folders.first { folder in
            let directory = try? POSIXDirectory(path: folder, access: .read)
            return (try? directory?.exists("diario.js")) ?? false
        }
    }

    /// True if it is what tools/web makes.
    package var isWhole: Bool { files["diario.js"] != nil }

    private static func read(
        _ path: String,
        in folder: POSIXDirectory,
        into files: inout [String: WebFile]
    ) throws {
        let names = try Self.names(path, in: folder)
        for name in names where !encodings.contains(where: { name.hasSuffix($0.suffix) }) {
            let inner = path.isEmpty ? name : path + "/" + name
            guard let type = WebFile.type(of: name) else {
                // A folder, or something that is not for browsers.
                try read(inner, in: folder, into: &files)
                continue
            }
            let bytes = try Files.contents(of: inner, in: folder, sizeMax: sizeMax)
            var file = WebFile(bytes, type, isVersioned: inner.hasPrefix("web/"))
            for (encoding, suffix) in encodings where names.contains(name + suffix) {
                file.encoded[encoding] = try Files.contents(
                    of: inner + suffix,
                    in: folder,
                    sizeMax: sizeMax
                )
            }
            files[inner] = file
        }
    }

    /// The names in a folder; none if it is a file.
    private static func names(_ path: String, in folder: POSIXDirectory) throws -> [String] {
        do { return try folder.list(path) } catch {
            if case .notDirectory = error { return [] }
            throw error
        }
    }

    // MARK: Answers

    package func methods(of path: String) -> [String]? {
        path == "/" || name(of: path) != nil ? ["GET", "HEAD"] : nil
    }

    /// The file at a path; an address without a dot is one of a page, which it finds itself.
    private func name(of path: String) -> String? {
        let name = String(path.dropFirst())
        if files[name] != nil { return name }
        return files["index.html"] != nil && Self.pages.contains(name) ? "index.html" : nil
    }

    /// The addresses below which pages have their own.
    private static let pages: Set = ["", "inspect", "fish"]

    package func admit(_ head: HTTPRequest) -> Int { 0 }

    package func reply(to request: HTTPRequest, in directory: ServedDirectory) -> HTTPReply {
        guard let name = name(of: request.path), let file = files[name] else {
            return .answer(Self.missing)
        }
        return .answer(file.answer(to: request))
    }

    package func check(in directory: ServedDirectory) throws {}

    private static var missing: HTTPAnswer {
        HTTPAnswer(
            404,
            headers: [(name: "Content-Type", value: "text/plain; charset=utf-8")],
            .bytes(
                Array(
                    ("This server has no pages. Build them with tools/web, or name their folder "
                        + "with --web. Programs ask below /v1: see /v1/openapi.yaml.\n").utf8
                )
            )
        )
    }
}

/// A file of the pages, with its compressed forms.
private struct WebFile {
    let bytes: [UInt8]
    let type: String
    /// With quotes.
    let tag: String
    /// True if another content has another path.
    let isVersioned: Bool
    var encoded: [String: [UInt8]] = [:]

    /// Nothing of elsewhere, and no code that a page made.
    private static let policy =
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' blob: data:; "
        + "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static let types = [
        "css": "text/css; charset=utf-8",
        "html": "text/html; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "svg": "image/svg+xml",
        "ts": "text/plain; charset=utf-8",
        "wasm": "application/wasm",
        "webmanifest": "application/manifest+json",
    ]

    /// The type of a file by its name; nil for others.
    static func type(of name: String) -> String? {
        name.lastIndex(of: ".").flatMap { types[String(name[name.index(after: $0)...])] }
    }

    init(_ bytes: [UInt8], _ type: String, isVersioned: Bool) {
        (self.bytes, self.type, self.isVersioned) = (bytes, type, isVersioned)
        tag = "\"\(SHA256.hash(bytes.span).text.prefix(32))\""
    }

    func answer(to request: HTTPRequest) -> HTTPAnswer {
        var headers = [
            (name: "ETag", value: tag),
            (
                name: "Cache-Control",
                value: isVersioned ? "public, max-age=31536000, immutable" : "no-cache"
            ),
            (name: "Vary", value: "Accept-Encoding"),
            (name: "Content-Security-Policy", value: Self.policy),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "Referrer-Policy", value: "no-referrer"),
        ]
        if request.headers["if-none-match"]?.contains(tag) ?? false {
            return HTTPAnswer(304, headers: headers)
        }
        headers.append((name: "Content-Type", value: type))
        let accepted = (request.headers["accept-encoding"] ?? "").split(separator: ",").map {
            String($0.filter { $0 != " " })
        }
        for encoding in ["br", "gzip"] where accepted.contains(encoding) {
            guard let small = encoded[encoding] else { continue }
            headers.append((name: "Content-Encoding", value: encoding))
            return HTTPAnswer(200, headers: headers, .bytes(small))
        }
        return HTTPAnswer(200, headers: headers, .bytes(bytes))
    }
}
