-- readmodel books version 1: each book, and who has it
CREATE TABLE book (
    bookId TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    condition TEXT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE loan (
    bookId TEXT NOT NULL PRIMARY KEY,
    lentTo TEXT NOT NULL,
    days INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- on library.book.added
INSERT INTO book (bookId, title, condition, stamp)
VALUES (:bookId, :title, :condition, :_stamp)
ON CONFLICT (bookId) DO UPDATE
SET title = excluded.title, condition = excluded.condition, stamp = excluded.stamp
WHERE excluded.stamp < stamp;

-- on library.book.lent
INSERT INTO loan VALUES (:bookId, :to, :days, :_stamp)
ON CONFLICT (bookId) DO UPDATE
SET lentTo = excluded.lentTo, days = excluded.days, stamp = excluded.stamp
WHERE excluded.stamp < stamp;
