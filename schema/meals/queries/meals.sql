-- query meals(user TEXT, day DATE): energy of each meal of a day, and how much it may hold
WITH p AS (
    SELECT needMkcal FROM plan WHERE actor = :user AND effectiveFrom <= :day
    ORDER BY effectiveFrom DESC, stamp DESC LIMIT 1
),
-- Lunch, the largest share, gets what the others leave, so that the four make up the whole.
share (place, meal, mostMkcal) AS (
    SELECT 1, 'breakfast', (SELECT needMkcal * 20 / 100 FROM p)
    UNION ALL SELECT 2, 'lunch', (
        SELECT needMkcal - needMkcal * 20 / 100 - needMkcal * 10 / 100 - needMkcal * 30 / 100
        FROM p
    )
    UNION ALL SELECT 3, 'snack', (SELECT needMkcal * 10 / 100 FROM p)
    UNION ALL SELECT 4, 'dinner', (SELECT needMkcal * 30 / 100 FROM p)
)
SELECT s.meal, coalesce(t.entries, 0) AS entries, coalesce(t.energyMkcal, 0) / 1000.0 AS kcal,
    s.mostMkcal / 1000.0 AS mostKcal,
    (s.mostMkcal - coalesce(t.energyMkcal, 0)) / 1000.0 AS leftKcal
FROM share AS s
LEFT JOIN meal_total AS t ON t.actor = :user AND t.day = :day AND t.meal = s.meal
ORDER BY s.place;
