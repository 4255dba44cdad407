import DiarioCore
import DiarioEngine
import DiarioFish
import DiarioSchema
package import DiarioServer

// The interface that the old app of the pack fish knows: schema/fish/README.md, "The old
// interface". What its words mean is a view and a command of the pack; here is only how they come.

/// What is answered to the old app, which bears no token.
package final class OldApp: Connector {
    let space: SpaceName
    /// That of lengths without one: `mm` or `cm`.
    private let unit: String
    /// True if others than this machine may ask, too.
    private let isOpen: Bool
    private let rates = AddressRates()

    package init(space: SpaceName, unit: String = "mm", isOpen: Bool = false) {
        self.space = space
        self.unit = unit
        self.isOpen = isOpen
    }

    enum Path: String {
        case species = "/fish/handleFishes.php"
        case reports = "/fish/handleReport.php"

        var methods: [String] { self == .species ? ["GET", "HEAD"] : ["POST"] }
    }

    package func methods(of path: String) -> [String]? { Path(rawValue: path)?.methods }

    /// The app says nothing of the type of what it sends.
    package func admit(_ head: HTTPRequest) throws -> Int {
        try check(head)
        return head.method == "POST" ? OldForm.sizeMax : 0
    }

    /// Refuses whoever may not ask; where a browser would let any page ask, it names the page.
    func check(_ request: HTTPRequest) throws {
        guard isOpen || request.peer?.isLoopback == true else {
            throw Problem(
                .forbidden,
                "The old app is answered on this machine alone.",
                remedy: "Start the server with --legacy-open, or let a proxy on it ask."
            )
        }
        guard request.method != "POST" || request.headers["origin"] == nil else {
            throw Problem(
                .forbidden,
                "This is for the old app, and not for pages of a browser.",
                remedy: "Use a token: /v1/spaces/NAME/commands/fish.old.receive."
            )
        }
    }

    /// The call that a request stands for; nil if it asks for nothing.
    func call(_ path: Path, _ request: HTTPRequest) throws -> Call? {
        var call: Call
        var input = CommandValues()
        switch path {
        case .species:
            guard request.query.contains(where: { $0.name == "all_fishes" }) else { return nil }
            let months = request.query.filter { $0.name == "month" }
            guard months.count < 2 else { throw Problem(.malformed, "`month` is there twice.") }
            // A name without a value is a month without a name.
            if let month = months.first { input.set("month", month.value ?? "") }
            call = Call("fish.old.species", [])
        case .reports:
            guard let form = OldForm(request.body) else {
                throw Problem(.malformed, "The form is not in UTF-8.")
            }
            guard form["action"] == "save_report" else {
                throw Problem(
                    .malformed,
                    "The form has no `action` that is known here.",
                    remedy: "Send action=save_report."
                )
            }
            for (name, field) in Self.fields {
                guard let value = form[name] else {
                    throw Problem(
                        .malformed,
                        "The form has no `\(name)`.",
                        remedy: "Send " + Self.fields.map(\.name).joined(separator: ", ") + "."
                    )
                }
                input.set(field, value)
            }
            call = Call("fish.old.receive", [])
        }
        input.set("unit", unit)
        call.input = input.json
        call.actor = Self.actor
        call.language = request.language ?? .english
        return call
    }

    /// Who records the reports: the app says of nobody who it is.
    private static let actor = "old-app"

    private static let fields: [(name: String, field: String)] = [
        ("id_fish", "idFish"), ("fish_name", "fishName"), ("detectedSize", "detectedSize"),
        ("eligibilitySize", "eligibilitySize"), ("eligibilityDate", "eligibilityDate"),
        ("origin", "origin"), ("production", "production"), ("townReport", "townReport"),
    ]

    /// What the old app is told: the list of species, or the id of the report.
    static func answer(_ path: Path, _ answer: CallAnswer) throws -> HTTPAnswer {
        let result = try JSON.parse(answer.result).value
        switch path {
        case .species:
            return .json(result.member("species")?.item.value.asWritten ?? Array("[]".utf8))
        case .reports:
            // The old app takes no other status for success, whatever was made.
            guard case .string(let id)? = result.member("reportId")?.item.value else {
                return HTTPAnswer(200)
            }
            return .object { $0.add("id", id) }
        }
    }

    /// The problem of a call that threw: what is wrong is 400, and 422 are answers that do not
    /// follow.
    static func problem(_ error: any Error) -> Problem {
        var problem = Problem(error)
        if problem.kind == .rule, problem.rule != "answers" { problem.kind = .malformed }
        return problem
    }
}

// MARK: In a directory

extension OldApp {
    /// Makes sure that the space is there, and has the pack.
    package func check(in directory: ServedDirectory) throws {
        guard let named = try directory.served.control.space(space) else {
            throw DiarioError(
                .notFound,
                "There is no space \(space.text) for the old app. Make it: diario space create "
                    + "\(space.text) --pack fish"
            )
        }
        guard try directory.space(named).space.packs.contains(where: { $0.name == "fish" }) else {
            throw DiarioError(
                .notFound,
                "The space \(space.text) does not use the pack fish. Let it: diario --space "
                    + "\(space.text) schema adopt --pack fish"
            )
        }
    }

    /// The answer, when its turn has come.
    package func reply(
        to request: HTTPRequest,
        in directory: ServedDirectory
    ) throws -> HTTPReply {
        guard let path = Path(rawValue: request.path) else { throw Problem.nothingHere }
        try check(request)
        try rates.take(request, at: directory.now)
        guard let call = try call(path, request) else { return .answer(HTTPAnswer(200)) }
        guard let named = try directory.served.control.space(space) else {
            throw Problem(.notFound, "The space of the old app is gone.")
        }
        try? directory.served.refreshAfterOthers()
        let space = CalledSpace(directory: directory, name: named, token: nil)
        return .reading(
            Reading(ReadOwner(space: named.name.text, token: "old app")) { stop in
                do {
                    let kind: Declaration.Kind = path == .species ? .view : .command
                    return try Self.answer(path, space.call(call, kind, until: stop))
                } catch {
                    return Self.problem(error).answer
                }
            }
        )
    }
}
