-- query outliers(deviations REAL = 3.0,
--     most PageSize = 100): counted reports far from their species
-- Of species with ten reports or more; the farthest come first.
-- answers (reportId TEXT, observedOn DATE, speciesId TEXT, lengthMm REAL, meanMm REAL,
--   deviationMm REAL, deviations REAL?, method ReportMethod, referenceId TEXT?,
--   review ReviewOutcome?)
WITH g AS (
    SELECT speciesId, avg(lengthUm) AS mean, sqrt(
        max(0, sum(lengthUm * lengthUm) * 1.0 / count(*) - avg(lengthUm) * avg(lengthUm))
    ) AS deviation
    FROM counted GROUP BY speciesId HAVING count(*) >= 10
)
SELECT r.reportId, r.observedOn, r.speciesId, r.lengthUm / 1000.0 AS lengthMm,
    g.mean / 1000 AS meanMm, g.deviation / 1000 AS deviationMm,
    (r.lengthUm - g.mean) / g.deviation AS deviations, r.method, r.referenceId, r.review
FROM g JOIN counted AS r USING (speciesId)
WHERE abs(r.lengthUm - g.mean) > :deviations * g.deviation
ORDER BY abs((r.lengthUm - g.mean) / g.deviation) DESC, r.reportId LIMIT :most;
