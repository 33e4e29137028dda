//! Results of the program on the command line.

use std::process::Output;

/// Asserts the exit code and returns standard output and standard error.
#[track_caller]
pub fn printed(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{out}\n{err}");
    (out, err)
}
