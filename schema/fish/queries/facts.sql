-- query facts(user TEXT = NULL, language TEXT = NULL): what to know of fish, with its sources
-- In Italian or English: the language that is given, else that which the user prefers. The year is
-- that of the source.
-- answers (factId TEXT, source TEXT, year INTEGER, text TEXT)
-- example language='it'
-- example user='user-17'
WITH fact (ordinal, factId, year, sourceEn, sourceIt, textEn, textIt) AS (
    VALUES
        (1, 'imports', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'About 74 % of the fish that Italy consumes comes from abroad.',
            'Circa il 74 % del pesce consumato in Italia viene dall''estero.'),
        (2, 'trade_balance', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Exports of fish less imports, divided by their sum, are about -75 % for '
                || 'Italy: it imports some seven times as much as it exports.',
            'Esportazioni di pesce meno importazioni, divise per la loro somma, danno per '
                || 'l''Italia circa -75 %: importa circa sette volte quanto esporta.'),
        (3, 'processed', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Since 2010 about three quarters of the volume that Italy imports is processed '
                || 'or frozen: tuna to be canned, and small preserved fish.',
            'Dal 2010 circa tre quarti del volume importato in Italia è trasformato o '
                || 'congelato: tonno da inscatolare e piccoli pesci conservati.'),
        (4, 'fresh', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Sea bream, sea bass and salmon are about 45 % of the fresh fish that Italy '
                || 'imports.',
            'Orate, spigole e salmoni sono circa il 45 % del pesce fresco importato in '
                || 'Italia.'),
        (5, 'stocks', 2010,
            'FAO, State of World Fisheries and Aquaculture (thesis, table 1.1)',
            'FAO, State of World Fisheries and Aquaculture (tesi, tabella 1.1)',
            'Of the fish stocks of the world 53 % are fully exploited, 28 % overexploited, '
                || '3 % depleted and 1 % recovering; 12 % are moderately exploited and 3 % '
                || 'underexploited.',
            'Degli stock ittici del mondo il 53 % è pienamente sfruttato, il 28 % '
                || 'sovrasfruttato, il 3 % esaurito e l''1 % in ripresa; il 12 % è sfruttato '
                || 'moderatamente e il 3 % poco.'),
        (6, 'tuna', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            '35 % of the stocks of tuna are overexploited.',
            'Il 35 % degli stock di tonno è sovrasfruttato.'),
        (7, 'law', 2006, 'Regulation (EC) 1967/2006', 'Regolamento (CE) 1967/2006',
            'Since 28 January 2007 fish, crustaceans and molluscs below their minimum size '
                || 'may not be kept aboard, transferred, transported, stored, sold or displayed.',
            'Dal 28 gennaio 2007 pesci, crostacei e molluschi sotto la taglia minima non '
                || 'si possono tenere a bordo, trasbordare, trasportare, conservare, vendere o '
                || 'esporre.'),
        (8, 'in_season', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Fish bought in season leaves its species the time to grow and reproduce, '
                || 'travels less if it is local, and often costs less.',
            'Il pesce comprato di stagione lascia alla sua specie il tempo di crescere e '
                || 'riprodursi, se è locale viaggia meno, e spesso costa meno.'),
        (9, 'less_known', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Species that few people know are neither dearer nor worse: choosing them '
                || 'spares the others.',
            'Le specie poco conosciute non sono né più care né peggiori: sceglierle '
                || 'risparmia le altre.'),
        (10, 'farming', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'Farmed fish has costs of its own: fish and other resources for feed, spoilt '
                || 'habitats, water, antibiotics and chemicals.',
            'Anche il pesce allevato ha i suoi costi: pesce e altre risorse per i mangimi, '
                || 'habitat rovinati, acqua, antibiotici e sostanze chimiche.'),
        (11, 'other_threats', 2016, 'thesis FISHMETER, section 1.2', 'tesi FISHMETER, sezione 1.2',
            'By-catch, illegal fishing and a changing climate harm stocks as well.',
            'Anche le catture accessorie, la pesca illegale e il clima che cambia '
                || 'danneggiano gli stock.'),
        (12, 'consumption', 2016, 'thesis FISHMETER, figure 1.2', 'tesi FISHMETER, figura 1.2',
            'To consume sustainably is to use fewer resources and toxic substances, '
                || 'renewable energy, and services that last for economy, society and '
                || 'environment.',
            'Consumare in modo sostenibile significa usare meno risorse e sostanze '
                || 'tossiche, energie rinnovabili, e servizi che durano per economia, società e '
                || 'ambiente.'),
        (13, 'diet', 2016, 'thesis FISHMETER, figure 1.2', 'tesi FISHMETER, figura 1.2',
            'A sustainable diet respects biodiversity, is accessible and economically '
                || 'fair, and is nutritious and safe.',
            'Una dieta sostenibile rispetta la biodiversità, è accessibile ed '
                || 'economicamente equa, nutriente e sicura.')
), q AS (
    SELECT coalesce(
        :language, (SELECT value FROM preference WHERE actor = :user AND key = 'language'), 'en'
    ) || '-' LIKE 'it-%' AS isItalian
)
SELECT f.factId, iif(q.isItalian, f.sourceIt, f.sourceEn) AS source, f.year,
    iif(q.isItalian, f.textIt, f.textEn) AS text
FROM fact AS f CROSS JOIN q ORDER BY f.ordinal;
