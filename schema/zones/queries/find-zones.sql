-- query find-zones(words TEXT): zones by words of their titles
-- All of the words, or words that begin so; signs mean nothing else.
SELECT z.zoneId, z.title, z.isOffered
FROM zone_text AS t JOIN zone AS z ON z.rowid = t.rowid
WHERE zone_text MATCH '"' || replace(replace(:words, '"', ' '), ' ', '" * "') || '" *'
ORDER BY t.rank, z.title, z.zoneId;
