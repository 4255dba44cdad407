-- query class-of(nmPerYear INTEGER = NULL): the class and colour of a velocity; all without one
SELECT rank, classId, colour, nameIt, nameEn, lowNmPerYear / 1e6 AS lowMmPerYear,
    highNmPerYear / 1e6 AS highMmPerYear
FROM class
WHERE :nmPerYear IS NULL
    OR (:nmPerYear >= coalesce(lowNmPerYear, :nmPerYear)
        AND (highNmPerYear IS NULL OR :nmPerYear < highNmPerYear))
ORDER BY rank, classId;
