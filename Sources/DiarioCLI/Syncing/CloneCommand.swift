import Diario
import DiarioHost

extension Command {
    static let clone = Command(
        "clone",
        "copy a space from a server into a folder",
        on: .nothing,
        takes: [.one("URL"), .one("DIR", .folder)],
        details: """
            Makes a replica of the space at URL in the folder DIR, which is made if it is missing
            and must not hold a space yet. Files come as they are on the server; their hashes are
            compared, and the root of all events is computed. The space is there whole or not at
            all.

            A copy that was interrupted keeps what it has fetched: the same command goes on with it.
            The space remembers its server, so that `diario sync` needs no more.

            With --with-blobs it fetches the pictures and other bytes that events refer to, which
            the first `diario sync` does otherwise.

            With --lane-of the copy takes over the pending events of the damaged folder DAMAGED,
            under their old origins, and its inbox: the next sync sends them. Nothing is changed in
            DAMAGED.
            """,
        options: [
            .flag("with-blobs", "also the bytes of pictures and other blobs"),
            .value("lane-of DAMAGED", "a damaged folder with pending events", .folder),
        ]
            + CommandOption.access + [.json, .noProgress],
        examples: [
            "diario clone https://example.org/v1/spaces/home notebook --token-file key":
                "a replica on this device"
        ],
        run: { try await CloneCommand.run($0) }
    )
}

/// The command `diario clone`.
enum CloneCommand {
    static func run(_ call: Invocation) async throws {
        let (address, folder) = (call.operands[0], call.operands[1])
        let access = try ServerAccess(call, address: address, remembered: nil)
        let transport = try access.transport()
        guard !SystemCall.isDirectory(folder + "/" + SpaceLocation.marker) else {
            throw Failure.failed(
                "there is a space in \(CellText.oneLine(folder)) already. Choose another folder"
            )
        }
        let damaged = call.arguments.value("lane-of")
        if let damaged { try call.location.checkOwner(of: damaged) }
        let lane = try await call.progressBar("copying", unit: "bytes").follow { progress in
            try await SpaceCopy.run(
                at: folder,
                from: transport,
                remembering: access.remote,
                laneOf: damaged
            ) {
                if case .bytes(let done, let total) = $0 { progress(done, total) }
            }
        }
        for fault in lane?.faults ?? [] {
            call.remark("damaged: \(CellText.oneLine(fault.message))")
        }
        let blobs = try await blobs(call, folder, transport)
        let space = try Space.openToRead(at: folder)
        let status = try space.state()
        try space.close()
        try call.answer(
            "copied \(Show.count(status.head, "event")) to \(CellText.oneLine(folder)), as replica "
                + status.replica.text
                + (lane.map {
                    ", with \(Show.count($0.pending, "pending event")), \($0.recordedAgain) of "
                        + "them under new origins"
                } ?? "")
                + (SyncCommand.text(blobs).map { ", \($0)" } ?? ""),
            [
                "space": status.space.text, "directory": folder,
                "replica": status.replica.text, "head": status.head,
                "segments": status.segmentCount, "pending": ifKnown(lane?.pending),
                "recordedAgain": ifKnown(lane?.recordedAgain), "inbox": ifKnown(lane?.inbox),
            ] + SyncCommand.fields(blobs) + Fields(transport)
        )
        let problems = SyncCommand.problems(blobs)
        guard problems.isEmpty else {
            throw Failure.failed("\(problems.joined(separator: "; ")): diario sync")
        }
    }

    /// Fetches the blobs, if that is wanted.
    private static func blobs(
        _ call: Invocation,
        _ folder: String,
        _ transport: HTTPTransport
    ) async throws -> BlobReport {
        guard call.has("with-blobs") else { return BlobReport() }
        let diary = try Diary(path: folder)
        diary.blobs.fetchAll()
        let report: BlobReport
        do { report = try await SyncCommand.blobs(diary, transport, call) } catch {
            try? await diary.close()
            throw error
        }
        try await diary.close()
        return report
    }
}
