//! Parses text into the arena: html5ever's tokenizer, a gate that limits what reaches the tree builder, and
//! the tree builder. The gate bounds the work on any input, because the tree builder is only fast while few
//! elements are open.

use std::cell::{Cell, RefCell};

use html5ever::TokenizerResult;
use html5ever::interface::{Tracer, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use super::attribute_limit;
use super::build::{Sink, is_formatting};
use super::dom::Dom;
use super::tag::Tag;
use crate::limits;

/// Parses a page. Never fails: what exceeds a limit is left out and the arena is marked truncated.
pub(crate) fn parse(html: &str) -> Dom {
    let mut cut = false;
    let mut html = html;
    if html.len() > limits::INPUT_BYTES {
        let mut at = limits::INPUT_BYTES;
        while !html.is_char_boundary(at) {
            at -= 1;
        }
        html = &html[..at];
        cut = true;
    }
    let options = TreeBuilderOpts {
        scripting_enabled: false,
        drop_doctype: true,
        ..TreeBuilderOpts::default()
    };
    let gate = Gate {
        builder: TreeBuilder::new(Sink::new(html.len()), options),
        open: CountBound::default(),
        formatting: CountBound::default(),
        emitted: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let mut feeder = Feeder {
        tokenizer,
        queue: BufferQueue::default(),
    };
    cut |= attribute_limit::feed(html, &mut feeder);
    let Feeder { tokenizer, .. } = feeder;
    tokenizer.end();
    if cut {
        tokenizer.sink.builder.sink.mark_truncated();
    }
    let mut dom = tokenizer.sink.builder.sink.finish();
    dom.detect_noscript_content();
    dom
}

/// An upper bound of a count that was exact when `created` elements existed; every later element may have
/// added one.
#[derive(Default)]
struct CountBound {
    exact: Cell<usize>,
    created: Cell<usize>,
}

impl CountBound {
    fn at_most(&self, created: usize) -> usize {
        self.exact.get() + (created - self.created.get())
    }

    fn set(&self, exact: usize, created: usize) {
        self.exact.set(exact);
        self.created.set(created);
    }
}

/// The tokenizer and its input queue.
struct Feeder {
    tokenizer: Tokenizer<Gate>,
    queue: BufferQueue,
}

impl attribute_limit::Feed for Feeder {
    fn feed(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.queue.push_back(StrTendril::from_slice(piece));
        while !matches!(self.tokenizer.feed(&self.queue), TokenizerResult::Done) {}
    }

    fn emitted(&self) -> usize {
        self.tokenizer.sink.emitted.get()
    }

    fn is_full(&self) -> bool {
        self.tokenizer.sink.builder.sink.is_full()
    }
}

struct Gate {
    emitted: Cell<usize>,
    builder: TreeBuilder<u32, Sink>,
    open: CountBound,
    formatting: CountBound,
}

/// Collects the handles that the tree builder holds: open elements, and formatting elements to be reopened.
struct HandleTracer<'a> {
    sink: &'a Sink,
    all: RefCell<Vec<u32>>,
    formatting: RefCell<Vec<u32>>,
}

impl Tracer for HandleTracer<'_> {
    type Handle = u32;

    fn trace_handle(&self, handle: &u32) {
        self.all.borrow_mut().push(*handle);
        if is_formatting(self.sink.tag(*handle)) {
            self.formatting.borrow_mut().push(*handle);
        }
    }
}

impl Gate {
    /// Counts the handles that the tree builder holds, which makes both counts exact.
    fn recount(&self) {
        let sink = &self.builder.sink;
        let tracer = HandleTracer {
            sink,
            all: RefCell::default(),
            formatting: RefCell::default(),
        };
        self.builder.trace_handles(&tracer);
        let distinct = |handles: RefCell<Vec<u32>>| {
            let mut handles = handles.into_inner();
            handles.sort_unstable();
            handles.dedup();
            handles.len()
        };
        self.open.set(distinct(tracer.all), sink.created());
        self.formatting
            .set(distinct(tracer.formatting), sink.formatting_created());
    }

    /// Returns true when a start tag must not reach the tree builder.
    fn is_refused(&self, tag: Tag) -> bool {
        // Dropping these would turn scripts into text; they contain no elements, so they do not nest.
        if tag.is_void()
            || matches!(
                tag,
                Tag::Script | Tag::Style | Tag::Title | Tag::Textarea | Tag::Iframe | Tag::Xmp
            )
        {
            return false;
        }
        let sink = &self.builder.sink;
        let too_many = || {
            self.open.at_most(sink.created()) >= limits::OPEN_DEPTH
                || (is_formatting(tag)
                    && self.formatting.at_most(sink.formatting_created()) >= limits::OPEN_FORMATTING)
        };
        if !too_many() {
            return false;
        }
        self.recount();
        too_many()
    }
}

impl TokenSink for Gate {
    type Handle = u32;

    fn process_token(&self, mut token: Token, line: u64) -> TokenSinkResult<u32> {
        let sink = &self.builder.sink;
        if !matches!(token, Token::ParseError(_)) {
            self.emitted.set(self.emitted.get() + 1);
        }
        match &mut token {
            Token::TagToken(tag) => {
                if sink.is_full() {
                    sink.mark_truncated();
                    return TokenSinkResult::Continue;
                }
                if tag.attrs.len() > limits::ATTRIBUTES_PER_TAG {
                    tag.attrs.truncate(limits::ATTRIBUTES_PER_TAG);
                    sink.mark_truncated();
                }
                if tag.kind == TagKind::StartTag && self.is_refused(Tag::of(&tag.name)) {
                    sink.mark_truncated();
                    return TokenSinkResult::Continue;
                }
            }
            // Comments create no nodes.
            Token::CommentToken(_) => return TokenSinkResult::Continue,
            Token::CharacterTokens(_) if sink.is_full() => {
                sink.mark_truncated();
                return TokenSinkResult::Continue;
            }
            _ => {}
        }
        self.builder.process_token(token, line)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}
