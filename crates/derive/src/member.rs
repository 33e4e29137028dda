//! Generates the code for a field: its entry in the table, its reader and its writer.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Error, Field, Result, Type};

use crate::attributes::{FieldAttributes, Source, camel_case, help, inside_option};

/// A field of a struct or variant, ready to be expanded.
pub(crate) struct Member<'f> {
    pub(crate) ident: &'f Ident,
    /// Type as declared.
    pub(crate) of: &'f Type,
    /// Type of the value: without `Option`.
    value: &'f Type,
    optional: bool,
    pub(crate) name: String,
    help: String,
    pub(crate) attributes: FieldAttributes,
}

impl<'f> Member<'f> {
    pub(crate) fn of(field: &'f Field) -> Result<Self> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(field, "a field of a request has a name"));
        };
        let attributes = FieldAttributes::of(field)?;
        let inner = inside_option(&field.ty);
        Ok(Self {
            ident,
            of: &field.ty,
            value: inner.unwrap_or(&field.ty),
            optional: inner.is_some(),
            name: match &attributes.name {
                Some(name) => name.value(),
                None => camel_case(&ident.to_string()),
            },
            help: help(&field.attrs),
            attributes,
        })
    }

    /// Returns the value of an absent field.
    pub(crate) fn default(&self) -> TokenStream {
        match &self.attributes.default {
            Some(default) => quote!(#default),
            None => quote!(Default::default()),
        }
    }

    fn bounds(&self) -> TokenStream {
        match &self.attributes.bounds {
            Some(bounds) => quote!(#bounds),
            None => quote!(Default::default()),
        }
    }

    /// Returns the statement that adds the field to the table.
    pub(crate) fn table(&self) -> TokenStream {
        let (value, name, help) = (self.value, &self.name, &self.help);
        match self.attributes.source {
            Source::Skip => return quote!(),
            Source::Flatten => {
                return quote! {
                    for field in <#value as crate::api::fields::Wire>::fields() {
                        if fields.iter().all(|own: &crate::api::fields::Field| own.name != field.name) {
                            fields.push(field);
                        }
                    }
                };
            }
            Source::Type | Source::Function(_) | Source::Check => {}
        }
        let of = self.of;
        let (bounds, required, hidden) = (self.bounds(), self.attributes.required, self.attributes.hidden);
        let text = |text: &Option<syn::LitStr>| match text {
            Some(text) => quote!(Some(#text)),
            None => quote!(None),
        };
        let (label, unit) = (text(&self.attributes.label), text(&self.attributes.unit));
        let (group, example) = (text(&self.attributes.group), text(&self.attributes.example));
        let since = self.attributes.since.iter();
        let default = match (required, self.optional) {
            (false, false) => {
                let default = self.default();
                quote!({
                    let default: #of = #default;
                    Some(crate::api::body::ToNode::to_node(&default))
                })
            }
            _ => quote!(None),
        };
        quote! {
            fields.push(crate::api::fields::Field {
                required: #required,
                default: #default,
                label: #label,
                group: #group,
                unit: #unit,
                example: #example,
                hidden: #hidden,
                #(since: #since,)*
                ..crate::api::fields::Field::new(
                    #name,
                    #help,
                    <#value as crate::api::fields::FieldType>::schema(#bounds),
                )
            });
        }
    }

    /// Returns the initializer that reads the field.
    pub(crate) fn read(&self) -> TokenStream {
        let (ident, value, name) = (self.ident, self.value, &self.name);
        let default = self.default();
        let bounds = self.bounds();
        let attributes = &self.attributes;
        let read = match &attributes.source {
            Source::Skip | Source::Check if attributes.required => {
                return quote!(#ident: <#value as crate::api::fields::FieldType>::placeholder(),);
            }
            Source::Skip | Source::Check => return quote!(#ident: #default,),
            Source::Flatten => return quote!(#ident: <#value as crate::api::fields::Wire>::read(fields),),
            Source::Function(path) => quote!(#path(fields)),
            Source::Type => match &attributes.unit {
                Some(unit) => quote!(fields.measured::<#value>(#name, #unit, #bounds)),
                None => quote!(fields.value::<#value>(#name, #bounds)),
            },
        };
        let read = match &attributes.distinct {
            Some(key) => quote!(#read.map(|list| crate::api::fields::distinct(list, #key))),
            None => read,
        };
        let read = match attributes.empty_is_absent {
            true => quote!(#read.filter(|value| !value.is_empty())),
            false => read,
        };
        let required = match &attributes.required_text {
            Some(text) => quote!(#text),
            None => quote!(<#value as crate::api::fields::FieldType>::HINT),
        };
        match (attributes.required, self.optional) {
            (true, _) => quote! {
                #ident: {
                    let read = #read;
                    fields.required(#name, read, #required)
                },
            },
            (false, true) => quote!(#ident: #read,),
            (false, false) => quote!(#ident: #read.unwrap_or_else(|| #default),),
        }
    }

    /// Returns the statement that writes the field if it differs from its default; `value` is a reference to it.
    pub(crate) fn write(&self, value: &TokenStream) -> TokenStream {
        let (of, name) = (self.of, &self.name);
        match self.attributes.source {
            Source::Skip => return quote!(),
            Source::Flatten => return quote!(crate::api::fields::Wire::write(#value, body);),
            Source::Type | Source::Function(_) | Source::Check => {}
        }
        if self.attributes.required {
            return quote!(body.put(#name, #value););
        }
        if self.optional {
            return quote!(body.some(#name, #value););
        }
        let default = self.default();
        quote! {
            let default: #of = #default;
            body.differs(#name, #value, &default);
        }
    }

    /// Returns the statement that writes the field with its effective value.
    pub(crate) fn filled(&self) -> TokenStream {
        let (ident, name) = (self.ident, &self.name);
        let attributes = &self.attributes;
        if attributes.unlisted || attributes.required || attributes.hidden {
            return quote!();
        }
        match (&attributes.source, &attributes.effective) {
            (Source::Skip, _) => quote!(),
            (Source::Flatten, _) => quote!(body.extend(crate::api::fields::Wire::filled(&self.#ident));),
            (_, Some(effective)) => quote!(body.put(#name, &#effective(self));),
            (_, None) if self.optional => quote! {
                if let Some(value) = &self.#ident {
                    body.push(#name, crate::api::body::ToNode::to_filled(value));
                }
            },
            (_, None) => quote!(body.push(#name, crate::api::body::ToNode::to_filled(&self.#ident));),
        }
    }
}
