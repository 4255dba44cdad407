-- query inconsistent(most INTEGER = 100): reports whose answers do not follow from what they store
SELECT reportId, observedOn, actor, status, speciesId, placeId, lengthUm, minSizeUm, minSizeKind,
    seasonMask, sizeResult, sizeFollowing, dateResult, dateFollowing, source
FROM report
WHERE follows = 0 AND isWithdrawn = 0
ORDER BY observedOn DESC, reportId LIMIT :most;
