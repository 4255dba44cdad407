import Foundation
import PackagePlugin

/// Makes a Swift type for each event type of the packs in the folder `Packs` of a target.
///
/// Runs in every build, as EmbedPacks does and for its reasons.
@main struct DiarioEvents: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let packs = target.directoryURL.appending(path: "Packs")
        let folder = context.pluginWorkDirectoryURL
        let source = folder.appending(path: "Packs.swift")
        let stamp = folder.appending(path: "stamp")
        try Data().write(to: stamp)
        return [
            .buildCommand(
                displayName: "Making Swift types of the packs of \(target.name)",
                executable: try context.tool(named: "DiarioPackTool").url,
                arguments: ["events", packs.path, source.path, stamp.path],
                inputFiles: [stamp],
                outputFiles: [source]
            )
        ]
    }
}
