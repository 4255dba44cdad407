// The commands about spaces that are served, and who may use them. Help and parser both read this.

extension Command {
    private static let data = CommandOption.value(
        "data",
        "DIR",
        "the folder of the server's data; else the one of -C",
        .folder
    )

    static let serve = Command(
        name: "serve",
        operands: "",
        operandCount: 0...0,
        summary: "serve spaces over HTTP",
        details: [
            "Serves the spaces of a folder that have names, to those who have tokens, and prints "
                + "one line with its address as soon as it listens. The folder and what is "
                + "needed in it are made if they are not there. Spaces and tokens are made beside "
                + "a running server: diario space create, diario token create.",
            "Programs without Diario record with POST /v1/spaces/NAME/events: each event once, "
                + "however often it is sent, if it carries an `origin` of its own. "
                + "/v1/openapi.yaml describes all paths, and schema/format/http.md has examples in "
                + "Python, JavaScript and curl.",
            "SIGTERM and SIGINT end it: what is under way is answered first, but for queries. A "
                + "second one ends it at once, and nothing that was acknowledged is lost.",
            "Tokens are as good as passwords. Between machines use TLS, with --tls-cert and "
                + "--tls-key or by a proxy in front, and let the server listen on 127.0.0.1 behind "
                + "it.",
        ],
        options: [
            data,
            .value(
                "listen",
                "HOST:PORT",
                "where it listens: 127.0.0.1:8080 if this is left out; port 0 for any free one"
            ),
            .flag("adopt", "let spaces use newer versions of packs that they use; adds none"),
            .values(
                "schema",
                "DIR",
                "with --adopt: newer versions from there, not from the program; repeatable",
                .folder
            ),
            .value(
                "tls-cert",
                "FILE",
                "the certificate in PEM, with those that vouch for it",
                .file
            ),
            .value("tls-key", "FILE", "its key in PEM, without a password", .file),
            .choice(
                "log",
                ["quiet", "requests"],
                "tell less on stderr, or a line of JSON for each request"
            ),
            .json, .help,
        ],
        examples: [
            Example(text: "diario serve --data ./served", meaning: "for this machine only"),
            Example(
                text: "diario serve --data ./served --listen 0.0.0.0:8443 --tls-cert cert.pem "
                    + "--tls-key key.pem --log requests",
                meaning: "for others, with TLS"
            ),
        ]
    )

    static let tokenCreate = Command(
        name: "token create",
        operands: "",
        operandCount: 0...0,
        summary: "make a token for a space that is served",
        details: [
            "Makes a token for the space NAME and prints it, this once: only its hash is kept. "
                + "With --output it is in FILE instead, which nobody else can read. Works beside a "
                + "running server, which knows the token at the next request. A space is made by: "
                + "diario space create.",
            "Rights, with commas between: read, append, relay (events of other actors and for "
                + "replicas of others), admin (all of these, and publishing). With --actor, events "
                + "that are pushed with it may name that actor only, unless it may relay.",
            "A replica belongs to the actor of the token with which it was first pushed, or to the "
                + "token if it names none. --replaces gives what belongs to an old token to the "
                + "new one, and revokes the old one.",
        ],
        options: [
            data,
            .value("space", "NAME", "the space that it is for"),
            .value("rights", "LIST", "what it gives: read,append if this is left out"),
            .value("actor", "ID", "who bears it: an opaque id, never a name"),
            .value("label", "TEXT", "what people call it"),
            .value("expires", "TIME", "when it ends: RFC 3339, a date, or milliseconds"),
            .value("replaces", "TOKEN", "the id of the token whose place it takes"),
            .value("output", "FILE", "write the token to FILE, which must not be there yet", .file),
            .value("requests-per-second", "N", "how many requests may come with it"),
            .value("events-per-second", "N", "how many events may be pushed with it"),
            .json, .help,
        ],
        examples: [
            Example(
                text: "diario token create --data ./served --space home --output home.token",
                meaning: "for a device"
            ),
            Example(
                text: "diario token create --space home --rights admin --label laptop --json",
                meaning: "for whoever looks after the space"
            ),
        ]
    )

    static let tokenList = Command(
        name: "token list",
        operands: "",
        operandCount: 0...0,
        summary: "list the tokens of a server",
        details: [
            "Lists tokens by their ids, revoked and expired ones among them; the tokens themselves "
                + "are kept nowhere. When one was used is known to the hour."
        ],
        options: [data, .value("space", "NAME", "only those of one space"), .json, .help],
        examples: [Example(text: "diario token list --data ./served", meaning: "all of them")]
    )

    static let tokenRevoke = Command(
        name: "token revoke",
        operands: "TOKEN",
        operandCount: 1...1,
        summary: "let a token be valid no more",
        details: [
            "TOKEN is its id, as `token list` shows it. A running server refuses it from the next "
                + "request on. What was pushed with it stays."
        ],
        options: [data, .json, .help],
        examples: [
            Example(
                text: "diario token revoke 7zk3m9q2c1f4a --data ./served",
                meaning: "one that was lost"
            )
        ]
    )

    static let spaceList = Command(
        name: "space list",
        operands: "",
        operandCount: 0...0,
        summary: "list the spaces of a server",
        details: [
            "Lists the spaces that have names, with how many events they hold and what they may "
                + "hold; then those of the folder that have no name yet. Commands that work on one "
                + "space are told which by --space in front: diario --space home stats."
        ],
        options: [data, .json, .help],
        examples: [Example(text: "diario space list --data ./served", meaning: "all of them")]
    )

    static let spaceCreate = Command(
        name: "space create",
        operands: "NAME",
        operandCount: 1...1,
        summary: "make a space that is served",
        details: [
            "Makes the space NAME in the folder of the server's data, which is made if it is not "
                + "there, with the packs of --pack and --schema. Without them its only types are "
                + "the engine's own; `diario schema adopt` adds a pack later. Works beside a "
                + "running server. Who may use the space is said by: diario token create.",
            "NAME has 1 to 64 lower-case letters, digits, '-', '_' or '.', the first a letter or a "
                + "digit.",
        ],
        options: [data, .pack, .schemaFolder, .json, .help],
        examples: [
            Example(
                text: "diario space create home --data ./served --pack meals",
                meaning: "with a pack that comes with the program"
            ),
            Example(
                text: "diario space create garden --data ./served --schema ./plants",
                meaning: "with a pack of your own"
            ),
        ]
    )

    static let spaceRename = Command(
        name: "space rename",
        operands: "NAME NEW",
        operandCount: 2...2,
        summary: "give a space that is served another name",
        details: [
            "The space NAME is called NEW from the next request on. Its tokens stay valid; the "
                + "address is another one, so each replica has to be told: diario remote set. "
                + "Works beside a running server."
        ],
        options: [data, .json, .help],
        examples: [
            Example(text: "diario space rename hme home --data ./served", meaning: "a typing error")
        ]
    )

    static let spaceRemove = Command(
        name: "space remove",
        operands: "NAME",
        operandCount: 1...1,
        summary: "remove a space that is served, for good",
        details: [
            "Says what the space NAME holds, changes nothing and ends with 1; with --yes it "
                + "removes the space with all its events and tokens, which only a backup or a "
                + "replica has then. In the place of NAME may stand the id of a space that has no "
                + "name. A running server does not serve it from the next request on."
        ],
        options: [data, .flag("yes", "remove it"), .json, .help],
        examples: [
            Example(
                text: "diario space remove hme --data ./served",
                meaning: "what would be lost?"
            ),
            Example(text: "diario space remove hme --data ./served --yes", meaning: "remove it"),
        ]
    )

    static let spaceName = Command(
        name: "space name",
        operands: "SPACE NAME",
        operandCount: 2...2,
        summary: "give a name to a space, to serve it",
        details: [
            "SPACE is an id, as `space list` shows it: of a space that was made by `init` in the "
                + "folder that is to be served. NAME has 1 to 64 lower-case letters, digits, '-', "
                + "'_' or '.', the first a letter or a digit."
        ],
        options: [data, .json, .help],
        examples: [
            Example(
                text: "diario space name 7zk3m9q2c1f4a home --data ./notebook",
                meaning: "what was a notebook can be served as home"
            )
        ]
    )

    static let spaceQuota = Command(
        name: "space quota",
        operands: "NAME",
        operandCount: 1...1,
        summary: "show or set what a space may hold",
        details: [
            "Shows what the space NAME may hold, after setting what is given. Pushes that would "
                + "take it beyond are refused, and the replicas try again later; other spaces do "
                + "not notice. Works beside a running server."
        ],
        options: [
            data,
            .value("events", "N", "at most so many events"),
            .value("bytes", "N", "at most so many bytes on disk"),
            .flag("default", "what is not given is as if it had never been set"),
            .json, .help,
        ],
        examples: [
            Example(text: "diario space quota home --events 1000000", meaning: "a bound of its own")
        ]
    )

    static let replicas = Command(
        name: "replicas",
        operands: "",
        operandCount: 0...0,
        summary: "list the replicas that sync with a server",
        details: [
            "Lists each replica with whom it belongs to, since when, and when the server last "
                + "heard of it; those first that were heard of last. A server that runs writes "
                + "this down every ten seconds."
        ],
        options: [data, .value("space", "NAME", "only those of one space"), .json, .help],
        examples: [
            Example(
                text: "diario replicas --data ./served --space home",
                meaning: "who has not synced for long?"
            )
        ]
    )

    static let authorityStatus = Command(
        name: "authority status",
        operands: "",
        operandCount: 0...0,
        summary: "show which spaces get their positions here",
        details: [
            "Lists the spaces whose events get their positions in this folder, with their epoch, "
                + "and whether they wait since they were restored from a backup. Those of a "
                + "folder that was just restored wait from the start."
        ],
        options: [data, .json, .help],
        examples: [
            Example(text: "diario authority status --data ./served", meaning: "all of them")
        ]
    )

    static let authorityResume = Command(
        name: "authority resume",
        operands: "",
        operandCount: 0...0,
        summary: "let a restored server give positions again",
        details: [
            "A folder that was restored from a backup, or copied, may lack events that others know "
                + "already, so it gives no positions. A replica that has them gives them back, at "
                + "their positions: diario remote restore. Do that first, at the one that has "
                + "most; `diario sync` does so too, where the token has the right admin.",
            "This lets it go on without them, and gives up their positions: replicas go back to "
                + "what they have in common with it, send their own events behind that again, and "
                + "keep those of others until somebody there gives `diario remote restore`. What "
                + "only replicas have that never come back is lost then.",
            "Works beside a running server, which goes on at the next request. Do not run it for a "
                + "copy that is served beside the original: both would give the same positions to "
                + "different events.",
        ],
        options: [data, .value("space", "NAME", "only this one"), .json, .help],
        examples: [
            Example(
                text: "diario authority resume --data ./served --space home",
                meaning: "after a backup was restored"
            )
        ]
    )

    static let authorityHold = Command(
        name: "authority hold",
        operands: "",
        operandCount: 0...0,
        summary: "let a server give no positions until it is resumed",
        details: [
            "Nothing is recorded in the spaces from then on, and replicas wait with what is "
                + "pending. Reading goes on. A server that turns out to lack events, which it does "
                + "not notice by itself if its disk was put back, can get them from a replica "
                + "then: diario remote restore. Else diario authority resume lets it go on.",
            "A space that waits also gets them from a replica that syncs with the right admin. "
                + "--no-restore rules that out, for a server that shall go back to an older "
                + "backup: give it before the server starts, and then diario authority resume.",
            "Works beside a running server, from the next request on.",
        ],
        options: [
            data, .value("space", "NAME", "only this one"),
            .flag("no-restore", "take nothing back from replicas either"), .json, .help,
        ],
        examples: [
            Example(
                text: "diario authority hold --data ./served --space home",
                meaning: "before a replica gives back what it lost"
            )
        ]
    )
}
