-- query weights(user TEXT, first DATE, last DATE): weights with the mean of the last seven
SELECT day, weightG / 1000.0 AS kg, source,
    avg(weightG) OVER (ORDER BY at, clock, measureId ROWS 6 PRECEDING) / 1000.0 AS mean7Kg,
    (weightG - (SELECT targetG FROM weight_goal WHERE actor = :user)) / 1000.0 AS aboveTargetKg
FROM weight
WHERE actor = :user AND day BETWEEN :first AND :last AND isRemoved = 0
ORDER BY at, clock, measureId;
