//! `#[response]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, ItemStruct, Token, Type, parse_quote};

/// Returns the struct with its derives, and with the rule for absent fields.
pub(crate) fn response(traits: &Punctuated<Ident, Token![,]>, mut item: ItemStruct) -> TokenStream {
    for field in &mut item.fields {
        let attributes = field.attrs.len();
        field
            .attrs
            .retain(|attribute| !attribute.path().is_ident("nullable"));
        let is_nullable = field.attrs.len() < attributes;
        if is_option(&field.ty) && !is_nullable && !field.attrs.iter().any(is_skip) {
            let left_out = parse_quote!(#[serde(skip_serializing_if = "Option::is_none")]);
            field.attrs.push(left_out);
        }
    }
    let traits = traits.iter();
    let default = traits
        .clone()
        .any(|name| name == "Default")
        .then(|| quote!(, default));
    quote! {
        #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, #(#traits),*)]
        #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase" #default)]
        #item
    }
}

fn is_option(kind: &Type) -> bool {
    matches!(kind, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// Returns whether the attribute says itself when the field is left out.
fn is_skip(attribute: &Attribute) -> bool {
    let words = match attribute.path().is_ident("serde") {
        true => attribute.meta.require_list().map(|list| list.tokens.to_string()),
        false => return false,
    };
    words.is_ok_and(|words| words.contains("skip"))
}
