-- query thirsty(below INTEGER): plants that got less water than that
SELECT name, waterMl FROM plant WHERE waterMl < :below ORDER BY name;
