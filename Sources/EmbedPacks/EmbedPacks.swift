import Foundation
import PackagePlugin

/// Turns the packs of `schema/` into Swift, so that the program carries them with it.
///
/// The packs are not the inputs of the command: SwiftPM keeps the list that a plugin gave it, so
/// a later build would not see a new file and would fail for want of a removed one. Its one input
/// is a stamp that the command itself renews. So it runs in every build (10 ms), reads the folder
/// as it is, and leaves `BuiltInPacks.swift` alone when that would be the same.
@main struct EmbedPacks: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.pluginWorkDirectoryURL
        let schema = context.package.directoryURL.appending(path: "schema")
        let source = folder.appending(path: "BuiltInPacks.swift")
        let stamp = folder.appending(path: "stamp")
        try Data().write(to: stamp)
        return [
            .buildCommand(
                displayName: "Embedding the packs",
                executable: try context.tool(named: "DiarioPackTool").url,
                arguments: ["embed", schema.path, source.path, stamp.path],
                inputFiles: [stamp],
                outputFiles: [source]
            )
        ]
    }
}
