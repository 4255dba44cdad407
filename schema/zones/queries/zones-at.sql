-- query zones-at(latDeg REAL, lonDeg REAL): the zones that a position lies in, the smallest first
SELECT z.zoneId, z.title, coalesce(f.isBookmarked, 0) AS isFavourite
FROM zone_box AS b
CROSS JOIN zone AS z ON z.rowid = b.id / 2
LEFT JOIN favourite AS f USING (zoneId)
WHERE b.minLat <= :latDeg AND b.maxLat >= :latDeg AND b.minLon <= :lonDeg AND b.maxLon >= :lonDeg
    AND :latDeg BETWEEN z.minLatDeg AND z.maxLatDeg
    AND iif(
        z.minLonDeg <= z.maxLonDeg,
        :lonDeg BETWEEN z.minLonDeg AND z.maxLonDeg,
        :lonDeg >= z.minLonDeg OR :lonDeg <= z.maxLonDeg
    )
ORDER BY (z.maxLatDeg - z.minLatDeg)
    * (z.maxLonDeg - z.minLonDeg + 360 * (z.minLonDeg > z.maxLonDeg)), z.zoneId;
