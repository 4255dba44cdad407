import DiarioLibrary

extension App {
    static let library = App(domain: Library.domain)
}
