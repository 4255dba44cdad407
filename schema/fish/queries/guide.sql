-- query guide(user TEXT = NULL, language TEXT = NULL): how to use Fishmeter, page by page
-- In Italian or English: the language that is given, else the one that the user prefers. A page of
-- a higher version than the user put away is shown again.
-- answers (guideId TEXT, title TEXT, version INTEGER, isDismissed BOOLEAN, text TEXT)
-- example user='user-17', language='it'
-- example
WITH page (ordinal, guideId, version, titleEn, titleIt, textEn, textIt) AS (
    VALUES
        (1, 'first_run', 2, 'How it works', 'Come funziona',
            'Fishmeter tells whether a fish is long enough and in season. Lay a coin '
                || 'beside it, take a photo from above, mark both ends of the fish and the rim of '
                || 'the coin, and read the answer. A report helps researchers, and nobody has to '
                || 'file one. The answers follow a table of 2016; they are not legal advice.',
            'Fishmeter dice se un pesce è abbastanza lungo e di stagione. Metti una moneta '
                || 'accanto al pesce, fotografalo dall''alto, segna le due estremità del pesce e '
                || 'il bordo della moneta, e leggi la risposta. Una segnalazione aiuta i '
                || 'ricercatori, ma nessuno è tenuto a farla. Le risposte seguono una tabella del '
                || '2016 e non sono un parere legale.'),
        (2, 'photo', 1, 'Taking the photo', 'Scattare la foto',
            'Lay the fish flat and straight on a table, with its whole tail in the '
                || 'picture. Hold the phone above the middle of the fish, some 40 cm high, so '
                || 'that fish and coin fill most of the picture. Light from the side makes edges '
                || 'clear; a flash, or water on the coin, hides them. Take another photo if it is '
                || 'blurred: the last one that is not discarded counts.',
            'Appoggia il pesce piatto e dritto su un tavolo, con tutta la coda '
                || 'nell''inquadratura. Tieni il telefono sopra la metà del pesce, a circa 40 cm, '
                || 'in modo che pesce e moneta riempiano gran parte della foto. La luce di lato '
                || 'rende netti i bordi; il flash, o l''acqua sulla moneta, li nasconde. Se la '
                || 'foto è mossa rifalla: conta l''ultima che non hai scartato.'),
        (3, 'coin', 1, 'The coin beside the fish', 'La moneta accanto al pesce',
            'Put the coin flat beside the middle of the fish, not beside its head or tail: '
                || 'that is worth more than any mark. Coins of 2 euros, 1 euro and 50 cents are '
                || 'known, and bank cards; a card is larger, so with the tilt known it gives the '
                || 'surest length. Look straight down: where the edge of the coin shows, the coin '
                || 'seems larger and the fish shorter.',
            'Metti la moneta piatta accanto alla metà del pesce, non accanto alla testa o '
                || 'alla coda: vale più di qualunque segno. Sono note le monete da 2 euro, 1 euro '
                || 'e 50 centesimi, e le tessere bancarie; una tessera è più grande, quindi con '
                || 'l''inclinazione nota dà la lunghezza più sicura. Guarda da sopra: dove si '
                || 'vede il bordo della moneta, la moneta sembra più grande e il pesce più corto.'),
        (4, 'level', 1, 'Holding the phone level', 'Tenere il telefono in piano',
            'On the photo of a tilted phone the coin is an ellipse, and lengths are wrong. '
                || 'The gate `standard` wants a tilt of less than 8 degrees; `legacy` is that of '
                || 'the first app, which also refuses a phone that is wholly level; `off` takes '
                || 'every photo. Where nothing measures the tilt, the photo is taken and its '
                || 'length is less sure. The preference `gate` keeps your choice.',
            'Nella foto di un telefono inclinato la moneta è un''ellisse, e le lunghezze '
                || 'sono sbagliate. Il controllo `standard` vuole un''inclinazione sotto gli 8 '
                || 'gradi; `legacy` è quello della prima app, che rifiuta anche un telefono del '
                || 'tutto in piano; `off` accetta ogni foto. Dove nulla misura l''inclinazione, '
                || 'la foto si scatta e la sua lunghezza è meno sicura. La preferenza `gate` '
                || 'conserva la tua scelta.'),
        (5, 'marks', 1, 'Where the marks go', 'Dove vanno i segni',
            'Mark the tip of the snout and, at the tail, the point between the two lobes '
                || 'that is level with the end of the longer one. Of shrimps measure the carapace '
                || 'alone, from the eyes to where the tail begins; of cuttlefish and squid the '
                || 'mantle. Put the marks of the coin on its outer rim, spread all around it. '
                || 'Zoom in; a nudge moves a side by half a pixel.',
            'Segna la punta del muso e, alla coda, il punto fra i due lobi all''altezza '
                || 'della fine del più lungo. Dei gamberi si misura solo il carapace, dagli occhi '
                || 'a dove comincia la coda; di seppie e calamari il mantello. Metti i segni '
                || 'della moneta sul bordo esterno, distribuiti tutto intorno. Ingrandisci; un '
                || 'piccolo passo sposta un lato di mezzo pixel.'),
        (6, 'methods', 1, 'Which method to choose', 'Quale metodo scegliere',
            '`rectified` is the surest with a coin: it undoes the tilt by gravity and '
                || 'focal length, and takes five points of the rim or more. `card` takes the four '
                || 'corners of a bank card. `conic` and `ellipse` need nothing but the coin. '
                || '`pins2`, `circle3` and `views` are those of the thesis: quick, and less '
                || 'exact. A ruler needs no photo: enter the length.',
            '`rectified` è il più sicuro con una moneta: corregge l''inclinazione con '
                || 'gravità e lunghezza focale, e vuole almeno cinque punti del bordo. `card` usa '
                || 'i quattro angoli di una tessera bancaria. `conic` ed `ellipse` hanno bisogno '
                || 'della sola moneta. `pins2`, `circle3` e `views` sono quelli della tesi: '
                || 'rapidi, e meno esatti. Un righello non ha bisogno di foto: inserisci la '
                || 'lunghezza.'),
        (7, 'calendar', 1, 'Sizes and seasons', 'Misure e stagioni',
            'Each species has a minimum length, and months in which it reproduces and is '
                || 'better left in the sea. A legal minimum is that of Regulation (EC) 1967/2006; '
                || 'a recommended one is advice. Months count as a whole, and the day of the '
                || 'photo decides. For farmed fish and fish of other seas the answer says how far '
                || 'it applies. The query `in-season` lists the species of a month.',
            'Ogni specie ha una lunghezza minima, e mesi in cui si riproduce ed è meglio '
                || 'lasciarla in mare. Il minimo di legge è quello del regolamento (CE) '
                || '1967/2006; quello consigliato è un consiglio. I mesi contano per intero, e '
                || 'decide il giorno della foto. Per il pesce allevato o di altri mari la '
                || 'risposta dice fin dove vale. La query `in-season` elenca le specie di un '
                || 'mese.'),
        (8, 'report', 1, 'What a report is', 'Che cos''è una segnalazione',
            'A report tells researchers the species, the length, the answers, the day, the '
                || 'town, the sea and whether the fish was farmed. It bears your user id and no '
                || 'name. The photo stays on your device unless you agree that researchers may '
                || 'look at it. You may correct, withdraw and restore your own reports, and each '
                || 'fish counts once. The query `my-reports` shows where they are.',
            'Una segnalazione dice ai ricercatori la specie, la lunghezza, le risposte, il '
                || 'giorno, il paese, il mare e se il pesce era allevato. Porta il tuo id di '
                || 'utente e nessun nome. La foto resta sul tuo dispositivo, a meno che tu non '
                || 'permetta ai ricercatori di vederla. Puoi correggere, ritirare e ripristinare '
                || 'le tue segnalazioni, e ogni pesce conta una volta sola. La query `my-reports` '
                || 'mostra dove sono.')
), q AS (
    SELECT coalesce(
        :language, (SELECT value FROM preference WHERE actor = :user AND key = 'language'), 'en'
    ) || '-' LIKE 'it-%' AS isItalian
)
SELECT p.guideId, iif(q.isItalian, p.titleIt, p.titleEn) AS title, p.version,
    EXISTS (
        SELECT 1 FROM guide AS g
        WHERE g.actor = :user AND g.guideId = p.guideId AND g.version >= p.version
    ) AS isDismissed, iif(q.isItalian, p.textIt, p.textEn) AS text
FROM page AS p CROSS JOIN q ORDER BY p.ordinal;
