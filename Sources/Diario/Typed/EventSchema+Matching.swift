import DiarioSchema

extension EventSchema {
    /// The type of this name and version in a space, if its schema is the one that the Swift type
    /// was made from.
    func type(in catalog: TypeCatalog) throws(DiarioError) -> EventType {
        guard let type = catalog.type(name, version: version) else {
            throw DiarioError(
                .notFound,
                "No adopted pack has the event type \(name), version \(version). Open the space "
                    + "with the pack that this program was made with."
            )
        }
        try check(type)
        return type
    }

    /// Makes sure that the Swift type was made from the schema of `type`.
    func check(_ type: EventType) throws(DiarioError) {
        guard isSchema(of: type) else {
            throw DiarioError(
                .incompatible,
                "This space uses another schema of \(name), version \(version), than the one that "
                    + "this program was made with. Give the changed schema a version of its own."
            )
        }
    }

    private func isSchema(of type: EventType) -> Bool {
        let known = type.canonicalSchema
        // Safe: both buffers are read inside the closures and not kept.
        return text.withUTF8Buffer { text in
            guard text.count == known.count else { return false }
            return unsafe known.withUnsafeBytes { known in
                unsafe known.elementsEqual(UnsafeRawBufferPointer(text))
            }
        }
    }
}
