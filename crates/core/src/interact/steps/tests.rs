use super::*;

fn name(name: &str) -> ElementRef {
    ElementRef {
        name: name.to_owned(),
        ..ElementRef::default()
    }
}

fn kind(text: &str, hint: Hint) -> ElementRef {
    ElementRef {
        hint: Some(hint),
        ..name(text)
    }
}

fn nth(text: &str, hint: Hint, nth: i32) -> ElementRef {
    ElementRef {
        nth: Some(nth),
        ..kind(text, hint)
    }
}

fn click(text: &str) -> Step {
    Step::Click(name(text), 1)
}

fn click_kind(text: &str, hint: Hint) -> Step {
    Step::Click(kind(text, hint), 1)
}

fn types(words: &str, field: &str) -> Step {
    Step::Type(words.to_owned(), Some(kind(field, Hint::Field)))
}

fn press(key: &str) -> Step {
    Step::Press(key.to_owned(), 1)
}

fn open(address: &str) -> Step {
    Step::Open(address.to_owned())
}

fn read(words: &str) -> Step {
    Step::Read(ReadTarget::Words(words.to_owned()))
}

fn select(option: &str, list: &str) -> Step {
    Step::Select(option.to_owned(), Some(name(list)))
}

fn list(option: &str, list: &str) -> Step {
    Step::Select(option.to_owned(), Some(kind(list, Hint::List)))
}

fn windows(windows: i64) -> Step {
    Step::Scroll(Scroll::Windows(windows))
}

#[test]
fn single_steps_are_parsed_in_many_forms() {
    #[rustfmt::skip]
    let table: Vec<(&str, Step)> = vec![
        ("go to example.com", open("example.com")),
        ("Go to https://example.com/a?b=1.", open("https://example.com/a?b=1")),
        ("please open www.example.com", open("www.example.com")),
        ("Visit the page \"http://127.0.0.1:8080/x\"", open("http://127.0.0.1:8080/x")),
        ("navigate to localhost:3000", open("localhost:3000")),
        ("open /pricing", open("/pricing")),
        ("Browse to the website example.org", open("example.org")),
        ("go to the Pricing page", click_kind("Pricing", Hint::Link)),
        ("open the menu", click("menu")),
        ("open the Settings tab", click_kind("Settings", Hint::Tab)),
        ("go back", Step::Back),
        ("go back to the previous page", Step::Back),
        ("Back", Step::Back),
        ("go forward", Step::Forward),
        ("reload the page", Step::Reload),
        ("refresh", Step::Reload),
        ("click Sign in", click("Sign in")),
        ("Click on \"Sign in\".", click("Sign in")),
        ("tap the Sign in button", click_kind("Sign in", Hint::Button)),
        ("click the button labeled \"Add to cart\"", click_kind("Add to cart", Hint::Button)),
        ("click the link that says Read more", click_kind("Read more", Hint::Link)),
        ("click the \"Terms and Conditions\" link", click_kind("Terms and Conditions", Hint::Link)),
        ("click Terms and Conditions", click("Terms and Conditions")),
        ("click the first link", Step::Click(nth("", Hint::Link, 0), 1)),
        ("click the second \"Add\" button", Step::Click(nth("Add", Hint::Button, 1), 1)),
        ("Click the last result link", Step::Click(nth("result", Hint::Link, -1), 1)),
        ("double-click the Edit button", Step::Click(kind("Edit", Hint::Button), 2)),
        ("press the Send button", click_kind("Send", Hint::Button)),
        ("Sign in", click("Sign in")),
        ("log out", click("log out")),
        ("follow the link to Imprint", click_kind("Imprint", Hint::Link)),
        ("click Blog in the menu", click("Blog")),
        ("type x into Email", types("x", "Email")),
        ("Type \"a, b and c\" into the \"Full name\" field", types("a, b and c", "Full name")),
        ("enter jane@example.com in the email box", types("jane@example.com", "email")),
        ("enter 'secret' as the password", types("secret", "password")),
        ("write Hello World in Message", types("Hello World", "Message")),
        ("fill in Email with a@b.c", types("a@b.c", "Email")),
        ("fill the Name field with O'Brien", types("O'Brien", "Name")),
        ("fill 'x' into Comment", types("x", "Comment")),
        ("set Quantity to 3", types("3", "Quantity")),
        ("put 5 into the quantity input", types("5", "quantity")),
        ("type hello", Step::Type("hello".to_owned(), None)),
        ("clear the Search field", types("", "Search")),
        ("search for red shoes", Step::Search("red shoes".to_owned())),
        ("Search for \"blue, green\" in the search box", Step::Search("blue, green".to_owned())),
        ("press Enter", press("Enter")),
        ("hit the return key", press("Enter")),
        ("press Tab 3 times", Step::Press("Tab".to_owned(), 3)),
        ("press the down arrow twice", Step::Press("ArrowDown".to_owned(), 2)),
        ("press Ctrl+A", press("Control+a")),
        ("press Escape", press("Escape")),
        ("press F5", press("F5")),
        ("select Blue in Color", select("Blue", "Color")),
        ("choose \"Dark blue\" from the Color dropdown", list("Dark blue", "Color")),
        ("pick Large for Size", select("Large", "Size")),
        ("select the option Red", Step::Select("Red".to_owned(), None)),
        ("check Remember me", Step::Check(kind("Remember me", Hint::Checkbox))),
        ("tick the \"I agree\" checkbox", Step::Check(kind("I agree", Hint::Checkbox))),
        ("turn on Notifications", Step::Check(kind("Notifications", Hint::Checkbox))),
        ("uncheck Newsletter", Step::Uncheck(kind("Newsletter", Hint::Checkbox))),
        ("switch off the Dark mode toggle", Step::Uncheck(kind("Dark mode", Hint::Checkbox))),
        ("hover over Products", Step::Hover(name("Products"))),
        ("move the mouse over the Help icon", Step::Hover(kind("Help", Hint::Image))),
        ("submit the form", Step::Submit),
        ("submit", Step::Submit),
        ("scroll down", windows(1)),
        ("scroll up a bit", windows(-1)),
        ("scroll down 3 times", windows(3)),
        ("scroll down by 500 pixels", Step::Scroll(Scroll::Pixels(0, 500))),
        ("scroll up 200px", Step::Scroll(Scroll::Pixels(0, -200))),
        ("scroll right 50 px", Step::Scroll(Scroll::Pixels(50, 0))),
        ("scroll to the bottom of the page", Step::Scroll(Scroll::Bottom)),
        ("scroll all the way down", Step::Scroll(Scroll::Bottom)),
        ("go to the top", Step::Scroll(Scroll::Top)),
        ("scroll to Reviews", Step::Scroll(Scroll::To(name("Reviews")))),
        ("scroll the Reviews heading into view", Step::Scroll(Scroll::To(kind("Reviews", Hint::Heading)))),
        ("page down", windows(1)),
        ("wait 2 seconds", Step::Wait(2_000)),
        ("wait for 500ms", Step::Wait(500)),
        ("wait 1.5 s", Step::Wait(1_500)),
        ("pause for half a second", Step::Wait(500)),
        ("wait a few seconds", Step::Wait(3_000)),
        ("wait two seconds", Step::Wait(2_000)),
        ("wait a moment", Step::Wait(1_000)),
        ("wait", Step::Wait(1_000)),
        ("wait for \"Order placed\" to appear", Step::WaitFor("Order placed".to_owned())),
        ("wait until Results is visible", Step::WaitFor("Results".to_owned())),
        ("wait for the page to load", Step::WaitForPage),
        ("read the price", read("price")),
        ("tell me the total price.", read("total price")),
        ("What is the price?", read("price")),
        ("what does the heading say", read("heading")),
        ("get the text of the result", read("result")),
        ("extract \"The Total\"", read("The Total")),
        ("return the price of the lamp", read("price of the lamp")),
        ("how much does it cost?", read("price")),
        ("read the page", Step::Read(ReadTarget::Page)),
        ("tell me the title of the page", Step::Read(ReadTarget::Title)),
        ("what is the page title?", Step::Read(ReadTarget::Title)),
        ("give me the current url", Step::Read(ReadTarget::Url)),
        ("take a screenshot", Step::Screenshot),
        ("Take a full screenshot of the page", Step::Screenshot),
        ("screenshot", Step::Screenshot),
    ];
    assert!(table.len() >= 60);
    let wrong: Vec<String> = table
        .into_iter()
        .filter(|(prompt, expected)| parse_steps(prompt).as_deref() != Ok(std::slice::from_ref(expected)))
        .map(|(prompt, expected)| format!("{prompt}: {:?} is not {expected:?}", parse_steps(prompt)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sequences_of_steps_are_parsed_in_many_forms() {
    let login = || {
        vec![
            click("Sign in"),
            types("x", "Email"),
            press("Enter"),
            read("price"),
        ]
    };
    for prompt in [
        "click Sign in, type x into Email, press Enter, read the price",
        "Click Sign in. Type x into Email. Press Enter. Read the price.",
        "1. Click Sign in\n2. Type x into Email\n3. Press Enter\n4. Read the price",
        "1) click Sign in 2) type x into Email 3) press Enter 4) read the price",
        "- click Sign in\n- type x into Email\n- press Enter\n- read the price",
        "First click Sign in, then type \"x\" into Email and press Enter; finally read the price",
        "Please click “Sign in” and then type 'x' into the Email. After that press Enter and tell me the price!",
        "Step 1: click Sign in\nStep 2: type x into Email\nStep 3: press Enter\nStep 4: what is the price?",
        "* click Sign in\n\n* type x into Email, and press Enter\n* then read the price",
        "I want you to click Sign in, type x into Email, hit enter & read the price",
    ] {
        let read = parse_steps(prompt).map(|steps| {
            steps
                .into_iter()
                .map(|step| match step {
                    Step::Type(text, Some(field)) => types(&text, &field.name),
                    other => other,
                })
                .collect()
        });
        assert_eq!(read, Ok(login()), "{prompt}");
    }
    assert_eq!(
        parse_steps("go to https://shop.test/a,b?c=d, wait 2 seconds and take a screenshot"),
        Ok(vec![
            open("https://shop.test/a,b?c=d"),
            Step::Wait(2_000),
            Step::Screenshot
        ])
    );
    assert_eq!(
        parse_steps("type a into User and b into Password, then click Log in"),
        Ok(vec![types("a", "User"), types("b", "Password"), click("Log in")])
    );
    assert_eq!(
        parse_steps("Fill in Name with Ann and Email with ann@x.test and submit"),
        Ok(vec![
            types("Ann", "Name"),
            types("ann@x.test", "Email"),
            Step::Submit
        ])
    );
    assert_eq!(
        parse_steps("select Blue in Color, check Remember me, go back"),
        Ok(vec![
            select("Blue", "Color"),
            Step::Check(kind("Remember me", Hint::Checkbox)),
            Step::Back
        ])
    );
    assert_eq!(
        parse_steps("type \"hello, click me and wait. ok\" into Notes"),
        Ok(vec![types("hello, click me and wait. ok", "Notes")])
    );
}

#[test]
fn clauses_that_are_not_understood_are_reported() {
    for (prompt, unknown) in [
        ("", vec![""]),
        ("make me a sandwich", vec!["make me a sandwich"]),
        ("click Sign in, then solve the puzzle", vec!["solve the puzzle"]),
        (
            "click Sign in and summarize what you see",
            vec!["summarize what you see"],
        ),
        (
            "click the thing that all of us would like to see most when we are here",
            vec!["click the thing that all of us would like to see most when we are here"],
        ),
        ("Summarize this page", vec!["Summarize this page"]),
        ("check that the price is low", vec!["that the price is low"]),
        (
            "compare the prices. click Buy. If it is cheap, buy it",
            vec!["compare the prices", "If it is cheap, buy it"],
        ),
        ("log in with the user bob", vec!["log in with the user bob"]),
        ("click", vec!["click"]),
        ("wait 10 hours", vec!["wait 10 hours"]),
        ("scroll sideways quickly", vec!["scroll sideways quickly"]),
    ] {
        let read = parse_steps(prompt).unwrap_err();
        if prompt.starts_with("check") {
            assert!(read[0].contains(unknown[0]), "{read:?}");
        } else {
            assert_eq!(read, unknown, "{prompt}");
        }
    }
    let many = "go back. ".repeat(MAX_STEPS + 1);
    assert_eq!(
        parse_steps(&many),
        Err(vec![format!("more than {MAX_STEPS} steps")])
    );
}

#[test]
fn no_prompt_makes_the_parser_panic() {
    let marks = [
        "", "\"", "'", "and", ",", "then", ".", "click", "type", "into", "1.", "(", "ä", "\n", "step",
        "scroll", "to",
    ];
    for first in marks {
        for second in marks {
            for third in marks {
                let _read = parse_steps(&format!("{first} {second}{third} {first}"));
            }
        }
    }
}
