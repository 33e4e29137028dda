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
pub(crate) struct ScriptError {
    pub(crate) number: usize,
    pub(crate) reason: String,
}

/// Splits a script into commands.
pub(crate) struct Script<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    number: usize,
    failed: bool,
}

enum Token {
    Word(String),
    /// `&&` or a newline.
    EndOfCommand,
    /// The end of the script.
    EndOfScript,
}

impl<'a> Script<'a> {
    pub(crate) fn new(text: &'a str) -> Script<'a> {
        Script {
            rest: text.chars().peekable(),
            number: 1,
            failed: false,
        }
    }

    fn line(&mut self) -> Result<Option<Line>, ScriptError> {
        let mut words = Vec::new();
        let mut number = self.number;
        loop {
            match self.token(words.is_empty())? {
                Token::Word(word) => {
                    if words.is_empty() {
                        number = self.number - word.matches('\n').count();
                    }
                    if words.len() == limits::COMMAND_WORDS {
                        return self.error(format!("a command has at most {} words", limits::COMMAND_WORDS));
                    }
                    words.push(word);
                }
                Token::EndOfCommand if words.is_empty() => {}
                Token::EndOfScript if words.is_empty() => return Ok(None),
                Token::EndOfCommand | Token::EndOfScript => return Ok(Some(Line { number, words })),
            }
        }
    }

    fn token(&mut self, first: bool) -> Result<Token, ScriptError> {
        let mut word: Option<String> = None;
        loop {
            let Some(&next) = self.rest.peek() else {
                return Ok(word.map_or(Token::EndOfScript, Token::Word));
            };
            match next {
                '\n' if word.is_none() => {
                    self.next_char();
                    return Ok(Token::EndOfCommand);
                }
                '&' if word.is_none() => {
                    self.next_char();
                    if self.rest.next_if_eq(&'&').is_none() {
                        return self.error(not_a_shell("`&` runs something in the background"));
                    }
                    return Ok(Token::EndOfCommand);
                }
                c if c.is_whitespace() => {
                    if let Some(word) = word {
                        return Ok(Token::Word(word));
                    }
                    self.next_char();
                }
                '&' if self.starts_with("&&") => return Ok(Token::Word(word.unwrap_or_default())),
                '#' if word.is_none() && (first || self.is_comment()) => {
                    while self.rest.next_if(|c| *c != '\n').is_some() {}
                }
                '\'' | '"' => {
                    self.next_char();
                    self.read_quoted(next, word.get_or_insert_default())?;
                }
                '\\' => {
                    self.next_char();
                    match self.next_char() {
                        // The command continues in the next line.
                        Some('\n') => {}
                        Some(c) => word.get_or_insert_default().push(c),
                        None => return self.error("the script ends with a backslash".to_owned()),
                    }
                }
                '|' => return self.error(not_a_shell("`|` is a pipe")),
                ';' => return self.error(not_a_shell("`;` is not supported; use a new line or `&&`")),
                '<' | '>' => {
                    return self.error(not_a_shell(&format!("`{next}` is a redirect; quote a selector")));
                }
                '`' => return self.error(not_a_shell("a backtick is a subshell; quote a script")),
                '(' if word.is_none() => return self.error(not_a_shell("`(` is a subshell; quote a script")),
                '$' if self.starts_with("$(") => {
                    return self.error(not_a_shell("`$(` is a subshell; quote a script"));
                }
                c => {
                    self.next_char();
                    word.get_or_insert_default().push(c);
                }
            }
        }
    }

    fn read_quoted(&mut self, mark: char, word: &mut String) -> Result<(), ScriptError> {
        let number = self.number;
        loop {
            match self.next_char() {
                Some(c) if c == mark => return Ok(()),
                Some('\\') if mark == '"' => match self.next_char() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => word.push(c),
                    Some(c) => word.extend(['\\', c]),
                    None => {}
                },
                Some(c) => word.push(c),
                None => {
                    self.number = number;
                    return self.error(format!("the quote {mark} is not closed"));
                }
            }
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest.next();
        self.number += usize::from(c == Some('\n'));
        c
    }

    /// Returns whether exactly this text comes next.
    fn starts_with(&self, text: &str) -> bool {
        let mut rest = self.rest.clone();
        text.chars().all(|c| rest.next() == Some(c))
    }

    /// Returns whether a `#` after other words starts a comment, not a selector.
    fn is_comment(&self) -> bool {
        let mut rest = self.rest.clone();
        rest.next();
        rest.next().is_none_or(char::is_whitespace)
    }

    fn error<T>(&self, reason: String) -> Result<T, ScriptError> {
        Err(ScriptError {
            number: self.number,
            reason,
        })
    }
}

impl Iterator for Script<'_> {
    type Item = Result<Line, ScriptError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let line = self.line().transpose();
        self.failed = matches!(line, Some(Err(_)));
        line
    }
}

fn not_a_shell(what: &str) -> String {
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
        let check_error = |script: &str, number: usize, words: &str| {
            let error = Script::new(script).find_map(Result::err).unwrap();
            assert_eq!(error.number, number, "{script}");
            assert!(error.reason.contains(words), "{script}: {}", error.reason);
        };
        check_error("snapshot | grep x", 1, "not a system shell");
        check_error("back\nsnapshot|grep x", 2, "pipe");
        check_error("snapshot > file", 1, "redirect");
        check_error("eval < file", 1, "redirect");
        check_error("back; forward", 1, "new line or `&&`");
        check_error("open $(cat x)", 1, "subshell");
        check_error("open `cat x`", 1, "subshell");
        check_error("(back)", 1, "subshell");
        check_error("back &", 1, "background");
        check_error("back\nfill @e1 \"x\n\n", 2, "not closed");
    }

    #[test]
    fn parsing_stops_at_an_error() {
        let mut script = Script::new("a\nb; c\nd");
        assert!(script.next().unwrap().is_ok());
        assert!(script.next().unwrap().is_err());
        assert!(script.next().is_none());
    }
}
