//! HTML inputs and the Markdown that they must produce.

use expect_test::{Expect, expect};
use url::Url;

use crate::{HtmlPage, Selection};

fn markdown(html: &str) -> String {
    let url = Url::parse("https://site.test/docs/page.html").unwrap();
    let selection = Selection {
        remove_base64_images: true,
        ..Selection::default()
    };
    HtmlPage::parse(html, &url).convert(&selection).markdown()
}

fn check(html: &str, expected: Expect) {
    expected.assert_eq(&markdown(html));
}

#[test]
fn paragraphs_headings_and_breaks() {
    check(
        "<h1>A  b</h1><p>one\n two<br>three<p>four<br><br>five<hr><h3><b>C</b> #</h3>",
        expect![[r#"
            # A b

            one two  
            three

            four

            five

            ---

            ### C \#"#]],
    );
}

#[test]
fn rules_at_the_start_and_end_are_left_out() {
    check(
        "<hr><hr><p>one<hr><p>two<hr><hr>",
        expect![[r#"
            one

            ---

            two"#]],
    );
    check("<hr><pre>---</pre>", expect!["```\n---\n```"]);
}

#[test]
fn emphasis_keeps_spaces_outside_and_merges() {
    check(
        "a<b> b </b>c <i>d</i><i>e</i> <b>Note:</b>f <b></b><del>g</del> <b>h<b>i</b></b> x<b>(y)</b>",
        expect!["a **b** c *de* **Note:** f ~~g~~ **hi** x **(y)**"],
    );
    check(
        "<b>one<p>two</p>three</b>",
        expect![[r#"
        **one**

        **two**

        **three**"#]],
    );
    check("<a><b><<a>f", expect!["**<f**"]);
    check(
        "<a href=/x><b>one<a href=/y>two",
        expect!["[**one**](https://site.test/x)**[two](https://site.test/y)**"],
    );
    check(
        "x<sup>2</sup> H<sub>2</sub>O <q>said</q>",
        expect!["x<sup>2</sup> H<sub>2</sub>O “said”"],
    );
}

#[test]
fn readings_are_in_parentheses() {
    check(
        "<ruby>痴漢<rp>（</rp><rt>ちかん</rt><rp>）</rp></ruby>",
        expect!["痴漢（ちかん）"],
    );
    check(
        "<ruby>取<rt>と</rt>り<rt></rt></ruby>ます <ruby>[a]<rt>b</rt></ruby>",
        expect![[r"取(と)ります [a\](b)"]],
    );
}

#[test]
fn only_text_that_reads_as_markup_is_escaped() {
    check(
        "<p>1. a</p><p>- b</p><p># c</p><p>&gt; d</p><p>+1 and -2, #3, 4.5, a_b_c *x* _y_ 5 * 6 [z] [t](u) &lt;b> a &lt; b &amp;amp; &amp; c `d` \\* e\\f ~~g~~ ==</p>",
        expect![[r#"
            1\. a

            \- b

            \# c

            \> d

            +1 and -2, #3, 4.5, a_b_c \*x\* \_y\_ 5 * 6 [z] [t\](u) \<b> a < b \&amp; & c \`d\` \\\* e\f \~\~g\~\~ =="#]],
    );
    check(
        "<p>===</p><p>a<br>- b<br>---</p><p>2024. It was</p>",
        expect![[r#"
            \===

            a  
            \- b  
            \---

            2024\. It was"#]],
    );
}

#[test]
fn links_and_images() {
    check(
        "<a href='../x?a=1&amp;b=2'>t [1]</a> <a href=#s>s</a> <a href='javascript:x()'>js</a> <a>none</a> <a href=y></a> !<a href='z(1).html'>z</a> <a href='a(b'>u</a>",
        expect![[
            r#"[t \[1\]](https://site.test/x?a=1&b=2) [s](https://site.test/docs/page.html#s) js none \![z](https://site.test/docs/z(1).html) [u](https://site.test/docs/a\(b)"#
        ]],
    );
    check(
        "<img src=a.png alt='A [b]'> <a href=p><img src='/i.png' alt=''></a> <img alt=no> <img src='data:image/png;base64,AAAA' alt='inline'><img src='data:image/png;base64,AAAA'><img src='data:,' data-src=l.jpg>",
        expect![[
            r#"![A \[b\]](https://site.test/docs/a.png) [![](https://site.test/i.png)](https://site.test/docs/p) ![inline](<Base64-Image-Removed>)![](https://site.test/docs/l.jpg)"#
        ]],
    );
    check(
        "<a href=c><div><img src=i.png><h3>Title</h3><p>Text</p></div></a><a href=d><div>One</div><div>two</div></a>",
        expect![[r#"
            ![](https://site.test/docs/i.png)

            ### [Title](https://site.test/docs/c)

            Text

            [One two](https://site.test/docs/d)"#]],
    );
}

#[test]
fn lists() {
    check(
        "<ul><li>a<ul><li>b<ol start=3><li>c<li>d</ol></ul><li><p>e</p><p>f</p><pre>g\n h</pre></ul><ul><li>next</ul><ol><li>one</ol>",
        expect![[r#"
            - a
              - b
                3. c
                4. d
            - e

              f

              ```
              g
               h
              ```

            * next

            1. one"#]],
    );
    check(
        "<ul><li>a</li><ul><li>b</li></ul><li></li><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>",
        expect![[r#"
            - a
              - b
            - [x] done
            - [ ] open"#]],
    );
}

#[test]
fn quotes() {
    check(
        "<blockquote><p>a<p>b<blockquote>c</blockquote><ul><li>d</ul></blockquote><blockquote></blockquote>e",
        expect![[r#"
            > a
            >
            > b
            >
            > > c
            >
            > - d

            e"#]],
    );
}

#[test]
fn code() {
    check(
        "<p>use <code>a  `b`</code>, <code><a href=x>T</a></code> and <kbd>Ctrl</kbd></p><pre><code class=language-rust>fn a() {\n    \"&lt;x>\"\n}\n</code></pre><pre>```</pre>",
        expect![[r#"
            use `` a `b` ``, [`T`](https://site.test/docs/x) and `Ctrl`

            ```rust
            fn a() {
                "<x>"
            }
            ```

            ````
            ```
            ````"#]],
    );
    check(
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td><td class=code><div class='highlight-python'><pre>a\nb</pre></div></td></tr></table>",
        expect![[r#"
            ```python
            a
            b
            ```"#]],
    );
}

#[test]
fn tables() {
    check(
        "<table><thead><tr><th>A<th>B|c</thead><tr><td>1<br>2<td><p>x</p><p>y</p><tr><td colspan=2>wide<tr><td rowspan=2>r<td>s<tr><td>t</table>",
        expect![[r#"
            | A | B\|c |
            | --- | --- |
            | 1<br>2 | x<br>y |
            | wide | |
            | r | s |
            | | t |"#]],
    );
    check(
        "<table><tr><th rowspan=2>a<th>b<th rowspan=3>c<tr><tr><td>d<tr><td>e<td>f<td>g</table>",
        expect![[r#"
            | a | b | c |
            | --- | --- | --- |
            | d | | |
            | e | f | g |"#]],
    );
    check(
        "<table><tr><td>k<td>v</table><table><tr><td><h2>Layout</h2><p>text</p></table><table role=presentation><tr><td>a<td>b</table>",
        expect![[r#"
            | | |
            | --- | --- |
            | k | v |

            ## Layout

            text

            a

            b"#]],
    );
    check(
        "<table><caption>Cap</caption><tr><th>only<tr><td><code>a|b</code></table>",
        expect![[r#"
            Cap

            | only |
            | --- |
            | `a\|b` |"#]],
    );
}

#[test]
fn definitions_and_signatures() {
    check(
        "<dl><dt>Term<dd>What it is<dt><a href=x>Linked</a><dd><p>one<p>two</dl><dl class='py function'><dt class='sig sig-object py'>json.<b>dump</b>(<em>obj</em>, *, x=None)<a class=headerlink href=#d>¶</a></dt><dd><p>Does.</dd></dl>",
        expect![[r#"
            **Term**

            What it is

            [Linked](https://site.test/docs/x)

            one

            two

            `json.dump(obj, *, x=None)`

            Does."#]],
    );
}

#[test]
fn permalinks_and_controls_are_skipped() {
    check(
        "<h2>T<a class=headerlink href=#t title=Permalink>¶</a></h2><h2><a href=#u>#</a> U</h2><h3>V <a href='find/?name=v'>🔗</a></h3><h3 id=w><a class=heading-anchor href=#w>W w</a></h3><h3><a href=/x>X</a></h3><button>Copy</button><select><option>x</select><script>x</script><style>y</style><h3><button>Fold</button></h3><div class=highlight><span class=copybutton>&gt;&gt;&gt;</span><pre>x</pre></div>",
        expect![[r#"
            ## T

            ## U

            ### V

            ### W w

            ### [X](https://site.test/x)

            ### Fold

            ```
            x
            ```"#]],
    );
}

#[test]
fn footnotes_are_written_at_the_end() {
    check(
        "<p>a<sup><a href=#fn1 id=r1>1</a></sup> b<a class=footnote-ref href=#fn2>[2]</a> c<sup><a href=#gone>3</a></sup></p><section class=footnotes><h2>Notes</h2><ol><li id=fn1><p>One <a href=#r1 class=footnote-backref>↩</a></p><li id=fn2>Two</ol></section><p>end",
        expect![[r#"
            a[^1] b[^2] c<sup>[3](https://site.test/docs/page.html#gone)</sup>

            end

            [^1]: One
            [^2]: Two"#]],
    );
}

#[test]
fn callouts_are_quotes_with_a_kind() {
    check(
        "<div class='admonition warning'><p class=admonition-title>Warning</p><p>Take care.</p></div><div class='alert alert-info'><strong>Mind</strong> this</div><div class=note><h3 class=title>Note</h3><p>DocBook</p></div><div class=note>plain</div>",
        expect![[r#"
            > [!WARNING]
            > Take care.

            > [!NOTE]
            > **Mind** this

            > [!NOTE]
            > DocBook

            plain"#]],
    );
}

#[test]
fn footnotes_below_headings() {
    check(
        "<p>a<a id=DOCF1 href=#FOOT1><sup>1</sup></a> b<a id=DOCF2 href=#FOOT2><sup>2</sup></a></p><div class=footnote><hr><h4>Footnotes</h4><h5><a id=FOOT1 href=#DOCF1>(1)</a></h5><p>One</p> <h5><a id=FOOT2 href=#DOCF2>(2)</a></h5><p>Two</div>",
        expect![[r#"
            a[^1] b[^2]

            [^1]: One
            [^2]: Two"#]],
    );
}

#[test]
fn footnotes_of_word_documents() {
    check(
        "<p>a <sup><a href='#_ftn1'>[1]</a></sup> and b</p><p><sup><a href='//ABC#_ftnref1'>[1]</a></sup> The note.</p>",
        expect![[r#"
            a [^1] and b

            [^1]: The note."#]],
    );
}

#[test]
fn footnotes_without_links() {
    check(
        "<p>a<sup>1</sup> b<sup><a href='javascript:;'>2</a></sup> 10<sup>4</sup></p><ol><li id=footnote-1>One<li id=footnote-2>Two</ol>",
        expect![[r#"
            a[^1] b[^2] 10<sup>4</sup>

            [^1]: One
            [^2]: Two"#]],
    );
    check(
        "<p>10<sup>1</sup> a<sup><a href=#fn1>1</a></sup></p><ol><li id=fn1>One</ol>",
        expect![[r#"
            10<sup>1</sup> a[^1]

            [^1]: One"#]],
    );
}

#[test]
fn formulas_are_written_as_tex_when_available() {
    check(
        "<p>so <span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2_i</annotation></semantics></math></span>\
         <span class=katex-html>x2i</span></span> and <math alttext='\\alpha'><mi>α</mi></math> and <math><mi>y</mi></math></p>",
        expect![[r"so $x^2_i$ and $\alpha$ and y"]],
    );
}

#[test]
fn the_noscript_image_replaces_a_lazy_image() {
    check(
        "<p>a<p><span><img alt=A src='data:image/gif;base64,R0'><noscript><img alt=A src='/a.png'></noscript></span>",
        expect![[r"
            a

            ![A](https://site.test/a.png)"]],
    );
}

#[test]
fn noscript_after_a_template_holds_the_text_that_its_script_would_write() {
    let post = "A paragraph of the post. ".repeat(40);
    let labels = "<p>Label of the blog.</p>".repeat(40);
    let page = |kind: &str| {
        format!(
            "<div><script type='{kind}'><p>{post}</p></script>\n<noscript><p>{post}</p></noscript></div>{labels}"
        )
    };
    assert!(markdown(&page("text/template")).starts_with("A paragraph of the post."));
    assert!(markdown(&page("text/javascript")).starts_with("Label of the blog."));
}

#[test]
fn code_shown_as_a_block_becomes_a_block() {
    check(
        "<p>a</p><div><code class='lean block'>\n   def a := 1</code></div><div class=code-block data-lang=http>GET /\n\nx</div><b>x</b><b>y</b>",
        expect![[r"
            a

            ```lean
            def a := 1
            ```

            ```http
            GET /

            x
            ```

            **xy**"]],
    );
}

#[test]
fn a_link_with_an_anchor_class_to_another_target_is_kept() {
    check(
        "<ul><li><a class=anchor-link href=#two>Allianz: best of all</a></ul><div><h2 id=one>One</h2><a class=sl-anchor-link href=page.html#one>Section titled One</a></div><h2 id=two>Two</h2>",
        expect![[r"
            - [Allianz: best of all](https://site.test/docs/page.html#two)

            ## One

            ## Two"]],
    );
}

#[test]
fn images_and_controls_separate_words() {
    check(
        "<a href=x>Home</a><svg></svg><a href=y>Shop</a><svg></svg>, <label><input>Red</label><label><input>Blue</label> a<img>b c<select><option>x</select>. <h3>Title<button>Fold</button>up</h3>",
        expect![[r"
            [Home](https://site.test/docs/x) [Shop](https://site.test/docs/y), Red Blue a b c.

            ### Title Fold up"]],
    );
}

#[test]
fn adjacent_code_spans_are_separated() {
    check(
        "<p><code>U+00DF</code><code>0x C3</code>x<code>a</code></p>",
        expect!["`U+00DF` `0x C3`x`a`"],
    );
}

#[test]
fn a_check_box_is_a_task_only_with_text() {
    check(
        "<ul><li><input type=checkbox checked><div><p>Fold</p></div><li><input type=checkbox><ul><li>inner</ul><li>last</ul>",
        expect![[r"
            - [x] Fold
            - - inner
            - last"]],
    );
}

#[test]
fn a_caption_respects_the_selection() {
    let url = Url::parse("https://site.test/").unwrap();
    let page = HtmlPage::parse(
        "<table><tr><th>A<th>B<tr><td>1<td>2<caption>Of <a href=x>two</a> <i>years</i></table>",
        &url,
    );
    let without = |selector: &str| {
        let selection = Selection {
            exclude_tags: vec![crate::Selector::parse(selector).unwrap()],
            ..Selection::default()
        };
        page.convert(&selection).markdown()
    };
    let table = "| A | B |\n| --- | --- |\n| 1 | 2 |";
    assert_eq!(without("i"), format!("Of [two](https://site.test/x)\n\n{table}"));
    assert_eq!(without("caption"), table);
}

#[test]
fn code_with_links_and_emphasis_is_in_few_spans() {
    check(
        "<p><code>load(<em>ship</em>)</code> <code>x<b>y</b>(<a href=/s>Ship</a>)</code>",
        expect!["`load(ship)` `xy(` [`Ship`](https://site.test/s)`)`"],
    );
}

#[test]
fn code_in_a_cell_keeps_its_lines() {
    check(
        "<table><tr><th>A<th>B<tr><td>1<td><pre>if a|b:\n\n    c `d`\n</pre></table>",
        expect![[r"
            | A | B |
            | --- | --- |
            | 1 | `if a\|b:`<br>``     c `d` `` |"]],
    );
}

#[test]
fn formulas_come_from_text_scripts_and_mathml() {
    check(
        "<p>Let <span class=math>\\(a_b * c_d\\)</span> be<div class='math notranslate'>\\[\nx \\\\ y\\]</div>\
         <p>\\(not\\) $1 and $2",
        expect![[r"
            Let $a_b * c_d$ be

            $$x \\ y$$

            \\(not\\) $1 and $2"]],
    );
    check(
        "<script src=/MathJax.js></script><p>If \\(a*b*c\\), then \\(open and $$z_1$$",
        expect![[r"If $a*b*c$, then \\(open and $$z_1$$"]],
    );
    check(
        "<p>So <span class=MathJax_Preview>E</span><span class=MathJax>E</span><script type=math/tex>E = mc^2</script>!\
         <script type='math/tex; mode=display'>x_1</script><span class=math-container>$y_i$</span>",
        expect!["So $E = mc^2$!$$x_1$$$y_i$"],
    );
    check(
        "<p><math><mi>x</mi><mo>=</mo><mn>1</mn></math> <math><mi>x</mi><mo>=</mo><mfrac><mrow><mn>1</mn><mo>+</mo>\
         <msup><mi>y</mi><mn>2</mn></msup></mrow><msqrt><mn>2</mn><mi>z</mi></msqrt></mfrac></math>\
         <math display=block><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msub><mrow><mo>(</mo><mi>a</mi>\
         <mo>)</mo></mrow><mi>i</mi></msub></math>",
        expect![r"x=1 $x=\frac{1+y^{2}}{\sqrt{2z}}$$$∑_{i}^{n}{(a)}_{i}$$"],
    );
}

#[test]
fn callouts_in_tables_and_lists() {
    for html in [
        "<div class='admonitionblock note'><table><tr><td class=icon><div class=title>Note</div><td class=content>The \
         <b>text</b></table></div>",
        "<div class=note style='margin: 1em'><table><tr><td rowspan=2><img alt='[Note]' src=n.png><th align=left>Note\
         <tr><td><p>The <b>text</b></table></div>",
        "<div class=note><table><tr><td rowspan=2><img alt='[Note]' src=n.png><th><tr><td>The <b>text</b></table></div>",
        "<dl class='section note'><dt>Note</dt><dd>The <b>text</b></dd></dl>",
        "<dl class=note><dt><b>Note:</b></dt><dd>The <b>text</b></dd></dl>",
    ] {
        assert_eq!(markdown(html), "> [!NOTE]\n> The **text**", "{html}");
    }
    check(
        "<div class=tip><table><tr><td rowspan=2><img alt='[Tip]' src=n.png><th>Ropes<tr><td>Of hemp</table></div>\
         <dl class=note><dt>Quay<dd>Where ships lie</dl>",
        expect![[r"
            > [!TIP]
            > Ropes
            >
            > Of hemp

            **Quay**

            Where ships lie"]],
    );
}

#[test]
fn headings_by_role_and_with_links_to_themselves() {
    check(
        "<div role=heading aria-level=2>One</div><div role=heading aria-level=9>Two</div><h3><a href=#c>Three</a> \
         <a class=headerlink href=#t>¶</a></h3><h3><a href=#c>C#</a></h3>",
        expect![[r"
            ## One

            Two

            ### Three

            ### C\#"]],
    );
}
