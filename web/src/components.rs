//! Reusable components. They know nothing about the screens that use them, which are in `pages/`.

pub mod action_list;
pub mod badge;
pub mod code;
pub mod dialog;
pub mod docs_answer;
pub mod error_notice;
pub mod field;
pub mod field_group;
pub mod filter_input;
pub mod find_bar;
pub mod format_chips;
pub mod icon;
pub mod inline_code;
pub mod json_editor;
pub mod nav;
pub mod palette;
pub mod panes;
pub mod problems;
pub mod schema_editor;
pub mod screen_header;
pub mod tabs;
pub mod toast;
pub mod top_bar;
pub mod tree;
pub mod viewer;
pub mod virtual_scroll;
