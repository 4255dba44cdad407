import Foundation
import PackagePlugin

/// Turns the packs of `schema/` into Swift: for DiarioEngine their files, so that the program
/// carries them with it; for a domain such as DiarioFish the types of what its commands and views
/// are given, answer and record.
///
/// The packs are not the inputs of the command: SwiftPM keeps the list that a plugin gave it, so
/// a later build would not see a new file and would fail for want of a removed one. Its one input
/// is a stamp that the command itself renews. So it runs in every build (10 ms), reads the folder
/// as it is, and leaves the source alone when it would be the same.
@main struct EmbedPacks: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        let schema = context.package.directoryURL.appending(path: "schema")
        let isEngine = target.name == "DiarioEngine"
        let pack = target.name.dropFirst("Diario".count).lowercased()
        let packs = isEngine ? schema : schema.appending(path: pack)
        let source = folder.appending(path: isEngine ? "BuiltInPacks.swift" : "Calls.swift")
        let stamp = folder.appending(path: "stamp")
        try Data().write(to: stamp)
        return [
            .buildCommand(
                displayName: "Making Swift of the packs for \(target.name)",
                executable: try context.tool(named: "DiarioPackTool").url,
                arguments: [isEngine ? "embed" : "domain", packs.path, source.path, stamp.path],
                inputFiles: [stamp],
                outputFiles: [source]
            )
        ]
    }
}
