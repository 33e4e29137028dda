//! `#[derive(Request)]`: from one declaration of a request body, generates its strict reader, its sparse writer and its
//! field table. The traits that it implements, and what the tables are used for, are in `harvestman_core::api::fields`.
//!
//! On the struct, `#[request(...)]` takes:
//! - `check = path`: a `fn(&mut Self, &mut Fields)` that runs after all fields were read, for rules between fields;
//! - `refuse = path`: a `fn(&Value) -> Result<(), ApiError>` that runs before a body is read;
//! - `ignored("a", "b")`: booleans that other servers know; accepted without effect;
//! - `given(name: Type)`: a value that bounds may use. The functions of `Wire` then take it as an argument and are
//!   methods of the struct, which does not implement the trait.
//!
//! On a field, `#[field(...)]` takes:
//! - `name = "redactPII"`: its name on the wire; by default the identifier in camel case;
//! - `bounds = expression`: limits of its value, of the type's `FieldType::Bounds`;
//! - `default = expression`: what an absent field means; by default the type's `Default`;
//! - `required`, `required = "the rest of \"give ...\""`: the field cannot be absent;
//! - `empty_is_absent`: an empty string or list counts as absent;
//! - `distinct = key`: of the elements with the same `key(&element)`, only the first counts;
//! - `read = path`: a `fn(&mut Fields) -> Option<T>` that reads the field instead of its type;
//! - `manual`: `check` reads the field; `skip`: the field is not on the wire;
//! - `flatten`: the fields of the inner request are fields of this one, apart from those that an earlier field has
//!   the name of;
//! - `effective = path`: a `fn(&Self) -> impl ToNode` with the effective value, if it can differ from the one sent;
//! - `unlisted`: not among the options that a job reports;
//! - `label = "Page limit"`: its label in forms, if it differs from the words of its name;
//! - `group = "Network"`: the group of form fields that it belongs to;
//! - `unit = "ms"`, `example = "JSON"`, `since = "0.1.0"`: for people;
//! - `hidden`: accepted, and shown nowhere.
//!
//! The first paragraph of the doc comment is the help of the field. `Option<T>` makes a field optional; in
//! `Option<Option<T>>` the inner `None` is an explicit null.
//!
//! `#[derive(TaggedUnion)]` does the same for an enum: objects whose field `type` names the variant. A variant has
//! fields of its own with the attributes above, is one request, or has no fields. On the enum, `#[tagged(...)]` takes:
//! - `kind = Name`: the enum of the names, which is generated;
//! - `hint = "the rest of \"give ...\""`: for an object without `type`;
//! - `by_name`: the name alone stands for an object without other fields;
//! - `before = path`: a `fn(&mut Fields) -> Option<()>` that runs first; `None` ends the reading.
//!
//! On a variant, `#[tagged(...)]` takes:
//! - `tag = "wait"`: its name; by default the identifier in camel case. Variants of the same name are distinguished by
//!   their first field;
//! - `not_by_name`: a check of its request refuses an object without other fields.
//!
//! `#[response]` declares a response, or a part of one, as the OpenAPI document describes it: an object with names in
//! camel case. An `Option` without a value is left out, unless its field is `#[nullable]`: then it is null. Traits to
//! derive besides `Clone`, `PartialEq`, `Debug` and serde's are listed, as in `#[response(Eq, Default)]`. With `Default`,
//! any field may be absent when a response is read.

mod attributes;
mod expand;
mod member;
mod response;
mod union;

use proc_macro::TokenStream;
use syn::punctuated::Punctuated;
use syn::{DeriveInput, ItemStruct, parse_macro_input};

/// Implements `Wire` with its reader, writer and field table; see the module documentation.
#[proc_macro_derive(Request, attributes(request, field))]
pub fn derive_request(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::request(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Implements `FieldType` and `ToNode` for an enum, and generates the enum of its names; see the module
/// documentation.
#[proc_macro_derive(TaggedUnion, attributes(tagged, field))]
pub fn derive_tagged_union(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    union::union(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Declares a response; see the module documentation.
#[proc_macro_attribute]
pub fn response(traits: TokenStream, item: TokenStream) -> TokenStream {
    let traits = parse_macro_input!(traits with Punctuated::parse_terminated);
    response::response(&traits, parse_macro_input!(item as ItemStruct)).into()
}
