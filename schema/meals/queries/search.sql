-- query search(user TEXT, words TEXT, most INTEGER = 50): foods eaten, by words
-- All of the words, or words that begin so; signs mean nothing else.
SELECT e.name, count(*) AS times, max(e.day) AS lastOn, sum(e.amountMg) / 1000.0 AS grams,
    sum(e.energyMkcal) / 1000.0 AS kcal
FROM entry_text AS t JOIN entry AS e ON e.rowid = t.rowid
WHERE entry_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
    AND e.actor = :user AND e.isRemoved = 0
GROUP BY e.name
ORDER BY times DESC, lastOn DESC, e.name LIMIT :most;
