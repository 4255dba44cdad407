public import DiarioSchema

/// The rules of the pack `library`.
public enum Library {
    /// Its commands and views.
    public static let domain = Domain(
        "library",
        [
            .command { (input: BookAdd, space) throws(BrokenRule) in try add(input, in: space) },
            .command { (input: BookLend, space) throws(BrokenRule) in try lend(input, in: space) },
        ]
    )

    static func add(
        _ input: BookAdd,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<BookAdd.Result> {
        Outcome(BookAdd.Result()).recording(
            Recorded.BookAdded(
                bookId: input.bookId,
                title: input.title,
                condition: input.condition
            )
        )
    }

    static func lend(
        _ input: BookLend,
        in space: any CommandSpace
    ) throws(BrokenRule) -> Outcome<BookLend.Result> {
        guard let book = space.book(bookId: input.bookId).first else {
            throw Rule.unknownBook("bookId", input.bookId)
        }
        if let person = book.lentTo { throw Rule.lent("bookId", input.bookId, person: person) }
        let days = input.days ?? 14
        return Outcome(BookLend.Result(days: days)).recording(
            Recorded.BookLent(bookId: input.bookId, to: input.to, days: days)
        )
    }
}
