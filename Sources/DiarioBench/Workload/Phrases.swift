/// What people write, ready to stand in a JSON string.
enum Phrases {
    /// Parts of notes; some have letters beyond ASCII, and one has an escape.
    static let notes = [
        "da rivedere domani", "perch\u{e9} no", "come la volta scorsa", "troppo caldo oggi",
        "ottimo, da rifare", "misurato due volte", "vicino alla fontana", "con la nonna",
        "porzione abbondante", "un po' meno del solito", "at the second pier", "see you there",
        "ha detto \\\"forse\\\"", "prezzo giusto", "si pu\u{f2} migliorare", "dopo la corsa",
        "prima di cena", "chiedere di Marta", "senza fretta", "coda di venti minuti",
        "personale gentile", "not sure about this", "quite good", "better than last week",
        "\u{e8} pi\u{f9} alto di un dito", "nessuna crepa visibile", "per la festa di Zo\u{eb}",
        "to be checked in October", "da cantare in viaggio", "mezza porzione", "avanzi di ieri",
        "banco all'angolo", "se piove, sotto la tettoia", "sconto per i gruppi",
        "va bene cos\u{ec}",
        "first try", "second try, same result", "rumoroso ma bello", "luce cattiva", "foto mossa",
    ]

    static let foods = [
        "Crema di nocciole", "Pasta con la zucca", "Yogurt bianco", "Pane di segale", "Mela",
        "Insalata mista", "Petto di pollo", "Riso basmati", "Latte intero", "Biscotti secchi",
        "Zuppa di ceci", "Caff\u{e8} macchiato", "Pizza margherita", "Tonno in scatola",
        "Uova sode",
        "Minestrone", "Prosciutto crudo", "Ricotta fresca", "Succo d'arancia", "Polenta",
        "Sm\u{f8}rrebr\u{f8}d med laks", "Porridge with berries", "Lasagne", "Focaccia", "Gelato",
    ]

    static let foodKinds = [
        "", " della nonna", " bio", " senza sale", " integrale", " light", " surgelata",
        " classica",
        " al forno", " del mercato",
    ]

    static let titles = [
        "Yesterday Again", "Nel blu", "Il cielo in una stanza", "Blue Sand",
        "Per\u{f2} \u{e8} tardi",
        "Night Train", "Caro amico", "La strada", "Two Rivers", "Open Window", "Azzurro mare",
        "Winter Light", "Senza fine", "Paper Moon", "Sotto la luna", "The Long Way", "Citt\u{e0}",
        "Ritornello", "Slow Hands", "Vento d'aprile",
    ]

    static let artists = [
        "I Gabbiani", "The Harbours", "Lucia Ferri", "Quartetto Nord", "Ana Sol",
        "Marco e gli altri",
        "Sigr\u{ed}\u{f0}ur", "The Tin Men", "Orchestra del Porto", "Nina Vale", "Gli Scogli",
        "DJ Rame",
        "Coro di Bosa", "Low Tide", "Emma Rossi", "Trio Levante",
    ]

    static let outputs = [
        "Cuffie di Zo\u{eb}", "Autoradio della Panda", "Salotto", "Cucina di Marta",
        "Kim's speaker",
        "Studio", "Cuffie nuove", "Bagno al piano di sopra",
    ]

    static let watches = [
        "Orologio di Zo\u{eb}", "Telefono di Marta", "Kim's watch", "Telefono", "Orologio nuovo",
        "Watch of \u{141}ucja", "Braccialetto", "Telefono di lavoro",
    ]

    static let genres = [
        "Cantautori", "Rock", "Jazz", "Pop", "Folk", "Classica", "Elettronica", "Soul", "Ambient",
    ]

    static let places = [
        "Ingresso principale", "Biglietteria", "Bar della piazza", "Uscita nord", "Giardino",
        "Pulito S.p.A.", "Sala conferenze", "Padiglione", "Fontana", "Infermeria",
        "Stand dei libri",
        "Macchine agricole", "Ristorante", "Parcheggio", "Area giochi", "Terrazza",
    ]

    static let people = [
        "\u{141}ucja dell'ufficio gruppi", "il signor Bianchi", "Marta", "the man at the desk",
        "una ragazza gentile", "il responsabile",
    ]

    static let towns = [
        "roma", "pisa", "bologna", "grindavik", "venezia", "napoli", "ravenna", "lisbona", "oslo",
        "catania", "genova", "bari", "atene", "porto", "torino", "trieste",
    ]

    static let species = [
        "sardina", "acciuga", "sogliola", "nasello", "gambero_rosa", "sgombro", "seppia",
        "calamaro",
        "triglia_fango", "costardella",
    ]

    /// The minimum of each species in micrometres, and its closed months.
    static let minimums = [
        110_000, 90_000, 200_000, 200_000, 20_000, 180_000, 150_000, 120_000, 110_000, nil,
    ]
    static let recommendations = ["seppia", "calamaro"]
    static let seasonMasks = [496, 2040, 15, 2111, 4088, 12, 120, 12, 248, 3584]

    static let harbours = [
        "porto_santo_stefano", "talamone", "porto_ercole", "orbetello", "albinia", "ansedonia",
        "fonteblanda", "giannella", "quattro_strade", "san_donato",
    ]

    static let allergens = [
        "gluten", "milk", "nuts", "eggs", "peanuts", "soybeans", "fish", "crustaceans", "celery",
        "mustard", "sesame-seeds", "lupin", "molluscs",
    ]
}
