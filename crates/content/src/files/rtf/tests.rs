use super::*;

#[track_caller]
fn check(rtf: &str, expected: &str) {
    let document = read(rtf.as_bytes()).unwrap();
    assert_eq!(document.pages[0].html.replace('\n', ""), expected, "{rtf}");
}

#[test]
fn text_keeps_its_structure() {
    check(
        r"{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\stylesheet{\s1 heading 1;}}\pard\s1 Top\par\pard A {\b bold} word, caf\'e9 \u8364?.\par}",
        "<h1>Top</h1><p>A <strong>bold</strong> word, café €.</p>",
    );
    check(
        r"{\rtf1\ansicpg1252\deff1{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}\'cf\'f0{\f0 \'e9}\'ee\f0\'e9\plain\'ee\par}",
        "<p>Прéоéо</p>",
    );
    check(
        r"{\rtf1 \pard\ls1{\listtext 1.\tab}One\par{\listtext 2.\tab}Two\par\pard After\par\pard\bullet\tab Three\par}",
        "<ol><li>One</li><li>Two</li></ol><p>After</p><ul><li>Three</li></ul>",
    );
    check(
        r"{\rtf1 \pard\ls1{\listtext (3)\tab}One\par{\listtext (4)\tab}Two\par\ilvl1{\listtext o\tab}Three\par}",
        "<ol start=\"3\"><li>One</li><li>Two<ul><li>Three</li></ul></li></ol>",
    );
    check(
        r"{\rtf1\pard\ls1{\listtext\pard\plain 1.\tab}One\par{\listtext 2.\tab}\pard\plain\v secret\par\pard\plain After\par{\pntext 1.}Three\par}",
        "<ol><li>One</li></ol><p>After</p><ol><li>Three</li></ol>",
    );
    check(
        r"{\rtf1 \trowd\intbl a\cell b\cell\row\trowd\intbl 1\cell 2\cell\row\pard x\par}",
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><p>x</p>",
    );
    check(
        concat!(
            r"{\rtf1 \trowd\trleft-108\cellx2772\cellx5652\cellx8532\intbl a\cell b\cell c\cell\row",
            r"\trowd\trleft-108\cellx5651\clvmgf\cellx8532\intbl d\cell e\cell\row",
            r"\trowd\trleft-108\clmgf\cellx2772\clmrg\cellx5652\clvmrg\cellx8532\intbl f\cell\cell\cell\row}"
        ),
        concat!(
            "<table><tr><th>a</th><th>b</th><th>c</th></tr>",
            "<tr><td colspan=\"2\">d</td><td rowspan=\"2\">e</td></tr>",
            "<tr><td colspan=\"2\">f</td></tr></table>"
        ),
    );
    check(
        r#"{\rtf1 See {\field{\*\fldinst HYPERLINK "https://x.test/"}{\fldrslt here}}.\par}"#,
        "<p>See <a href=\"https://x.test/\">here</a>.</p>",
    );
    check(
        r"{\rtf1 {\*\unknown secret}{\pict 00ff}a{\v b}c <&>\par}",
        "<p>ac &lt;&amp;&gt;</p>",
    );
    check(
        r"{\rtf1 a{\shp{\*\shpinst\shpleft1{\sp{\sn x}{\sv y}}{\shptxt\pard one\par two\par}}{\shprslt three}}b\par}",
        "<p>one</p><p>two</p><p>ab</p>",
    );
    check(r"{\rtf1 a{\shp{\*\shpinst{\shptxt one", "<p>one</p><p>a</p>");
    check(
        concat!(
            r"{\rtf1{\stylesheet{\s2 Quote;}{\s3 Source Code;}}\pard\s2 a\par b\par",
            r"\pard\s3 if x:\par\par  {\b y}\par\pard c\par}"
        ),
        "<blockquote><p>a</p><p>b</p></blockquote><pre><code>if x: <strong>y</strong></code></pre><p>c</p>",
    );
    check(
        r"{\rtf1{\stylesheet{\s2 Title;}}\pard\s2 Birds\par\pard 10{\b\super 6}{\sub n}\super +\nosupersub x\par}",
        "<h1>Birds</h1><p>10<strong><sup>6</sup></strong><sub>n</sub><sup>+</sup>x</p>",
    );
}

#[test]
fn cells_and_notes_contain_blocks() {
    check(
        concat!(
            r"{\rtf1 \trowd\intbl a{\shp{\*\shpinst{\shptxt\pard one\par\trowd\intbl two\cell\row}}}b\par c\cell",
            r"{\listtext 1.}\pard\intbl\ls1 d\par\ilvl1{\listtext o}e\cell\pard\intbl f\cell\row\pard After\par}"
        ),
        concat!(
            "<table><tr><th><p>one</p><table><tr><th>two</th></tr></table><p>ab</p><p>c</p></th>",
            "<th><ol><li>d<ul><li>e</li></ul></li></ol></th><th>f</th></tr></table><p>After</p>"
        ),
    );
    check(
        r"{\rtf1 a{\footnote b{\shp{\*\shpinst{\shptxt one\par}}}c\par\ls1{\listtext 1.}d\par}e\par}",
        concat!(
            "<p>a<sup><a href=\"#fn1\">1</a></sup>e</p><section class=\"footnotes\"><ol>",
            "<li id=\"fn1\"><p>one</p><p>bc</p><ol><li>d</li></ol></li></ol></section>"
        ),
    );
}

#[test]
fn styles_of_characters_are_applied() {
    check(
        concat!(
            r"{\rtf1{\stylesheet{\*\cs1\additive\b Strong;}{\*\cs2 Source Text;}{\*\cs3\i\v Secret;}{\s3 Code;}}",
            r"{\cs1 a} {\i\cs2 b()} c{\cs3 d}{\cs9 e}\par\pard\s3 {\cs2 f()}\par}"
        ),
        "<p><strong>a </strong><em><code>b()</code></em> ce</p><pre><code>f()</code></pre>",
    );
}

#[test]
fn equations_are_formulas() {
    check(
        concat!(
            r"{\rtf1 Let {\mmath{\*\moMath{\mf{\mfPr{\mtype lin}{\mctrlPr\f34\i}}{\mnum{\mr\mscr0\msty2 {\f34 a}}}{\mden{\mr 2}}}",
            r"{\mr\mnor if}}{\mmathPict{\pict 00ff}}}.\par",
            r"\pard{\*\moMathPara{\*\moMathParaPr{\mjc 1}}{\*\moMath{\mnary{\mnaryPr{\mchr \u8721?}}{\msub{\mr 1}}{\msup}{\me{\mr\msty1 x}}}}}\par}"
        ),
        concat!(
            "<p>Let <math><mrow><mrow><mi>a</mi></mrow><mo>/</mo><mrow><mn>2</mn></mrow></mrow><mtext>if</mtext></math>.</p>",
            "<p><math display=\"block\"><msub><mo>∑</mo><mrow><mn>1</mn></mrow></msub>",
            "<mrow><mrow><mi mathvariant=\"bold\">x</mi></mrow></mrow></math></p>"
        ),
    );
    check(r"{\rtf1 a{\*\moMath{\mr b", "<p>a<math><mi>b</mi></math></p>");
    check(r"{\rtf1 a{\*\moMath}b{\v{\*\moMath{\mr c}}}\par}", "<p>ab</p>");
    let large = format!("{{\\rtf1{{\\*\\moMath{}}}\\par}}", r"{\mr x}".repeat(100_000));
    check(&large, &format!("<p>{}</p>", "x".repeat(100_000)));
    let deep = format!("{{\\rtf1{{\\*\\moMath{}x", r"{\mrad{\me".repeat(100_000));
    assert!(read(deep.as_bytes()).is_ok());
}

#[test]
fn document_properties_are_kept() {
    let document = read(br"{\rtf1{\info{\title My {\b title}}{\author A. B.}}x}").unwrap();
    assert_eq!(
        document.properties,
        [("title", "My title"), ("author", "A. B.")].map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
}

#[test]
fn broken_files_are_read_without_panic() {
    for rtf in [
        "{\\rtf1", "{\\rtf1}}}}", "{\\rtf1 \\u55357?", "{\\rtf1 \\bin99999 x", "{\\rtf1{\\footnote a",
    ] {
        assert!(read(rtf.as_bytes()).is_ok(), "{rtf}");
    }
    let deep = format!("{{\\rtf1{}x\\par", "{".repeat(100_000));
    assert!(read(deep.as_bytes()).is_ok());
    assert!(read(b"no").is_err());
}
