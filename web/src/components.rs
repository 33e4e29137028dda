//! Reusable components. They know nothing about the screens that use them, which are in `pages/`.

pub mod action_list;
pub mod answer;
pub mod badge;
pub mod code;
pub mod dialog;
pub mod failure;
pub mod field;
pub mod filter_input;
pub mod find;
pub mod format_chips;
pub mod group;
pub mod head;
pub mod icon;
pub mod json_editor;
pub mod nav;
pub mod page_list;
pub mod palette;
pub mod parts;
pub mod problems;
pub mod schema_editor;
pub mod scroll;
pub mod tabs;
pub mod toast;
pub mod top;
pub mod tree;
pub mod viewer;
