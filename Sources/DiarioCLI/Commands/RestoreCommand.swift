import Diario
import DiarioLog
import DiarioSchema

/// The command `diario remote restore`.
enum RestoreCommand {
    static func run(_ call: Invocation) async throws(Failure) {
        try await call.withDiary { (diary, space) async throws(Failure) in
            guard try !space.hasAuthority, try space.publishing == nil else {
                throw .failed(
                    "the space has its authority here, or is being published, so no server can "
                        + "have lost it. To give it to one: diario publish"
                )
            }
            let access = try ServerAccess(call, of: space)
            let transport = try await access.transport(for: diary)
            let isDone = try await call.withProgress(of: diary, "restoring") {
                try await diary.restoreServer(with: transport)
            }
            let head = space.store.standing(of: space.id).head
            guard call.arguments.has("json") else {
                let count = Show.count(head, "event")
                // An address that was typed is not remembered.
                let address = call.arguments.operands.first.map { " \(CellText.oneLine($0))" } ?? ""
                return try call.output.line(
                    isDone
                        ? "restored \(count) at \(access.remote.address). To go on: diario sync"
                            + address
                        : "\(access.remote.address) lacks nothing of the \(count) that are here"
                )
            }
            try call.output.json { json in
                json.add("restored", isDone)
                json.add("head", head)
                json.add("address", access.remote.address)
                PublishCommand.fill(&json, transport)
            }
        }
    }
}
