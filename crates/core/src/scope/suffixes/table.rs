//! The compact table of public suffixes.

/// Returns the registrable domain of a host name: its public suffix plus one label. Returns `None` for a
/// single label and for a public suffix itself. `host` must be lower case and not an IP address.
pub(super) fn registrable_domain(host: &str) -> Option<&str> {
    let dots: Vec<usize> = host.rmatch_indices('.').map(|(at, _)| at).take(4).collect();
    // The longest suffix in the table decides; without one, the last label.
    let labels = (2..=3)
        .rev()
        .find(|labels| {
            let start = match dots.get(labels - 1) {
                Some(dot) => dot + 1,
                None if dots.len() + 1 == *labels => 0,
                None => return false,
            };
            SUFFIXES.binary_search(&&host[start..]).is_ok()
        })
        .unwrap_or(1);
    match dots.get(labels) {
        Some(dot) => Some(&host[dot + 1..]),
        None if dots.len() == labels => Some(host),
        None => None,
    }
}

/// Sorted.
const SUFFIXES: &[&str] = &[
    "ac.ae", "ac.at", "ac.cn", "ac.cr", "ac.cy", "ac.id", "ac.il", "ac.in", "ac.ir", "ac.jp", "ac.ke",
    "ac.kr", "ac.nz", "ac.rs", "ac.th", "ac.tz", "ac.ug", "ac.uk", "ac.za", "ad.jp", "adv.br",
    "altervista.org", "amplifyapp.com", "appspot.com", "art.br", "asn.au", "asso.fr", "azureedge.net",
    "azurestaticapps.net", "azurewebsites.net", "bel.tr", "bitbucket.io", "biz.pl", "blog.br",
    "blogspot.com", "br.com", "cloudapp.net", "cloudfront.net", "cloudfunctions.net", "cn.com", "co.ae",
    "co.ao", "co.at", "co.bw", "co.com", "co.cr", "co.hu", "co.id", "co.il", "co.in", "co.ir", "co.jp",
    "co.ke", "co.kr", "co.me", "co.mz", "co.nz", "co.rs", "co.th", "co.tt", "co.tz", "co.ug", "co.uk",
    "co.uz", "co.ve", "co.za", "co.zm", "co.zw", "codeberg.page", "com.al", "com.ar", "com.au", "com.az",
    "com.ba", "com.bd", "com.bh", "com.bn", "com.bo", "com.br", "com.by", "com.cn", "com.co", "com.cu",
    "com.cy", "com.de", "com.do", "com.ec", "com.eg", "com.es", "com.fj", "com.fr", "com.ge", "com.gh",
    "com.gr", "com.gt", "com.hk", "com.hr", "com.iq", "com.jm", "com.jo", "com.kh", "com.kw", "com.kz",
    "com.la", "com.lb", "com.lk", "com.mk", "com.mm", "com.mt", "com.mx", "com.my", "com.ng", "com.ni",
    "com.np", "com.om", "com.pa", "com.pe", "com.pg", "com.ph", "com.pk", "com.pl", "com.pr", "com.pt",
    "com.py", "com.qa", "com.ro", "com.ru", "com.sa", "com.sg", "com.sv", "com.tr", "com.tt", "com.tw",
    "com.ua", "com.uy", "com.ve", "com.vn", "com.zm", "ddns.net", "de.com", "deno.dev", "duckdns.org",
    "dyndns.org", "eco.br", "ed.jp", "edu.ar", "edu.au", "edu.bd", "edu.br", "edu.cn", "edu.co", "edu.ec",
    "edu.eg", "edu.es", "edu.ge", "edu.gh", "edu.gr", "edu.hk", "edu.in", "edu.it", "edu.kz", "edu.mt",
    "edu.mx", "edu.my", "edu.ng", "edu.np", "edu.pe", "edu.ph", "edu.pk", "edu.pl", "edu.pt", "edu.py",
    "edu.rs", "edu.sa", "edu.sg", "edu.tr", "edu.tw", "edu.ua", "edu.uy", "edu.vn", "elasticbeanstalk.com",
    "eng.br", "eu.com", "eu.org", "firebaseapp.com", "firm.in", "fly.dev", "gb.net", "geek.nz", "gen.in",
    "gen.nz", "gen.tr", "gitbook.io", "github.io", "githubpreview.dev", "gitlab.io", "go.cr", "go.id",
    "go.jp", "go.ke", "go.kr", "go.th", "go.tz", "go.ug", "gob.ar", "gob.bo", "gob.cl", "gob.do", "gob.ec",
    "gob.es", "gob.gt", "gob.mx", "gob.ni", "gob.pa", "gob.pe", "gob.sv", "gob.ve", "gouv.fr", "gov.ae",
    "gov.ar", "gov.au", "gov.az", "gov.bd", "gov.br", "gov.by", "gov.cl", "gov.cn", "gov.co", "gov.cy",
    "gov.eg", "gov.ge", "gov.gh", "gov.gr", "gov.hk", "gov.il", "gov.in", "gov.ir", "gov.it", "gov.jo",
    "gov.kz", "gov.lk", "gov.my", "gov.ng", "gov.np", "gov.ph", "gov.pk", "gov.pl", "gov.pt", "gov.py",
    "gov.rs", "gov.sa", "gov.sg", "gov.tr", "gov.tw", "gov.ua", "gov.uk", "gov.vn", "gov.za", "govt.nz",
    "gr.jp", "gub.uy", "gv.at", "herokuapp.com", "hf.space", "id.au", "idv.hk", "idv.tw", "in.th", "in.ua",
    "ind.br", "ind.in", "inf.br", "info.hu", "info.pl", "iwi.nz", "jp.net", "jpn.com", "k12.tr", "kiev.ua",
    "kyiv.ua", "lg.jp", "ltd.uk", "lviv.ua", "maori.nz", "me.uk", "med.br", "mil.cn", "msk.ru", "muni.il",
    "my.id", "myshopify.com", "ne.jp", "ne.kr", "net.ae", "net.ar", "net.au", "net.bd", "net.br", "net.cn",
    "net.co", "net.ec", "net.gr", "net.hk", "net.id", "net.il", "net.in", "net.mx", "net.my", "net.nz",
    "net.pe", "net.ph", "net.pk", "net.pl", "net.ru", "net.sa", "net.sg", "net.th", "net.tr", "net.tw",
    "net.ua", "net.uk", "net.uy", "net.ve", "net.vn", "net.za", "netlify.app", "nhs.uk", "nic.in",
    "no-ip.org", "nom.co", "nom.es", "nom.fr", "now.sh", "onrender.com", "or.at", "or.cr", "or.id", "or.jp",
    "or.ke", "or.kr", "or.th", "or.tz", "or.ug", "org.ae", "org.ar", "org.au", "org.az", "org.bd", "org.bo",
    "org.br", "org.cn", "org.co", "org.cu", "org.cy", "org.do", "org.ec", "org.eg", "org.es", "org.ge",
    "org.gh", "org.gr", "org.gt", "org.hk", "org.hu", "org.il", "org.in", "org.kz", "org.lb", "org.lk",
    "org.mk", "org.mt", "org.mx", "org.my", "org.ng", "org.ni", "org.np", "org.nz", "org.pa", "org.pe",
    "org.ph", "org.pk", "org.pl", "org.pt", "org.py", "org.ro", "org.rs", "org.ru", "org.sa", "org.sg",
    "org.sv", "org.tr", "org.tw", "org.ua", "org.uk", "org.uy", "org.ve", "org.vn", "org.za", "org.zw",
    "pages.dev", "pe.kr", "plc.uk", "police.uk", "pp.ru", "re.kr", "readthedocs.io", "repl.co", "replit.app",
    "res.in", "ru.com", "run.app", "s3.amazonaws.com", "sa.com", "sch.id", "sch.uk", "school.nz", "se.net",
    "spb.ru", "streamlit.app", "surge.sh", "tv.br", "uk.com", "uk.net", "up.railway.app", "us.com", "us.org",
    "vercel.app", "waw.pl", "web.app", "web.id", "web.tr", "web.za", "webflow.io", "wiki.br", "wixsite.com",
    "workers.dev", "za.com",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(SUFFIXES.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn no_entry_is_a_site_by_the_list() {
        let is_site = |suffix: &&&str| {
            let below = format!("below.{suffix}");
            psl::domain_str(&below) == Some(**suffix)
        };
        let others: Vec<_> = SUFFIXES.iter().filter(is_site).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}
