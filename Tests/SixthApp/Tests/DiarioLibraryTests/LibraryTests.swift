import DiarioLibrary
import DiarioSchema
import Testing

@Suite struct LibraryTests {
    @Test func itHasTwoCommands() {
        #expect(
            Library.domain.entries.map(\.declaration.name) == [
                "library.book.add", "library.book.lend",
            ]
        )
    }

    @Test func aRefusalIsFilled() {
        let broken = Library.Rule.lent("bookId", "atlas", person: "Tom")
        #expect(broken.message[.italian] == "Tom has it.")
        #expect(broken.remedy[.english] == "Lend atlas when it is back.")
        #expect(Library.Condition.new.texts[.english] == "as new")
    }
}
