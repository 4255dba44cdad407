-- query spread(user TEXT = NULL, most PageSize = 100): fish that a user measured more than once
-- The deviation is that of a sample; the widest come first.
-- answers (actor TEXT, assessmentId TEXT, speciesId TEXT, attempts INTEGER, meanMm REAL,
--   deviationMm REAL, shortestMm REAL, longestMm REAL, rangeShare REAL)
WITH g AS (
    SELECT assessmentId, count(*) AS attempts, min(lengthUm) AS least, max(lengthUm) AS most,
        sum(lengthUm) * 1.0 AS sum, sum(lengthUm * lengthUm) * 1.0 AS sum2
    FROM measurement GROUP BY assessmentId HAVING count(*) > 1
)
SELECT a.actor, g.assessmentId, a.speciesId, g.attempts, g.sum / g.attempts / 1000 AS meanMm,
    sqrt(max(0, (g.sum2 - g.sum * g.sum / g.attempts) / (g.attempts - 1))) / 1000 AS deviationMm,
    g.least / 1000.0 AS shortestMm, g.most / 1000.0 AS longestMm,
    (g.most - g.least) * g.attempts / g.sum AS rangeShare
FROM g JOIN assessment AS a USING (assessmentId)
WHERE :user IS NULL OR a.actor = :user
ORDER BY rangeShare DESC, g.assessmentId LIMIT :most;
