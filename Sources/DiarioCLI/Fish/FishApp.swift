import DiarioFish
import DiarioHTTP

extension App {
    static let fish = App(
        domain: Fish.domain,
        commands: Command.ofFish,
        connector: ConnectorSwitch(
            options: [
                .value("legacy-fish SPACE", "answer the old app of the pack fish from this space"),
                .flag("legacy-open", "with --legacy-fish: also on other machines, without a token"),
                .choice(
                    "legacy-unit",
                    ["mm", "cm"],
                    "with --legacy-fish: its unit of length (mm)"
                ),
            ],
            details: """
                With --legacy-fish it also answers the old app of the pack fish at
                /fish/handleFishes.php and /fish/handleReport.php, as schema/fish/README.md says.
                That app has no token, so only this machine may ask, for example a proxy on it,
                unless --legacy-open lets everybody record reports who reaches the server.
                """,
            example: (
                "diario serve --data ./served --legacy-fish orbetello --legacy-unit cm",
                "also for the old app, behind a proxy"
            ),
            make: { try oldApp($0) },
            remark: { call, url in
                guard call.has("legacy-open") else { return nil }
                return "whoever reaches \(url) may record reports in "
                    + "\(call.value("legacy-fish") ?? ""), since the old app has no token"
            }
        )
    )

    /// The old app's side; nil if it is not wanted.
    private static func oldApp(_ call: Invocation) throws -> OldApp? {
        let unit = try call.arguments.choice("legacy-unit", ["mm", "cm"].map { ($0, $0) })
        guard let name = call.value("legacy-fish") else {
            for option in ["legacy-open", "legacy-unit"] where call.has(option) {
                throw Failure.usage("--\(option) goes with --legacy-fish", in: call.command)
            }
            return nil
        }
        return OldApp(
            space: try call.spaceName(name),
            unit: unit ?? "mm",
            isOpen: call.has("legacy-open")
        )
    }
}
