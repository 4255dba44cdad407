import DiarioCore
import DiarioServer

extension Command {
    static let authorityStatus = Command(
        "authority status",
        "show which spaces get their positions here",
        on: .folder,
        details: """
            Lists the spaces whose events get their positions in this folder, with their epoch, and
            whether they wait because the folder was restored from a backup. Those of a folder that
            was just restored wait from the start.
            """,
        options: [.data, .json],
        examples: ["diario authority status --data ./served": "all of them"],
        run: { try AuthorityCommand.status($0) }
    )

    static let authorityResume = Command(
        "authority resume",
        "let a restored server give positions again",
        on: .folder,
        details: """
            A folder that was restored from a backup, or copied, may lack events that others know
            already, so it gives no positions. A replica that has them gives them back, at their
            positions: diario remote restore. Do that first, at the one that has most; `diario sync`
            does so too, where the token has the right admin.

            This lets it go on without them, and gives up their positions: replicas go back to what
            they have in common with it, send their own later events again, and keep those of
            others until `diario remote restore` is given there. Events that only replicas have that
            never come back are lost then.

            Works beside a running server, which goes on at the next request. Do not run it for a
            copy that is served beside the original: both would give the same positions to
            different events.
            """,
        options: [.data, .value("space NAME", "only this one"), .json],
        examples: [
            "diario authority resume --data ./served --space home": "after a backup was restored"
        ],
        run: { try AuthorityCommand.resume($0) }
    )

    static let authorityHold = Command(
        "authority hold",
        "let a server give no positions until it is resumed",
        on: .folder,
        details: """
            Nothing is recorded in the spaces from then on, and replicas wait with what is pending.
            Reading goes on. A server that turns out to lack events, which it does not notice by
            itself if its disk was put back, can get them from a replica then: diario remote
            restore. Else diario authority resume lets it go on.

            A space that waits also gets them from a replica that syncs with the right admin.
            --no-restore rules that out, for a server that shall go back to an older backup: give it
            before the server starts, and then diario authority resume.

            Works beside a running server, from the next request on.
            """,
        options: [
            .data, .value("space NAME", "only this one"),
            .flag("no-restore", "take nothing back from replicas either"), .json,
        ],
        examples: [
            "diario authority hold --data ./served --space home":
                "before a replica gives back what it lost"
        ],
        run: { try AuthorityCommand.hold($0) }
    )
}

/// The commands `diario authority status`, `resume` and `hold`.
enum AuthorityCommand {
    static func status(_ call: Invocation) throws {
        let found = try call.withData { try $0.authorities() }
        try tell(found, "no positions are given here", call) { space in
            let state =
                space.isWaiting
                ? "restored from a backup, or held: waits for diario remote restore at a replica, "
                    + "or diario authority resume"
                : "gives positions"
            return "\(space.shown)  \(Show.count(space.head, "event")), epoch \(space.epoch)  "
                + state
        }
    }

    static func resume(_ call: Invocation) throws {
        let changed = try change(call, to: .resumed)
        try tell(changed, "nothing waits here", call) {
            "\($0.shown) gives positions again, from \($0.head + 1) on"
        }
        guard !changed.isEmpty, !call.isJSON else { return }
        call.remark(
            "events that replicas have and that are not here lost their positions. Their authors "
                + "send them again when they sync; replicas keep those of others until this is "
                + "given there: diario remote restore"
        )
    }

    static func hold(_ call: Invocation) throws {
        let isFinal = call.has("no-restore")
        let changed = try change(call, to: isFinal ? .heldWithoutRestore : .held)
        try tell(changed, "nothing gives positions here", call) {
            "\($0.shown) gives no positions after \($0.head)"
                + (isFinal ? " and takes nothing back from replicas" : "")
                + ", until diario authority resume"
        }
    }

    private static func change(
        _ call: Invocation,
        to state: DataFolder.AuthorityState
    ) throws -> [DataFolder.Authority] {
        let wanted = try call.wantedSpace()
        return try call.withData { try $0.change(to: state, wanted) }
    }

    private static func tell(
        _ entries: [DataFolder.Authority],
        _ none: String,
        _ call: Invocation,
        _ text: (DataFolder.Authority) -> String
    ) throws {
        try call.answer(entries, none: none) { space in
            [
                "space": space.name?.text, "id": space.id.text, "epoch": space.epoch,
                "events": space.head, "waiting": space.isWaiting,
            ]
        } print: { entries in
            for entry in entries { try call.output.line(text(entry)) }
        }
    }
}
