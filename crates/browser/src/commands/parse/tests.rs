use super::*;
use crate::commands::script::Script;

fn parse(line: &str) -> Result<Command, String> {
    let line = Script::new(line).next().unwrap().unwrap();
    Command::parse(&line.words)
}

fn css(selector: &str) -> Target {
    find(By::Css, selector)
}

fn find(by: By, words: &str) -> Target {
    Target::Find(Find {
        by,
        words: words.to_owned(),
        name: None,
        exact: false,
        nth: 0,
    })
}

fn wait(until: WaitCondition) -> Command {
    Command::Wait { until, timeout: None }
}

fn scroll(direction: Direction, pixels: u32, target: Option<Target>) -> Command {
    Command::Scroll {
        direction,
        pixels,
        target,
    }
}

#[test]
fn every_command_is_parsed() {
    let url = |text: &str| Url::parse(text).unwrap();
    let first = || Target::Reference(1);
    #[rustfmt::skip]
    let table: Vec<(&str, Command)> = vec![
        ("open https://a.test/x?y=1#z", Command::Open(url("https://a.test/x?y=1#z"))),
        ("agent-browser open a.test", Command::Open(url("https://a.test/"))),
        ("goto a.test:8080/x", Command::Open(url("https://a.test:8080/x"))),
        ("navigate localhost:8080/x", Command::Open(url("http://localhost:8080/x"))),
        ("open about:blank", Command::Open(url("about:blank"))),
        ("back", Command::Back),
        ("npx agent-browser forward", Command::Forward),
        ("reload", Command::Reload),
        ("snapshot", Command::Snapshot { interactive: false }),
        ("snapshot -i", Command::Snapshot { interactive: true }),
        ("click @e1", Command::Act(first(), Act::Click)),
        ("click ref=e1", Command::Act(first(), Act::Click)),
        ("click e1", Command::Act(first(), Act::Click)),
        ("click @e12", Command::Act(Target::Reference(12), Act::Click)),
        ("click #send", Command::Act(css("#send"), Act::Click)),
        ("click em", Command::Act(css("em"), Act::Click)),
        ("click 'div > a'", Command::Act(css("div > a"), Act::Click)),
        ("click text=Sign\\ in", Command::Act(find(By::Text, "Sign in"), Act::Click)),
        ("click 'xpath=//a[1]'", Command::Act(find(By::XPath, "//a[1]"), Act::Click)),
        ("click //a", Command::Act(find(By::XPath, "//a"), Act::Click)),
        ("dblclick @e1", Command::Act(first(), Act::DoubleClick)),
        ("hover @e1", Command::Act(first(), Act::Hover)),
        ("focus @e1", Command::Act(first(), Act::Focus)),
        ("fill @e1 \"a b\"", Command::Act(first(), Act::Fill("a b".to_owned()))),
        ("fill @e1 a b", Command::Act(first(), Act::Fill("a b".to_owned()))),
        ("fill @e1 ''", Command::Act(first(), Act::Fill(String::new()))),
        ("fill @e1 -5", Command::Act(first(), Act::Fill("-5".to_owned()))),
        ("type @e1 x", Command::Act(first(), Act::Type("x".to_owned()))),
        ("keyboard type 'a b'", Command::Type("a b".to_owned())),
        ("press Enter", Command::Press("Enter".to_owned())),
        ("key Control+A", Command::Press("Control+A".to_owned())),
        ("press @e1 Enter", Command::Act(first(), Act::Press("Enter".to_owned()))),
        ("check @e1", Command::Act(first(), Act::Check)),
        ("uncheck @e1", Command::Act(first(), Act::Uncheck)),
        ("select @e1 Blue", Command::Act(first(), Act::Select(vec!["Blue".to_owned()]))),
        ("select @e1 a 'b c'", Command::Act(first(), Act::Select(vec!["a".to_owned(), "b c".to_owned()]))),
        ("scrollintoview @e1", Command::Act(first(), Act::ScrollIntoView)),
        ("scroll down", scroll(Direction::Down, limits::SCROLL_PIXELS, None)),
        ("scroll", scroll(Direction::Down, limits::SCROLL_PIXELS, None)),
        ("scroll up 500", scroll(Direction::Up, 500, None)),
        ("scroll left 20px", scroll(Direction::Left, 20, None)),
        ("scroll right 5 --selector .box", scroll(Direction::Right, 5, Some(css(".box")))),
        ("get text", Command::Get(Property::Text(None))),
        ("get text @e1", Command::Get(Property::Text(Some(first())))),
        ("get html main", Command::Get(Property::Html(Some(css("main"))))),
        ("get value @e1", Command::Get(Property::Value(first()))),
        ("get attr @e1 href", Command::Get(Property::Attribute(first(), "href".to_owned()))),
        ("get attr href @e1", Command::Get(Property::Attribute(first(), "href".to_owned()))),
        ("get url", Command::Get(Property::Url)),
        ("get title", Command::Get(Property::Title)),
        ("is visible @e1", Command::Is(ElementState::Visible, first())),
        ("is enabled button", Command::Is(ElementState::Enabled, css("button"))),
        ("is checked @e1", Command::Is(ElementState::Checked, first())),
        ("wait 500", wait(WaitCondition::Time(Duration::from_millis(500)))),
        ("wait @e1", wait(WaitCondition::Visible(first()))),
        ("wait .done", wait(WaitCondition::Visible(css(".done")))),
        ("wait --text 'All done'", wait(WaitCondition::Text("All done".to_owned()))),
        ("wait --url **/done", wait(WaitCondition::Url("**/done".to_owned()))),
        ("wait --load networkidle", wait(WaitCondition::NetworkIdle)),
        ("wait --load load", wait(WaitCondition::Load)),
        ("wait --fn 'window.x'", wait(WaitCondition::Script("window.x".to_owned()))),
        (
            "wait .x --timeout 700",
            Command::Wait {
                until: WaitCondition::Visible(css(".x")),
                timeout: Some(Duration::from_millis(700)),
            },
        ),
        ("screenshot", Command::Screenshot { full: false, jpeg: false }),
        ("screenshot --full page.jpg", Command::Screenshot { full: true, jpeg: true }),
        ("eval 'document.title'", Command::Eval("document.title".to_owned())),
        ("read", Command::Read(None)),
        ("read the price", Command::Read(Some("the price".to_owned()))),
        ("tab", Command::Tab(Tab::List)),
        ("tab list", Command::Tab(Tab::List)),
        ("tab 2", Command::Tab(Tab::Select(2))),
        ("tab t2", Command::Tab(Tab::Select(2))),
        ("tab new", Command::Tab(Tab::New(None))),
        ("tab new a.test", Command::Tab(Tab::New(Some(url("https://a.test/"))))),
        ("tab close", Command::Tab(Tab::Close(None))),
        ("tab close 3", Command::Tab(Tab::Close(Some(3)))),
        ("find text 'Sign in' click", Command::Act(find(By::Text, "Sign in"), Act::Click)),
        ("find text 'Sign in'", Command::Act(find(By::Text, "Sign in"), Act::Click)),
        (
            "find label Email fill a@b.c",
            Command::Act(find(By::Label, "Email"), Act::Fill("a@b.c".to_owned())),
        ),
        (
            "find placeholder Search type x",
            Command::Act(find(By::Placeholder, "Search"), Act::Type("x".to_owned())),
        ),
        ("find testid go text", Command::Get(Property::Text(Some(find(By::TestId, "go"))))),
    ];
    for (line, command) in table {
        assert_eq!(parse(line), Ok(command), "{line}");
    }
}

#[test]
fn find_by_role_accepts_a_name_and_find_nth_an_index() {
    let Ok(Command::Act(Target::Find(found), Act::Click)) =
        parse("find role button click --name Send --exact")
    else {
        panic!("not a click");
    };
    assert_eq!((found.by, found.words.as_str()), (By::Role, "button"));
    assert_eq!((found.name.as_deref(), found.exact), (Some("Send"), true));
    for (line, number) in [
        ("find nth 2 a hover", 2),
        ("find last a hover", -1),
        ("find first a hover", 0),
    ] {
        let Ok(Command::Act(Target::Find(found), Act::Hover)) = parse(line) else {
            panic!("{line}");
        };
        assert_eq!((found.by, found.nth), (By::Css, number));
    }
    let Ok(Command::Act(Target::Find(found), Act::Click)) = parse("click 'text=\"Sign in\"'") else {
        panic!("not a click");
    };
    assert_eq!((found.words.as_str(), found.exact), ("Sign in", true));
}

#[test]
fn invalid_commands_are_rejected_with_a_reason() {
    for (line, words) in [
        ("ls -l", "unknown command `ls`"),
        ("agent-browser", "needs a command"),
        ("click", "`click` needs an element"),
        ("click @x1", "not a reference"),
        ("click a b", "quote arguments"),
        ("fill @e1", "`fill` needs a text"),
        ("open", "needs a URL"),
        ("open file:///etc/passwd", "only http and https"),
        ("open javascript:alert(1)", "only http and https"),
        ("open data:text/html,x", "only http and https"),
        ("open chrome://version", "only http and https"),
        ("open about:version", "only http and https"),
        ("open view-source:https://a.test", "only http and https"),
        ("open 'https://'", "cannot open"),
        ("snapshot -x", "no option `-x`"),
        ("scroll sideways", "up, down, left and right"),
        ("scroll down far", "not a number of pixels"),
        ("get colour @e1", "`get` accepts"),
        ("get count @e1", "needs a selector"),
        ("is big @e1", "`is` accepts"),
        ("find colour red click", "`find` accepts"),
        ("find text x explode", "not `explode`"),
        ("wait", "needs an element"),
        ("wait --load soon", "networkidle"),
        ("wait --text", "needs a value"),
        ("screenshot /etc/x.txt", "does not end in .png, .jpg"),
        ("tab zero", "`tab` accepts"),
        ("tab 0", "`tab` accepts"),
        ("eval", "needs a script"),
    ] {
        let error = parse(line).unwrap_err();
        assert!(error.contains(words), "{line}: {error}");
    }
}
