use serde_json::json;

use super::*;

/// A node: id, role, name, further fields, children.
fn node(id: u32, role: &str, name: &str, more: Value, children: &[u32]) -> Value {
    let mut node = json!({
        "nodeId": id.to_string(),
        "role": {"type": "role", "value": role},
        "name": {"type": "computedString", "value": name},
        "childIds": children.iter().map(u32::to_string).collect::<Vec<_>>(),
        "backendDOMNodeId": id,
    });
    if let (Value::Object(node), Value::Object(more)) = (&mut node, more) {
        node.extend(more);
    }
    node
}

fn frame(owner: Option<(usize, i64)>, nodes: Vec<Value>) -> FrameTree {
    FrameTree {
        owner,
        tree: AxTree::read(&json!({"nodes": nodes}).to_string()),
        clickable: HashSet::new(),
    }
}

fn properties(all: &[(&str, Value)]) -> Value {
    let all: Vec<Value> = all
        .iter()
        .map(|(name, value)| json!({"name": name, "value": {"type": "any", "value": value}}))
        .collect();
    json!({"properties": all})
}

fn none() -> Value {
    json!({})
}

#[test]
fn a_page_is_written_one_element_per_line() {
    let frames = [frame(
        None,
        vec![
            node(1, "RootWebArea", "Shop", none(), &[2, 3, 6, 9, 11, 12]),
            node(2, "heading", "Title", properties(&[("level", json!(1))]), &[20]),
            node(20, "StaticText", "Title", none(), &[21]),
            node(21, "InlineTextBox", "Title", none(), &[]),
            node(3, "paragraph", "", none(), &[4, 5, 8]),
            node(4, "StaticText", "Only ", none(), &[]),
            node(5, "strong", "", none(), &[50]),
            node(50, "StaticText", "two", none(), &[]),
            node(8, "StaticText", " left\u{200b}.", none(), &[]),
            node(6, "generic", "", none(), &[7]),
            node(
                7,
                "textbox",
                "Email",
                json!({"value": {"type": "string", "value": "a@b.c"}}),
                &[70],
            ),
            node(70, "generic", "", none(), &[71]),
            node(71, "StaticText", "a@b.c", none(), &[]),
            node(
                9,
                "checkbox",
                "Keep \"me\"",
                properties(&[("checked", json!("true"))]),
                &[],
            ),
            node(
                11,
                "button",
                "Send",
                properties(&[("disabled", json!(true)), ("focusable", json!(true))]),
                &[],
            ),
            node(12, "link", "", none(), &[13]),
            node(13, "image", "Logo", none(), &[]),
        ],
    )];
    let full = Snapshot::of(&frames, false);
    assert_eq!(
        full.text,
        "\
- heading \"Title\" [level=1, ref=e1]
- paragraph: Only two left.
- textbox \"Email\" [ref=e2]: a@b.c
- checkbox \"Keep \\\"me\\\"\" [checked=true, ref=e3]
- button \"Send\" [disabled, ref=e4]
- link [ref=e5]
  - image \"Logo\" [ref=e6]
"
    );
    assert_eq!(full.elements.len(), 6);
    assert_eq!(
        (full.elements[1].node, full.elements[1].value.as_deref()),
        (7, Some("a@b.c"))
    );
    let interactive = Snapshot::of(&frames, true);
    assert_eq!(
        interactive.text,
        "\
- textbox \"Email\" [ref=e1]: a@b.c
- checkbox \"Keep \\\"me\\\"\" [checked=true, ref=e2]
- button \"Send\" [disabled, ref=e3]
- link [ref=e4]
"
    );
}

#[test]
fn texts_of_different_boxes_are_on_different_lines() {
    let frames = [frame(
        None,
        vec![
            node(1, "RootWebArea", "", none(), &[2, 4, 6]),
            node(2, "generic", "", none(), &[3]),
            node(3, "StaticText", "one", none(), &[]),
            node(4, "generic", "", none(), &[5]),
            node(5, "StaticText", "two", none(), &[]),
            node(6, "generic", "", json!({"ignored": true}), &[7]),
            node(7, "StaticText", "three", none(), &[]),
        ],
    )];
    assert_eq!(
        Snapshot::of(&frames, false).text,
        "- text: one\n- text: two\n- text: three\n"
    );
}

#[test]
fn frames_appear_at_their_frame_elements() {
    let inner = frame(
        Some((0, 2)),
        vec![
            node(1, "RootWebArea", "", none(), &[2]),
            node(2, "button", "Pay", none(), &[]),
        ],
    );
    let outer = frame(
        None,
        vec![
            node(1, "RootWebArea", "", none(), &[2, 3]),
            node(2, "Iframe", "", none(), &[]),
            node(3, "button", "Pay", none(), &[]),
        ],
    );
    let snapshot = Snapshot::of(&[outer, inner], true);
    assert_eq!(
        snapshot.text,
        "- Iframe\n  - button \"Pay\" [ref=e1]\n- button \"Pay\" [ref=e2]\n"
    );
    assert_eq!((snapshot.elements[0].frame, snapshot.elements[1].frame), (1, 0));
}

#[test]
fn a_focusable_box_gets_a_reference() {
    let focusable = || properties(&[("focusable", json!(true))]);
    let frames = [frame(
        None,
        vec![
            node(1, "RootWebArea", "", focusable(), &[2]),
            node(2, "generic", "", focusable(), &[3]),
            node(3, "StaticText", "Menu", none(), &[]),
        ],
    )];
    assert_eq!(Snapshot::of(&frames, false).text, "- generic [ref=e1]: Menu\n");
}

#[test]
fn an_element_that_only_looks_clickable_is_named_by_its_text() {
    let mut page = frame(
        None,
        vec![
            node(1, "RootWebArea", "", none(), &[2, 5]),
            node(2, "generic", "", none(), &[3, 4]),
            node(3, "StaticText", "Buy ", none(), &[]),
            node(4, "strong", "", none(), &[6]),
            node(6, "StaticText", "now", none(), &[]),
            node(5, "generic", "", json!({"ignored": true}), &[7]),
            node(7, "StaticText", "More", none(), &[]),
        ],
    );
    page.clickable = HashSet::from([2, 5]);
    for interactive in [false, true] {
        let snapshot = Snapshot::of(std::slice::from_ref(&page), interactive);
        assert_eq!(
            snapshot.text,
            "- clickable \"Buy now\" [ref=e1]\n- clickable \"More\" [ref=e2]\n"
        );
        assert_eq!(snapshot.elements[1].name, "More");
    }
}

#[test]
fn a_snapshot_is_never_larger_than_its_limit() {
    let long = "word ".repeat(1000);
    let children: Vec<u32> = (2..4002).collect();
    let mut nodes = vec![node(1, "RootWebArea", "", none(), &children)];
    nodes.extend(children.iter().map(|id| node(*id, "button", &long, none(), &[])));
    let snapshot = Snapshot::of(&[frame(None, nodes)], false);
    assert!(snapshot.text.len() < limits::SNAPSHOT_BYTES + 100);
    assert!(snapshot.text.ends_with(" more lines)\n"));
    assert!(snapshot.text.lines().next().unwrap().ends_with("…\" [ref=e1]"));
    assert_eq!(snapshot.elements.len(), 4000);
}

#[test]
fn an_endless_tree_is_cut_at_the_depth_limit() {
    let frames = [frame(
        None,
        vec![
            node(1, "RootWebArea", "", none(), &[2]),
            node(2, "group", "a", none(), &[2]),
        ],
    )];
    let snapshot = Snapshot::of(&frames, false);
    assert_eq!(snapshot.text.lines().count(), limits::SNAPSHOT_DEPTH);
}

#[test]
fn an_invalid_tree_gives_an_empty_snapshot() {
    for tree in [json!({}), json!({"nodes": 1}), json!({"nodes": [{"role": 1}]})] {
        let frames = [FrameTree {
            owner: None,
            tree: AxTree::read(&tree.to_string()),
            clickable: HashSet::new(),
        }];
        assert_eq!(Snapshot::of(&frames, false), Snapshot::default());
    }
    assert_eq!(Snapshot::of(&[], false), Snapshot::default());
}
