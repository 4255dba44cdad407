-- query book(bookId TEXT): one book, and who has it
-- answers (bookId TEXT, title TEXT, condition Condition, lentTo TEXT?, isLent BOOLEAN)
-- example bookId='atlas'
SELECT b.bookId, b.title, b.condition, l.lentTo, l.bookId IS NOT NULL AS isLent
FROM book AS b LEFT JOIN loan AS l USING (bookId)
WHERE b.bookId = :bookId;
