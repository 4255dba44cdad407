-- query inconsistent(most INTEGER = 100): reports whose answers do not follow from what they store
-- Those that count follow, and a withdrawn one is nobody's concern: an index finds the others.
SELECT reportId, observedOn, actor, status, speciesId, placeId, lengthUm, minSizeUm, minSizeKind,
    seasonMask, sizeResult, sizeFollowing, dateResult, dateFollowing, source
FROM report
WHERE status IN ('foreign', 'duplicate', 'rejected', 'inconsistent') AND follows = 0
ORDER BY observedOn DESC, reportId LIMIT :most;
