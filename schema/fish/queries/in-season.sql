-- query in-season(month INTEGER): species that may be bought in a month, with their minimum sizes
SELECT speciesId, nameIt, nameEn, minSizeKind, minSizeUm / 1000.0 AS minSizeMm
FROM species
WHERE :month BETWEEN 1 AND 12 AND (seasonMask >> (:month - 1)) & 1 = 0
ORDER BY nameIt, speciesId;
