//! Splits a script into commands as a shell does: words with quotes and backslashes, `&&`, comments. What
//! only a shell can do (pipes, redirects, subshells) is rejected.

use crate::limits;

/// One command as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// Line number of its start, from 1.
    pub(crate) number: usize,
    /// Its words, at least one.
    pub(crate) words: Vec<String>,
}

/// Why the rest of a script cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unreadable {
    pub(crate) number: usize,
    pub(crate) reason: String,
}

/// Splits a script into commands.
pub(crate) struct Script<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    number: usize,
    failed: bool,
}

enum Part {
    Word(String),
    /// `&&` or a newline.
    End,
    /// The end of the script.
    Over,
}

impl<'a> Script<'a> {
    pub(crate) fn new(text: &'a str) -> Script<'a> {
        Script {
            rest: text.chars().peekable(),
            number: 1,
            failed: false,
        }
    }

    fn line(&mut self) -> Result<Option<Line>, Unreadable> {
        let mut words = Vec::new();
        let mut number = self.number;
        loop {
            match self.part(words.is_empty())? {
                Part::Word(word) => {
                    if words.is_empty() {
                        number = self.number - word.matches('\n').count();
                    }
                    if words.len() == limits::COMMAND_WORDS {
                        return self.refuse(format!("a command has at most {} words", limits::COMMAND_WORDS));
                    }
                    words.push(word);
                }
                Part::End if words.is_empty() => {}
                Part::Over if words.is_empty() => return Ok(None),
                Part::End | Part::Over => return Ok(Some(Line { number, words })),
            }
        }
    }

    fn part(&mut self, first: bool) -> Result<Part, Unreadable> {
        let mut word: Option<String> = None;
        loop {
            let Some(&next) = self.rest.peek() else {
                return Ok(word.map_or(Part::Over, Part::Word));
            };
            match next {
                '\n' if word.is_none() => {
                    self.take();
                    return Ok(Part::End);
                }
                '&' if word.is_none() => {
                    self.take();
                    if self.rest.next_if_eq(&'&').is_none() {
                        return self.refuse(no_shell("`&` runs something in the background"));
                    }
                    return Ok(Part::End);
                }
                c if c.is_whitespace() => {
                    if let Some(word) = word {
                        return Ok(Part::Word(word));
                    }
                    self.take();
                }
                '&' if self.then("&&") => return Ok(Part::Word(word.unwrap_or_default())),
                '#' if word.is_none() && (first || self.comment()) => {
                    while self.rest.next_if(|c| *c != '\n').is_some() {}
                }
                '\'' | '"' => {
                    self.take();
                    self.quoted(next, word.get_or_insert_default())?;
                }
                '\\' => {
                    self.take();
                    match self.take() {
                        // The command continues in the next line.
                        Some('\n') => {}
                        Some(c) => word.get_or_insert_default().push(c),
                        None => return self.refuse("the script ends with a backslash".to_owned()),
                    }
                }
                '|' => return self.refuse(no_shell("`|` is a pipe")),
                ';' => return self.refuse(no_shell("`;` is not supported; use a new line or `&&`")),
                '<' | '>' => {
                    return self.refuse(no_shell(&format!("`{next}` is a redirect; quote a selector")));
                }
                '`' => return self.refuse(no_shell("a backtick is a subshell; quote a script")),
                '(' if word.is_none() => return self.refuse(no_shell("`(` is a subshell; quote a script")),
                '$' if self.then("$(") => return self.refuse(no_shell("`$(` is a subshell; quote a script")),
                c => {
                    self.take();
                    word.get_or_insert_default().push(c);
                }
            }
        }
    }

    fn quoted(&mut self, mark: char, word: &mut String) -> Result<(), Unreadable> {
        let number = self.number;
        loop {
            match self.take() {
                Some(c) if c == mark => return Ok(()),
                Some('\\') if mark == '"' => match self.take() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                    Some(c) => word.extend(['\\', c]),
                    None => {}
                },
                Some(c) => word.push(c),
                None => {
                    self.number = number;
                    return self.refuse(format!("the quote {mark} is not closed"));
                }
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.next();
        self.number += usize::from(c == Some('\n'));
        c
    }

    /// Returns whether exactly this text comes next.
    fn then(&self, text: &str) -> bool {
        let mut rest = self.rest.clone();
        text.chars().all(|c| rest.next() == Some(c))
    }

    /// Returns whether a `#` after other words starts a comment, not a selector.
    fn comment(&self) -> bool {
        let mut rest = self.rest.clone();
        rest.next();
        rest.next().is_none_or(char::is_whitespace)
    }

    fn refuse<T>(&self, reason: String) -> Result<T, Unreadable> {
        Err(Unreadable {
            number: self.number,
            reason,
        })
    }
}

impl Iterator for Script<'_> {
    type Item = Result<Line, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let line = self.line().transpose();
        self.failed = matches!(line, Some(Err(_)));
        line
    }
}

fn no_shell(what: &str) -> String {
    format!("this is not a system shell; only browser commands are supported: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, lines: &[(usize, &[&str])]) {
        let read: Vec<Line> = Script::new(script).map(Result::unwrap).collect();
        let read: Vec<(usize, Vec<&str>)> = read
            .iter()
            .map(|line| (line.number, line.words.iter().map(String::as_str).collect()))
            .collect();
        let lines: Vec<(usize, Vec<&str>)> = lines
            .iter()
            .map(|(number, words)| (*number, words.to_vec()))
            .collect();
        assert_eq!(read, lines, "{script}");
    }

    #[test]
    fn words_are_split_as_in_a_shell() {
        check("", &[]);
        check("\n  \n# nothing\n", &[]);
        check("snapshot -i", &[(1, &["snapshot", "-i"])]);
        check("a b && c\nd", &[(1, &["a", "b"]), (1, &["c"]), (2, &["d"])]);
        check("a&&b", &[(1, &["a"]), (1, &["b"])]);
        check(
            "\n\nfill @e1 \"a b\" # name\nback",
            &[(3, &["fill", "@e1", "a b"]), (4, &["back"])],
        );
        check("fill @e1 ''", &[(1, &["fill", "@e1", ""])]);
        check(
            r#"eval "say(\"a\", '$x', `y`, \n)""#,
            &[(1, &["eval", r#"say("a", '$x', `y`, \n)"#])],
        );
        check(r"eval 'a\b;|>$(x)'", &[(1, &["eval", r"a\b;|>$(x)"])]);
        check("eval 'a\nb'\nback", &[(1, &["eval", "a\nb"]), (3, &["back"])]);
        check("click \\\n  @e2", &[(1, &["click", "@e2"])]);
        check(
            "open https://a.test/?a=1&b=2#c",
            &[(1, &["open", "https://a.test/?a=1&b=2#c"])],
        );
        check("click #send", &[(1, &["click", "#send"])]);
        check("click a:not(.x)[href]", &[(1, &["click", "a:not(.x)[href]"])]);
        check(r"click a\ b", &[(1, &["click", "a b"])]);
        check("get text a'b c'\"d\"", &[(1, &["get", "text", "ab cd"])]);
        check("a &&\n b", &[(1, &["a"]), (2, &["b"])]);
        check("a\r\nb\r\n", &[(1, &["a"]), (2, &["b"])]);
    }

    #[test]
    fn shell_features_are_rejected_with_their_line_number() {
        let refused = |script: &str, number: usize, words: &str| {
            let error = Script::new(script).find_map(Result::err).unwrap();
            assert_eq!(error.number, number, "{script}");
            assert!(error.reason.contains(words), "{script}: {}", error.reason);
        };
        refused("snapshot | grep x", 1, "not a system shell");
        refused("back\nsnapshot|grep x", 2, "pipe");
        refused("snapshot > file", 1, "redirect");
        refused("eval < file", 1, "redirect");
        refused("back; forward", 1, "new line or `&&`");
        refused("open $(cat x)", 1, "subshell");
        refused("open `cat x`", 1, "subshell");
        refused("(back)", 1, "subshell");
        refused("back &", 1, "background");
        refused("back\nfill @e1 \"x\n\n", 2, "not closed");
    }

    #[test]
    fn parsing_stops_at_an_error() {
        let mut script = Script::new("a\nb; c\nd");
        assert!(script.next().unwrap().is_ok());
        assert!(script.next().unwrap().is_err());
        assert!(script.next().is_none());
    }
}
