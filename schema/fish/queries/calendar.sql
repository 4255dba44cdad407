-- query calendar(speciesId TEXT of species = NULL, day DATE = NULL,
--     zone TEXT of zones = '*'): months of each species
-- By the catalogue of the day, or of today; opensIn counts the months until it may be bought again.
-- answers (speciesId TEXT, nameIt TEXT, nameEn TEXT?, month Month, dateResult DateResult,
--   opensIn INTEGER?)
WITH RECURSIVE q AS (SELECT coalesce(:day, date('now')) AS day),
month AS (SELECT 1 AS month UNION ALL SELECT month + 1 FROM month WHERE month < 12),
r AS (
    SELECT s.*, (
        SELECT e.seasonMask FROM season AS e
        WHERE e.speciesId = s.speciesId AND e.zoneId IN (:zone, '*') AND e.validFrom <= q.day
        ORDER BY e.zoneId = '*', e.validFrom DESC LIMIT 1
    ) AS seasonMask
    FROM q JOIN species AS s
    WHERE iif(
        :speciesId IS NULL,
        NOT EXISTS (
            SELECT 1 FROM retirement AS r
            WHERE r.kind = 'species' AND r.id = s.speciesId AND r.stamp > s.stamp
        ),
        s.speciesId = :speciesId
    )
)
SELECT r.speciesId, r.nameIt, r.nameEn, m.month,
    iif((r.seasonMask >> (m.month - 1)) & 1, 'reproducing', 'in_season') AS dateResult,
    (
        SELECT min(n.month - 1) FROM month AS n
        WHERE (r.seasonMask >> ((m.month + n.month - 2) % 12)) & 1 = 0
    ) AS opensIn
FROM r JOIN month AS m
WHERE r.seasonMask IS NOT NULL
ORDER BY r.ordinal IS NULL, r.ordinal, r.nameIt, r.speciesId, m.month;
