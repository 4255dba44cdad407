-- query day(user TEXT, day DATE): the foods of a day in the order of its meals
SELECT meal, name, foodId, amountMg / 1000.0 AS grams, energyMkcal / 1000.0 AS kcal,
    proteinMg / 1000.0 AS proteinG, carbMg / 1000.0 AS carbG, fatMg / 1000.0 AS fatG, entryId
FROM entry
WHERE actor = :user AND day = :day AND isRemoved = 0
ORDER BY instr('breakfast lunch snack dinner', meal), at, entryId;
