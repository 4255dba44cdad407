-- query zones(): the zones of the sea, everywhere first
SELECT zoneId, nameIt, nameEn FROM zone ORDER BY zoneId <> '*', nameIt, zoneId;
