-- query detections(): how far people moved what the program had found
-- answers (target Target, corrections INTEGER, meanOverlap REAL?, leastOverlap REAL?)
SELECT target, count(*) AS corrections, avg(overlapMilli) / 1000 AS meanOverlap,
    min(overlapMilli) / 1000.0 AS leastOverlap
FROM detection GROUP BY target ORDER BY target;
