-- query books(condition Condition?): all books, or those of one condition
-- answers (bookId TEXT, title TEXT, condition Condition)
SELECT bookId, title, condition FROM book
WHERE :condition IS NULL OR condition = :condition
ORDER BY title, bookId;
