import DiarioSchema
import Diario
import DiarioLog
import DiarioStorage

/// The command `diario clone`.
enum CloneCommand {
    static func run(_ call: Invocation) async throws(Failure) {
        let folder = call.arguments.operands[1]
        let access = try ServerAccess(
            call,
            address: call.arguments.operands[0],
            remembered: nil
        )
        let transport = try access.transport()
        let marker = folder + "/" + SpaceLocation.marker
        guard !SystemCall.isDirectory(marker) else {
            throw .failed(
                "there is a space in \(CellText.oneLine(folder)) already. Choose another folder"
            )
        }
        let bar = call.progressBar("copying", unit: "bytes")
        try await bar.follow { progress in
            try await SpaceCopy.run(at: folder, from: transport, remembering: access.remote) {
                switch $0 {
                case .bytes(let done, let total): progress(done, total)
                case .events: break
                }
            }
        }
        let space = try reporting { () throws(DiarioError) in
            try Space.open(at: folder, access: .readOnly)
        }
        let status = try reportingLog { () throws(LogError) in
            try space.store.status(of: space.id)
        }
        try reporting { () throws(DiarioError) in try space.close() }
        guard call.arguments.has("json") else {
            return try call.output.line(
                "copied \(Show.count(status.head, "event")) to \(CellText.oneLine(folder)), as "
                    + "replica \(status.replica.text)"
            )
        }
        let traffic = transport.traffic
        try call.output.json { json in
            json.add("space", status.manifest.space.text)
            json.add("directory", folder)
            json.add("replica", status.replica.text)
            json.add("head", status.head)
            json.add("segments", status.segmentCount)
            json.add("requests", traffic?.requests ?? 0)
            json.add("bytesReceived", traffic?.bytesReceived ?? 0)
        }
    }
}
