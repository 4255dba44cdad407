import PackagePlugin

/// Turns the packs of `schema/` into Swift, so that the program carries them with it.
@main struct EmbedPacks: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] { [] }
}
