-- query zones(favourites BOOLEAN = 0): all zones by title, or only those with a star
SELECT z.zoneId, z.title, coalesce(f.isBookmarked, 0) AS isFavourite, z.isOffered,
    z.featureCount, z.satellite, z.band, z.minLatDeg, z.minLonDeg, z.maxLatDeg, z.maxLonDeg
FROM zone AS z LEFT JOIN favourite AS f USING (zoneId)
WHERE NOT :favourites OR f.isBookmarked = 1
ORDER BY z.title, z.zoneId;
