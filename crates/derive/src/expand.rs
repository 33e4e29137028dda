//! The code that a request's struct becomes.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Result, Type};

use crate::attributes::{FieldAttributes, RequestAttributes, Source, camel_case, help, inside_option};

/// A field of the struct, ready to be expanded.
struct Member<'f> {
    ident: &'f Ident,
    /// Type as declared.
    of: &'f Type,
    /// Type of the value: without `Option`.
    value: &'f Type,
    optional: bool,
    name: String,
    help: String,
    attributes: FieldAttributes,
}

pub(crate) fn request(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "a request is a struct"));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(input, "a request has named fields"));
    };
    let on_request = RequestAttributes::of(&input.attrs)?;
    let members: Vec<Member> = fields.named.iter().map(Member::of).collect::<Result<_>>()?;
    let ident = &input.ident;
    let title = ident.to_string();
    let summary = help(&input.attrs);
    let table = members.iter().map(Member::table);
    let reads = members.iter().map(Member::read);
    let writes = members.iter().map(Member::write);
    let filled = members.iter().map(Member::filled);
    let ignored = &on_request.ignored;
    let accepted = on_request.accepted.iter();
    let check = on_request
        .check
        .iter()
        .map(|path| quote!(#path(&mut request, f);));
    let from_value = on_request.refuse.iter().map(|path| {
        quote! {
            fn from_value(value: serde_json::Value) -> Result<Self, crate::api::error::ApiError> {
                #path(&value)?;
                crate::api::fields::read_value(value)
            }
        }
    });
    let constructor = constructor(ident, &members);
    Ok(quote! {
        impl crate::api::fields::Wire for #ident {
            const NAME: &'static str = #title;
            const SUMMARY: &'static str = #summary;

            fn fields() -> Vec<crate::api::fields::Field> {
                let mut fields = Vec::new();
                #(#table)*
                #(fields.push(crate::api::fields::Field::ignored(#ignored));)*
                #(fields.extend(#accepted());)*
                fields
            }

            fn read(f: &mut crate::api::fields::Fields) -> Self {
                #[allow(unused_mut)]
                let mut request = Self { #(#reads)* };
                #(f.opt_bool(#ignored);)*
                #(#check)*
                request
            }

            #(#from_value)*

            fn write(&self, body: &mut crate::api::body::Body) {
                #(#writes)*
            }

            fn filled(&self) -> crate::api::body::Body {
                let mut body = crate::api::body::Body::default();
                #(#filled)*
                body
            }
        }

        #constructor
    })
}

/// `Default` where no field is required, else `new` with the required ones.
fn constructor(ident: &Ident, members: &[Member<'_>]) -> TokenStream {
    let required: Vec<&Member> = members.iter().filter(|it| it.attributes.required).collect();
    let values = members.iter().map(|member| {
        let field = member.ident;
        match member.attributes.required {
            true => quote!(#field: #field.into(),),
            false => {
                let default = member.default();
                quote!(#field: #default,)
            }
        }
    });
    if required.is_empty() {
        return quote! {
            impl Default for #ident {
                fn default() -> Self {
                    Self { #(#values)* }
                }
            }
        };
    }
    let arguments = required.iter().map(|member| {
        let (field, of) = (member.ident, member.of);
        quote!(#field: impl Into<#of>)
    });
    quote! {
        impl #ident {
            /// Returns a request with every option at its default.
            pub fn new(#(#arguments),*) -> Self {
                Self { #(#values)* }
            }
        }
    }
}

impl<'f> Member<'f> {
    fn of(field: &'f Field) -> Result<Self> {
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

    /// The value of an absent field.
    fn default(&self) -> TokenStream {
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

    /// The statement that adds the field to the table.
    fn table(&self) -> TokenStream {
        let (value, name, help) = (self.value, &self.name, &self.help);
        match self.attributes.source {
            Source::Skip => return quote!(),
            Source::Flatten => {
                return quote!(fields.extend(<#value as crate::api::fields::Wire>::fields()););
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
        let example = text(&self.attributes.example);
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

    /// The initializer that reads the field.
    fn read(&self) -> TokenStream {
        let (ident, value, name) = (self.ident, self.value, &self.name);
        let default = self.default();
        let bounds = self.bounds();
        let attributes = &self.attributes;
        let read = match &attributes.source {
            Source::Skip | Source::Check if attributes.required => {
                return quote!(#ident: <#value as crate::api::fields::FieldType>::placeholder(),);
            }
            Source::Skip | Source::Check => return quote!(#ident: #default,),
            Source::Flatten => return quote!(#ident: <#value as crate::api::fields::Wire>::read(f),),
            Source::Function(path) => quote!(#path(f)),
            Source::Type => quote!(f.value::<#value>(#name, #bounds)),
        };
        let read = match attributes.empty_is_absent {
            true => quote!(#read.filter(|text| !text.is_empty())),
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
                    f.required(#name, read, #required)
                },
            },
            (false, true) => quote!(#ident: #read,),
            (false, false) => quote!(#ident: #read.unwrap_or_else(|| #default),),
        }
    }

    /// The statement that writes the field where it differs from its default.
    fn write(&self) -> TokenStream {
        let (ident, of, name) = (self.ident, self.of, &self.name);
        match self.attributes.source {
            Source::Skip => return quote!(),
            Source::Flatten => return quote!(crate::api::fields::Wire::write(&self.#ident, body);),
            Source::Type | Source::Function(_) | Source::Check => {}
        }
        if self.attributes.required {
            return quote!(body.put(#name, &self.#ident););
        }
        if self.optional {
            return quote!(body.some(#name, &self.#ident););
        }
        let default = format_ident!("default");
        let value = self.default();
        quote! {
            let #default: #of = #value;
            body.differs(#name, &self.#ident, &#default);
        }
    }

    /// The statement that writes the field with the value that applies.
    fn filled(&self) -> TokenStream {
        let (ident, name) = (self.ident, &self.name);
        let attributes = &self.attributes;
        if attributes.unlisted || attributes.required || attributes.hidden {
            return quote!();
        }
        match (&attributes.source, &attributes.effective) {
            (Source::Skip | Source::Flatten, _) => quote!(),
            (_, Some(effective)) => quote!(body.put(#name, &#effective(self));),
            (_, None) if self.optional => quote!(body.some(#name, &self.#ident);),
            (_, None) => quote!(body.push(#name, crate::api::body::ToNode::to_filled(&self.#ident));),
        }
    }
}
