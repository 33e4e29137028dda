//! Words that identify short texts around the content in common languages: picture credits, invitations to
//! share, comment, subscribe or read on, legal notes. One word decides nothing: the counts are features of
//! the model.

use std::sync::LazyLock;

use crate::hash::HashMap;

/// What a word suggests. The value is the position of its count in [`Cues::counts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cue {
    /// Credit of a picture.
    Credit,
    /// Social networks.
    Share,
    /// Comments and ratings.
    Comment,
    /// Subscription, account, donation.
    Subscribe,
    /// Advertising.
    Ad,
    /// Legal notes.
    Legal,
    /// About the author.
    Author,
    /// First person.
    First,
    /// Second person.
    Second,
    /// Date of publication.
    Time,
    /// Labels and navigation.
    Tags,
    /// Purchase.
    Shop,
    /// Invitation to click.
    Action,
}
use Cue::*;

/// Number of kinds of cues.
pub(super) const KINDS: usize = 13;
/// Words of a text that are read.
const MAX_WORDS: usize = 60;
/// Maximum texts before the position in [`SEE_ALSO`] that are compared with the start of a text.
const MAX_STEPS: usize = 8;

static KNOWN: LazyLock<HashMap<&str, Cue>> = LazyLock::new(|| WORDS.iter().copied().collect());

/// The cues in one text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cues {
    pub(super) counts: [u8; KINDS],
    /// The text starts as a reference to other pages does ("Read more: ...").
    pub(super) see_also: bool,
}

impl Cues {
    /// Reads a text in lower case, without white space at its start.
    pub(super) fn read(text: &str) -> Cues {
        let mut cues = Cues {
            counts: [0; KINDS],
            see_also: starts_as_reference(text),
        };
        let words = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        for word in words.take(MAX_WORDS) {
            if let Some(&cue) = KNOWN.get(word) {
                let count = &mut cues.counts[cue as usize];
                *count = count.saturating_add(1);
            }
        }
        cues
    }

    /// Returns the kind with the most words, counted from 1; 0 when there is none.
    pub(super) fn strongest(&self) -> i32 {
        let best = (0..KINDS).rev().max_by_key(|&kind| self.counts[kind]);
        best.filter(|&kind| self.counts[kind] > 0)
            .map_or(0, |kind| kind as i32 + 1)
    }
}

fn starts_as_reference(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = SEE_ALSO.partition_point(|&start| start <= text);
    SEE_ALSO[end.saturating_sub(MAX_STEPS)..end]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Starts of references to other pages, sorted.
const SEE_ALSO: &[&str] = &[
    "a lire", "aktuelle ", "also read", "approfond", "articles liés", "articles similaires", "articoli corr",
    "artículos relac", "auch das könnte", "auch interessant", "auch lesen", "bekijk ook", "beliebt",
    "continue reading", "czytaj", "dans la même", "das könnte", "dies könnte", "don't miss", "don’t miss",
    "editor's", "editors'", "editor’s", "en savoir plus", "explore ", "find out more", "further reading",
    "hier geht", "hier lesen", "ilgili haber", "katso myös", "keep reading", "latest", "le puede", "lea más",
    "lea también", "lea:", "learn more", "lee también", "leer más", "lees meer", "lees ook", "lees verder",
    "leggi anche", "leggi di più", "leggi tutto", "leia mais", "leia também", "les mer", "les også",
    "les plus lus", "lese auch", "lesen sie", "lest auch", "letzte beiträge", "leé también", "lies auch",
    "lire :", "lire aussi", "lire la suite", "lire également", "lo más", "lue lisää", "lue myös", "läs mer",
    "läs också", "läs även", "læs mere", "læs også", "meer lezen", "meer over", "mehr aus", "mehr dazu",
    "mehr infos", "mehr lesen", "mehr von", "mehr zu", "mehr zum", "mehr über", "meistgelesen", "mira:",
    "more about", "more from", "more on", "more stories", "more:", "most popular", "most read",
    "más información", "más leíd", "más noticias", "más sobre", "neueste ", "neuste ", "next",
    "no te pierdas", "noticias relac", "notícias relac", "nächster", "passend dazu", "passend zum",
    "podobne", "polecamy", "popular", "potrebbe interess", "potrebbero interess", "powiązane", "previous",
    "przeczytaj", "puede leer", "puedes leer", "read also", "read more", "read:", "recent", "recommended",
    "related", "saiba mais", "schon gelesen", "see also", "siehe auch", "similar ", "sur le même",
    "también puede", "también te", "te puede", "top stories", "trending", "up next", "vea también",
    "vedi anche", "veja mais", "veja também", "ver más", "ver también", "verwandte", "voir aussi",
    "vorheriger", "watch ", "watch:", "weitere artikel", "weitere beiträge", "weitere informationen",
    "weitere infos", "weitere meldungen", "weitere nachrichten", "weitere news", "weitere themen",
    "weiterführend", "weiterlesen", "what to read", "więcej", "you may", "you might", "zobacz", "zum thema",
    "zum weiterlesen", "à lire", "ähnliche", "по теме", "смотрите также", "читайте", "あわせて", "关联",
    "相关", "関連",
];

/// Words and what they suggest, sorted.
#[rustfmt::skip]
const WORDS: &[(&str, Cue)] = &[
    ("abb", Credit), ("abbildung", Credit), ("abo", Subscribe), ("abonneer", Subscribe),
    ("abonnement", Subscribe), ("abonnent", Subscribe), ("abonnenten", Subscribe), ("abonnez", Subscribe),
    ("abonniere", Subscribe), ("abonnieren", Subscribe), ("abonniert", Subscribe), ("abril", Time),
    ("account", Subscribe), ("actualizado", Time), ("adobestock", Credit), ("adresse", Action),
    ("advertisement", Ad), ("advertiser", Ad), ("advertisers", Ad), ("advertising", Ad), ("affiliate", Ad),
    ("afp", Credit), ("agb", Legal), ("agosto", Time), ("aktualisiert", Time), ("aktualisierung", Time),
    ("aktualizacja", Time), ("alamy", Credit), ("amazon", Ad), ("angebot", Ad), ("angebote", Ad),
    ("anmelden", Subscribe), ("antwort", Comment), ("antworten", Comment), ("anzeige", Ad), ("anzeigen", Ad),
    ("août", Time), ("apa", Credit), ("app", Subscribe), ("april", Time), ("apóyanos", Subscribe),
    ("aquí", Action), ("arbeitet", Author), ("archiv", Tags), ("archivbild", Credit), ("archive", Tags),
    ("archives", Tags), ("archivfoto", Credit), ("artikelnummer", Shop), ("august", Time), ("auteur", Author),
    ("author", Author), ("authors", Author), ("autor", Author), ("autoren", Author), ("autorin", Author),
    ("avril", Time), ("basket", Shop), ("beitragsbild", Credit), ("bestellen", Shop), ("bestseller", Ad),
    ("besuchen", Action), ("bewerten", Comment), ("bewertung", Comment), ("bewertungen", Comment),
    ("bild", Credit), ("bilder", Credit), ("bildnachweis", Credit), ("bildquelle", Credit),
    ("blogger", Author), ("bloggerin", Author), ("born", Author), ("bron", Credit), ("browser", Legal),
    ("buy", Shop), ("caption", Credit), ("cart", Shop), ("categories", Tags), ("category", Tags),
    ("catégorie", Tags), ("catégories", Tags), ("ci", Second), ("clicca", Action), ("click", Action),
    ("cliquez", Action), ("com", Action), ("comentario", Comment), ("comentarios", Comment),
    ("comentários", Comment), ("comment", Comment), ("commentaire", Comment), ("commentaires", Comment),
    ("commenti", Comment), ("commento", Comment), ("comments", Comment), ("commission", Ad),
    ("commons", Legal), ("comparte", Share), ("compartilhar", Share), ("compartir", Share),
    ("condividi", Share), ("consent", Legal), ("contact", Action), ("contributor", Author), ("cookie", Legal),
    ("cookies", Legal), ("copyright", Legal), ("correspondent", Author), ("coupon", Ad), ("creative", Legal),
    ("credit", Credit), ("credits", Credit), ("crowdfunding", Subscribe), ("crédit", Credit),
    ("crédits", Credit), ("date", Time), ("datenschutz", Legal), ("datenschutzerklärung", Legal),
    ("datum", Time), ("deal", Ad), ("deals", Ad), ("december", Time), ("dein", Second), ("deine", Second),
    ("deinen", Second), ("dela", Share), ("delen", Share), ("delivery", Shop), ("derechos", Legal),
    ("dezember", Time), ("dich", Second), ("diciembre", Time), ("dienstag", Time), ("dir", Second),
    ("disclaimer", Legal), ("discount", Ad), ("diskutieren", Comment), ("donación", Subscribe),
    ("donate", Subscribe), ("donation", Subscribe), ("donnerstag", Time), ("download", Action),
    ("downloads", Action), ("dpa", Credit), ("droits", Legal), ("drucken", Share), ("du", Second),
    ("dziennikarz", Author), ("décembre", Time), ("editor", Author), ("eingeloggt", Subscribe),
    ("einloggen", Subscribe), ("einträge", Tags), ("email", Action), ("enero", Time), ("epa", Credit),
    ("erschienen", Time), ("etichette", Tags), ("etiquetas", Tags), ("euch", Second), ("euer", Second),
    ("eur", Shop), ("eure", Second), ("euro", Shop), ("facebook", Share), ("febrero", Time),
    ("februar", Time), ("february", Time), ("feed", Share), ("feedback", Comment), ("fig", Credit),
    ("figure", Credit), ("filed", Tags), ("find", Action), ("finden", Action), ("flipboard", Share),
    ("folge", Share), ("folgen", Share), ("folgt", Share), ("follow", Share), ("fonte", Credit),
    ("fot", Credit), ("foto", Credit), ("fotograf", Credit), ("fotografie", Credit), ("fotolia", Credit),
    ("fotos", Credit), ("founder", Author), ("freelance", Author), ("freitag", Time), ("fuente", Credit),
    ("février", Time), ("geboren", Author), ("gefällt", Share), ("getty", Credit), ("gettyimages", Credit),
    ("gewinnspiel", Ad), ("gewähr", Legal), ("giornalista", Author), ("gmt", Time), ("graduated", Author),
    ("grafik", Credit), ("gravatar", Comment), ("gründer", Author), ("gründerin", Author), ("gutschein", Ad),
    ("gutscheincode", Ad), ("haftung", Legal), ("here", Action), ("herunterladen", Action), ("hier", Action),
    ("home", Tags), ("http", Action), ("https", Action), ("i", First), ("ich", First), ("ici", Action),
    ("ihnen", Second), ("ihr", Second), ("ihre", Second), ("ihrem", Second), ("ihren", Second),
    ("illustration", Credit), ("imagem", Credit), ("imagen", Credit), ("imago", Credit), ("immagine", Credit),
    ("impressum", Legal), ("imprimer", Share), ("imprimir", Share), ("inbox", Subscribe),
    ("information", Action), ("informationen", Action), ("infos", Action), ("inkl", Shop),
    ("instagram", Share), ("iscriviti", Subscribe), ("istock", Credit), ("jaa", Share), ("januar", Time),
    ("january", Time), ("janvier", Time), ("javascript", Legal), ("jetzt", Action), ("journalist", Author),
    ("journalistin", Author), ("juillet", Time), ("juin", Time), ("juli", Time), ("julio", Time),
    ("july", Time), ("june", Time), ("juni", Time), ("junio", Time), ("kategorie", Tags),
    ("kategorien", Tags), ("kategorii", Tags), ("kaufen", Shop), ("keystone", Credit), ("klick", Action),
    ("klicke", Action), ("klicken", Action), ("klickt", Action), ("kliknij", Action), ("komentarz", Comment),
    ("komentarze", Comment), ("kommentar", Comment), ("kommentare", Comment), ("kommentaren", Comment),
    ("kommentarer", Comment), ("kommentieren", Comment), ("kontakt", Action), ("konto", Subscribe),
    ("kuva", Credit), ("label", Tags), ("labels", Tags), ("lebt", Author), ("lesedauer", Time),
    ("leserbrief", Comment), ("lesezeit", Time), ("letters", Comment), ("licence", Legal), ("license", Legal),
    ("lieferung", Shop), ("lieferzeit", Shop), ("like", Share), ("link", Action), ("linkedin", Share),
    ("links", Action), ("lizenz", Legal), ("logged", Subscribe), ("login", Subscribe), ("mail", Action),
    ("march", Time), ("mars", Time), ("marzo", Time), ("mastodon", Share), ("me", First), ("mehr", Action),
    ("mehrere", Action), ("mein", First), ("meine", First), ("membership", Subscribe), ("menu", Tags),
    ("menü", Tags), ("merken", Share), ("min", Time), ("minuten", Time), ("minutes", Time),
    ("mittwoch", Time), ("moderation", Comment), ("montag", Time), ("more", Action), ("mwst", Shop),
    ("my", First), ("märz", Time), ("nasz", First), ("nasze", First), ("navigation", Tags),
    ("netiquette", Comment), ("newsletter", Subscribe), ("next", Tags), ("nos", First), ("nosotros", First),
    ("notre", First), ("nous", First), ("november", Time), ("novembre", Time), ("noviembre", Time),
    ("now", Action), ("nuestra", First), ("nuestras", First), ("nuestro", First), ("nuestros", First),
    ("nutzungsbedingungen", Legal), ("nächster", Tags), ("october", Time), ("octobre", Time),
    ("octubre", Time), ("oktober", Time), ("onlineshop", Ad), ("opublikowano", Time), ("order", Shop),
    ("our", First), ("panier", Shop), ("partager", Share), ("partagez", Share), ("partnerlink", Ad),
    ("partnerlinks", Ad), ("password", Subscribe), ("passwort", Subscribe), ("patreon", Subscribe),
    ("paypal", Subscribe), ("pdf", Action), ("periodista", Author), ("permalien", Comment),
    ("permalink", Comment), ("pexels", Credit), ("phone", Action), ("photo", Credit), ("photograph", Credit),
    ("photographer", Credit), ("photos", Credit), ("picture", Credit), ("pictured", Credit),
    ("pingback", Comment), ("pinterest", Share), ("pixabay", Credit), ("podcast", Share), ("posted", Comment),
    ("posteingang", Subscribe), ("precio", Shop), ("preis", Shop), ("preise", Shop),
    ("prenumerera", Subscribe), ("pressefoto", Credit), ("previous", Tags), ("prezzo", Shop), ("price", Shop),
    ("print", Share), ("privacy", Legal), ("prix", Shop), ("probeabo", Subscribe), ("professor", Author),
    ("promo", Ad), ("promotion", Ad), ("provision", Ad), ("pubblicato", Time), ("pubblicità", Ad),
    ("publicado", Time), ("publicidad", Ad), ("publicité", Ad), ("published", Time), ("publié", Time),
    ("quelle", Credit), ("rabatt", Ad), ("rating", Comment), ("ratings", Comment), ("reactie", Comment),
    ("reacties", Comment), ("rechte", Legal), ("redacción", Author), ("redactor", Author),
    ("redakteur", Author), ("redakteurin", Author), ("redaktion", Author), ("redazione", Author),
    ("reddit", Share), ("register", Subscribe), ("registriere", Subscribe), ("registrieren", Subscribe),
    ("registrierung", Subscribe), ("reklama", Ad), ("replies", Comment), ("reply", Comment),
    ("reporter", Author), ("reservados", Legal), ("reserved", Legal), ("responder", Comment),
    ("reuters", Credit), ("review", Comment), ("reviews", Comment), ("rights", Legal), ("rispondi", Comment),
    ("rss", Share), ("rubrik", Tags), ("répondre", Comment), ("réservés", Legal), ("sale", Ad),
    ("samstag", Time), ("schlagwort", Tags), ("schlagworte", Tags), ("schlagwörter", Tags),
    ("schreibt", Author), ("search", Tags), ("seguici", Share), ("seguir", Share), ("seite", Tags),
    ("september", Time), ("septembre", Time), ("septiembre", Time), ("share", Share), ("shipping", Shop),
    ("shop", Ad), ("shutterstock", Credit), ("sie", Second), ("signup", Subscribe), ("sitemap", Tags),
    ("sonntag", Time), ("source", Credit), ("soutenez", Subscribe), ("spende", Subscribe),
    ("spenden", Subscribe), ("sponsor", Ad), ("sponsored", Ad), ("stand", Time), ("startseite", Tags),
    ("steady", Subscribe), ("stichworte", Tags), ("stock", Shop), ("studied", Author), ("studierte", Author),
    ("subscribe", Subscribe), ("subscriber", Subscribe), ("subscribers", Subscribe),
    ("subscription", Subscribe), ("subskrybuj", Subscribe), ("subskrypcji", Subscribe), ("suche", Tags),
    ("suivez", Share), ("support", Subscribe), ("suscribirse", Subscribe), ("suscripción", Subscribe),
    ("suscriptores", Subscribe), ("suscríbete", Subscribe), ("symbolbild", Credit), ("symbolfoto", Credit),
    ("síguenos", Share), ("tag", Tags), ("tagi", Tags), ("tags", Tags), ("teile", Share), ("teilen", Share),
    ("tel", Action), ("telefon", Action), ("telegram", Share), ("terms", Legal), ("themen", Tags),
    ("tiktok", Share), ("titelbild", Credit), ("topics", Tags), ("trackback", Comment), ("tu", Second),
    ("tuo", Second), ("tus", Second), ("tweet", Share), ("twitter", Share), ("twoje", Second),
    ("twój", Second), ("u", Second), ("udostępnij", Share), ("uhr", Time), ("uns", First), ("unser", First),
    ("unsere", First), ("unserem", First), ("unseren", First), ("unsplash", Credit),
    ("unterstütze", Subscribe), ("unterstützen", Subscribe), ("updated", Time), ("us", First), ("usd", Shop),
    ("usted", Second), ("ustedes", Second), ("uw", Second), ("verfasser", Author), ("verfügbar", Shop),
    ("versand", Shop), ("versandkosten", Shop), ("veröffentlicht", Time), ("visit", Action), ("volg", Share),
    ("vorbehalten", Legal), ("vorheriger", Tags), ("vos", Second), ("votre", Second), ("vous", Second),
    ("warenkorb", Shop), ("we", First), ("webshop", Ad), ("weitere", Action), ("weiteren", Action),
    ("weiterführende", Action), ("werbung", Ad), ("wesprzyj", Subscribe), ("whatsapp", Share),
    ("wikimedia", Credit), ("wir", First), ("writer", Author), ("www", Action), ("xing", Share),
    ("you", Second), ("your", Second), ("yours", Second), ("youtube", Share), ("zdjęcia", Credit),
    ("zdjęcie", Credit), ("zurück", Tags), ("zustimmung", Legal), ("zzgl", Shop), ("übersicht", Tags),
    ("źródło", Credit),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(WORDS.is_sorted_by(|a, b| a.0 < b.0));
        assert!(SEE_ALSO.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn references_are_recognised_at_the_start() {
        for text in [
            "lesen sie auch: wetter", "» read more", "mehr zum thema", "à lire aussi",
        ] {
            assert!(Cues::read(text).see_also, "{text}");
        }
        assert!(!Cues::read("the more you read").see_also);
    }

    #[test]
    fn every_start_is_found_before_longer_texts() {
        for start in SEE_ALSO {
            assert!(Cues::read(&format!("{start}zz")).see_also, "{start}");
        }
    }

    #[test]
    fn words_are_counted_by_kind() {
        let cues = Cues::read("foto: getty images, mehr hier");
        assert_eq!(cues.counts[Credit as usize], 2);
        assert_eq!(cues.counts[Action as usize], 2);
    }
}
