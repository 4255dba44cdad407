import Diario
import DiarioSchema

// The language of what packs say: the one asked for, else the user's, else that of LANG.

extension Invocation {
    /// The language that is asked for.
    var language: Language? { value("language").flatMap { Language(tag: $0) } }

    /// The language in which a pack is to answer the user of this replica.
    func language(of pack: String, _ models: ReadModels) throws -> Language {
        if let language { return language }
        let actor = try models.space.defaultActor()
        return try models.language(of: actor, in: pack, of: App.domains) ?? .usual
    }
}

extension Language {
    /// The language of the surroundings.
    static var usual: Language {
        EnvironmentVariable.language.value.flatMap { Language(tag: $0) } ?? .english
    }
}
