-- query lent(atLeast DayCount = 1): who has which books, for so many days
-- answers (person TEXT, titles TEXT[], longest DayCount)
SELECT l.lentTo AS person, json_group_array(b.title) AS titles, max(l.days) AS longest
FROM loan AS l JOIN book AS b USING (bookId)
WHERE l.days >= :atLeast
GROUP BY l.lentTo
ORDER BY l.lentTo;
