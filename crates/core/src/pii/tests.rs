use serde_json::json;

use super::*;
use crate::api::branding::Branding;
use crate::api::offer::{Menu, Product};
use crate::api::page::{ActionOutputs, CapturedHtml, DocumentPage};

fn redactor(options: &str) -> Redactor {
    let body = format!(r#"{{"redactPII":{options}}}"#);
    let options = crate::api::options::ScrapeOptions::from_json(body.as_bytes()).unwrap();
    Redactor::new(&options.redact_pii.unwrap())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redactor("true").text(text), expected);
}

#[track_caller]
fn unchanged(text: &str) {
    check(text, text);
}

#[test]
fn emails_are_found_in_every_notation() {
    check("Write to jane.doe+x@mail.example.co.uk.", "Write to <EMAIL>.");
    check("[Mail](mailto:a@b.test)", "[Mail](mailto:<EMAIL>)");
    check("_me@b.test_, 'x@b.test'", "_<EMAIL>_, '<EMAIL>'");
    check("müller@bücher.example", "<EMAIL>");
    check(
        "<meta content='a@b.test'>, o'neil@b.test",
        "<meta content='<EMAIL>'>, <EMAIL>",
    );
    check("jane&#64;example&period;com", "<EMAIL>");
    check("&#106;&#x6f;@example.com!", "<EMAIL>!");
    check(
        "https://a.test/?to=jane%40example.com&x=1",
        "https://a.test/?to=<EMAIL>&x=1",
    );
    check(r"john\_doe@example.com", "<EMAIL>");
    check(r#"{"to":"a\u0040b.test"}"#, r#"{"to":"<EMAIL>"}"#);
    check("jane [at] example [dot] com", "<EMAIL>");
    check("info (at) example.com", "<EMAIL>");
    check("a@b.test.2024", "<EMAIL>.2024");
    for text in [
        "logo@2x.png", "react@18.2.0", "@handle", "a@b", "a @ b.test", "look @home.", "icon@sprite.svg",
    ] {
        unchanged(text);
    }
}

#[test]
fn phone_numbers_are_told_from_other_numbers() {
    for text in [
        "+49 30 1234567", "+1 (555) 123-4567", "+49 (0) 30 / 123 45 67", "(555) 123-4567", "555-123-4567",
        "555.234.4567", "1-555-234-4567", "030 1234567", "(030) 1234567", "0171/1234567", "020 7946 0958",
        "01 23 45 67 89", "0049 30 1234567", "+49\u{a0}30\u{a0}1234567", "+442079460958",
    ] {
        let text = text.replace("555) 123", "555) 223").replace("555-123", "555-223");
        check(&format!("x {text}, y"), "x <PHONE>, y");
    }
    check("Tel.: 12345678", "Tel.: <PHONE>");
    check("Phone: 030-12345", "Phone: <PHONE>");
    check("tel:5551234", "tel:<PHONE>");
    check(r"\+49 30 1234567", "<PHONE>");
    check("&#43;49 30 1234567", "<PHONE>");
    for text in [
        "2024-01-15",
        "15.01.2024",
        "01.02.2024 10:30",
        "2024/01/15/10",
        "192.168.100.200",
        "10.0.0.1",
        "1,234,567.89",
        "3.14159265358979",
        "0.123456789012",
        "550e8400-e29b-41d4-a716-446655440000",
        "ISBN 978-3-16-148410-0",
        "1234567890",
        "1700000000000",
        "v1.2.3",
        "from 100 to 2000",
        "Call 911",
        "a123-456-7890b",
    ] {
        unchanged(text);
    }
}

#[test]
fn cards_and_accounts_need_their_check_digits() {
    for text in [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111111111111111",
        "5500 0000 0000 0004",
        "3782 822463 10005",
        "378282246310005",
        "6011000990139424",
        "DE89 3704 0044 0532 0130 00",
        "DE89370400440532013000",
        "GB29 NWBK 6016 1331 9268 19",
        "FR14 2004 1010 0505 0001 3M02 606",
        "nl91abna0417164300",
    ] {
        check(&format!("pay {text}; x"), "pay <FINANCIAL>; x");
    }
    check("4111 1111 1111 1111 12/26", "<FINANCIAL> 12/26");
    for text in [
        "4111 1111 1111 1112", "4111111111111112", "1234 5678 9012 3452", "0.4111111111111111",
        "DE88 3704 0044 0532 0130 00", "XX89 3704 0044 0532 0130 00", "DE89370400440532013000X",
        "a4111111111111111",
    ] {
        unchanged(text);
    }
}

#[test]
fn secrets_are_found_by_format_and_by_label() {
    for text in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "sk_live_abcdefghijklmnop1234",
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "xoxb-123456789012-abcdefghij",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----",
    ] {
        check(&format!("key {text} end"), "key <SECRET> end");
    }
    check(r"sk\_live\_abcdefghijklmnop1234", "<SECRET>");
    check("password: hunter2", "password: <SECRET>");
    check(r#"{"api_key": "a1b2c3d4e5"}"#, r#"{"api_key": "<SECRET>"}"#);
    check("DB_PASSWORD=s3cr3t!x", "DB_PASSWORD=<SECRET>");
    check(
        "Authorization: Bearer abcdef0123456789",
        "Authorization: Bearer <SECRET>",
    );
    check("https://user:pass1@host.example/x", "https://<SECRET>/x");
    for text in [
        "Password: required",
        "The token: something",
        "password = ",
        "Basic understanding of the matter",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "sha384-oqVuAfXRKap7fdgcCY5uykM6R9GqQ8KuxylyQIiYRAtBmCSQ",
        "https://host.example:8080/x",
    ] {
        unchanged(text);
    }
}

#[test]
fn modes_styles_and_entities_are_honoured() {
    let aggressive = redactor(r#"{"mode":"aggressive"}"#);
    assert_eq!(aggressive.text("Ref 555 1234"), "Ref <PHONE>");
    assert_eq!(
        aggressive.text("x 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b y"),
        "x <SECRET> y"
    );
    assert_eq!(
        aggressive.text("Account number: 12 345 678"),
        "Account number: <FINANCIAL>"
    );
    assert_eq!(aggressive.text("on 2024-01-15"), "on 2024-01-15");
    let text = "a@b.test or +49 30 1234567";
    assert_eq!(
        redactor(r#"{"replaceStyle":"mask"}"#).text(text),
        "******** or **************"
    );
    assert_eq!(redactor(r#"{"replaceStyle":"remove"}"#).text(text), " or ");
    assert_eq!(
        redactor(r#"{"entities":["PHONE"]}"#).text(text),
        "a@b.test or <PHONE>"
    );
    assert_eq!(redactor(r#"{"entities":[]}"#).text(text), text);
    assert_eq!(redactor("true").html("<p>a@b.test</p>"), "<p>&lt;EMAIL&gt;</p>");
}

#[test]
fn names_of_a_model_are_redacted_as_whole_words() {
    let names = Names {
        people: ["Ann", "Ann Lee", "J. R. (Bob)", "x", ""]
            .map(str::to_owned)
            .to_vec(),
        places: vec!["Main\nStreet 5".to_owned()],
    };
    let mut with_names = redactor("true");
    with_names.add_names(&names);
    let check = |text: &str, expected: &str| assert_eq!(with_names.text(text), expected);
    check("Ann Lee met Ann, not Anna.", "<PERSON> met <PERSON>, not Anna.");
    check(
        "J. R. (Bob) of Main  Street 5, box x",
        "<PERSON> of <LOCATION>, box x",
    );
    let mut fast = redactor(r#"{"entities":["EMAIL"]}"#);
    fast.add_names(&names);
    assert_eq!(fast.text("Ann"), "Ann");
}

#[test]
fn every_text_of_a_document_is_redacted() {
    let text = || Some("a@b.test".to_owned());
    let mut document = Document {
        markdown: text(),
        html: text(),
        raw_html: text(),
        links: Some(vec!["https://x.test/?m=a@b.test".to_owned()]),
        images: Some(vec!["https://x.test/a@b.test".to_owned()]),
        json: Some(
            json!({"mail": "a@b.test", "password": "hunter2", "n": [4_111_111_111_111_111_u64], "a@b.test": null}),
        ),
        summary: text(),
        answer: text(),
        highlights: text(),
        branding: Some(Branding {
            brand_name: text(),
            ..Branding::default()
        }),
        product: Some(Product {
            description: text(),
            ..Product::default()
        }),
        menu: Some(Menu {
            source_url: "a@b.test".to_owned(),
            ..Menu::default()
        }),
        blocks: Some(vec![json!("a@b.test")]),
        pages: Some(vec![DocumentPage {
            page_number: 1,
            markdown: "a@b.test".to_owned(),
        }]),
        actions: Some(ActionOutputs {
            scrapes: vec![CapturedHtml {
                url: "https://x.test/".to_owned(),
                html: "a@b.test".to_owned(),
            }],
            ..ActionOutputs::default()
        }),
        ..Document::default()
    };
    document.metadata.title = text();
    document.metadata.description = text();
    document
        .metadata
        .other
        .insert("author".to_owned(), json!("a@b.test"));
    document
        .metadata
        .other
        .insert("articleTag".to_owned(), json!(["a@b.test"]));
    redactor("true").document(&mut document);
    let sent = serde_json::to_string(&document).unwrap();
    for secret in ["a@b.test", "hunter2", "4111"] {
        assert!(!sent.contains(secret), "{secret} in {sent}");
    }
    assert_eq!(sent.matches("EMAIL").count(), 20, "{sent}");
}

#[test]
fn large_and_hostile_texts_are_redacted_in_linear_time() {
    let size = if cfg!(debug_assertions) {
        32 << 10
    } else {
        10 << 20
    };
    for unit in [
        "@", "a@", "1 ", "12", "+", "(", "DE89 ", "&#64;", "\\", "a.", "password:", "eyJa.",
        "-----BEGIN PRIVATE KEY", "a [at] ", "4111 1111 ", "://a:b",
    ] {
        let text = unit.repeat(size / unit.len());
        for options in ["true", r#"{"mode":"aggressive"}"#] {
            let redacted = redactor(options).text(&text).len();
            assert!(redacted > 0, "{unit}");
        }
    }
    let page = "Some words of a page with a@b.test and +49 30 1234567 in them.\n".repeat(size / 64);
    let expected = page.matches('@').count();
    assert_eq!(redactor("true").text(&page).matches("<EMAIL>").count(), expected);
}
