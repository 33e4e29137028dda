//! The countries of ISO 3166-1, and the language that a visitor from each country most likely reads.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Code and language of every country, sorted by code: `USen` is the United States with English.
const COUNTRIES: &str = "\
    ADca AEar AFfa AGen AIen ALsq AMhy AOpt AQen ARes ASen ATde AUen AWnl AXsv AZaz BAbs BBen BDbn \
    BEnl BFfr BGbg BHar BIfr BJfr BLfr BMen BNms BOes BQnl BRpt BSen BTdz BVnb BWen BYbe BZen CAen \
    CCen CDfr CFfr CGfr CHde CIfr CKen CLes CMfr CNzh COes CRes CUes CVpt CWnl CXen CYel CZcs DEde \
    DJfr DKda DMen DOes DZar ECes EEet EGar EHar ERti ESes ETam FIfi FJen FKen FMen FOfo FRfr GAfr \
    GBen GDen GEka GFfr GGen GHen GIen GLkl GMen GNfr GPfr GQes GRel GSen GTes GUen GWpt GYen HKzh \
    HMen HNes HRhr HTfr HUhu IDid IEen ILhe IMen INen IOen IQar IRfa ISis ITit JEen JMen JOar JPja \
    KEen KGky KHkm KIen KMfr KNen KPko KRko KWar KYen KZkk LAlo LBar LCen LIde LKsi LRen LSen LTlt \
    LUfr LVlv LYar MAar MCfr MDro MEsr MFfr MGmg MHen MKmk MLfr MMmy MNmn MOzh MPen MQfr MRar MSen \
    MTmt MUen MVdv MWen MXes MYms MZpt NAen NCfr NEfr NFen NGen NIes NLnl NOnb NPne NRen NUen NZen \
    OMar PAes PEes PFfr PGen PHen PKur PLpl PMfr PNen PRes PSar PTpt PWen PYes QAar REfr ROro RSsr \
    RUru RWrw SAar SBen SCen SDar SEsv SGen SHen SIsl SJnb SKsk SLen SMit SNfr SOso SRnl SSen STpt \
    SVes SXnl SYar SZen TCen TDfr TFfr TGfr THth TJtg TKen TLpt TMtk TNar TOto TRtr TTen TVen TWzh \
    TZsw UAuk UGen UMen USen UYes UZuz VAit VCen VEes VGen VIen VNvi VUfr WFfr WSsm YEar YTfr ZAen \
    ZMen ZWen";

/// Returns every country code with its language.
fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    COUNTRIES.split(' ').map(|entry| entry.split_at(2))
}

/// Returns every country code, sorted.
pub fn codes() -> impl Iterator<Item = &'static str> {
    entries().map(|(code, _)| code)
}

/// Returns the language of a country by its upper-case code, or `None` for an unknown code.
pub fn language(code: &str) -> Option<&'static str> {
    static LANGUAGES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| entries().collect());
    LANGUAGES.get(code).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_country_is_listed_once_and_sorted() {
        let all: Vec<&str> = codes().collect();
        assert_eq!(all.len(), 249);
        assert!(all.is_sorted_by(|a, b| a < b));
        assert!(all.iter().all(|code| code.len() == 2));
        assert_eq!(language("US"), Some("en"));
        assert_eq!(language("JP"), Some("ja"));
        assert_eq!(language("XX"), None);
        assert_eq!(language("UK"), None);
    }
}
