-- query reports-by-town(first DATE, last DATE): for each hamlet and species, how many and how long
SELECT coalesce(m.name, p.name, d.placeId) AS municipality,
    iif(m.placeId IS NULL, NULL, p.name) AS hamlet, coalesce(s.nameIt, d.speciesId) AS species,
    sum(d.reports) AS reports, sum(d.undersize) AS undersize, sum(d.reproducing) AS reproducing,
    sum(d.bothOk) AS bothOk, sum(d.sumUm) / 1000.0 / sum(d.reports) AS meanMm,
    sqrt(
        max(0, sum(d.sumUm2) * 1.0 / sum(d.reports)
            - (sum(d.sumUm) * 1.0 / sum(d.reports)) * (sum(d.sumUm) * 1.0 / sum(d.reports)))
    ) / 1000 AS deviationMm
FROM report_day AS d
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS m ON m.placeId = p.parentId
LEFT JOIN species AS s USING (speciesId)
WHERE d.observedOn BETWEEN :first AND :last
GROUP BY d.placeId, d.speciesId
HAVING sum(d.reports) > 0
ORDER BY municipality, hamlet, species, d.placeId, d.speciesId;
