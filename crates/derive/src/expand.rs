//! Generates the code for the struct of a request.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

use crate::attributes::{Argument, RequestAttributes, help};
use crate::member::Member;

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
    let writes = members.iter().map(|member| {
        let field = member.ident;
        member.write(&quote!(&self.#field))
    });
    let filled = members.iter().map(Member::filled);
    let RequestAttributes { ignored, .. } = &on_request;
    let check = on_request
        .check
        .iter()
        .map(|path| quote!(#path(&mut request, fields);));
    let from_value = on_request.refuse.iter().map(|path| {
        quote! {
            fn from_value(value: serde_json::Value) -> Result<Self, crate::api::error::ApiError> {
                #path(&value)?;
                crate::api::fields::read_value(value)
            }
        }
    });
    let constructor = constructor(ident, &members);
    let given = on_request
        .given
        .iter()
        .map(|Argument { name, of }| quote!(#name: #of));
    let given = quote!(#(#given)*);
    let fields = quote! {
        fn fields(#given) -> Vec<crate::api::fields::Field> {
            let mut fields = Vec::new();
            #(#table)*
            #(fields.push(crate::api::fields::Field::hidden_flag(#ignored));)*
            fields
        }
    };
    let read = quote! {
        fn read(fields: &mut crate::api::fields::Fields, #given) -> Self {
            #[allow(unused_mut)]
            let mut request = Self { #(#reads)* };
            #(fields.value::<bool>(#ignored, ());)*
            #(#check)*
            request
        }
    };
    let write = quote! {
        fn write(&self, body: &mut crate::api::body::Body) {
            #(#writes)*
        }
    };
    if on_request.given.is_some() {
        return Ok(quote! {
            impl #ident { #fields #read #write }
            #constructor
        });
    }
    Ok(quote! {
        impl crate::api::fields::Wire for #ident {
            const NAME: &'static str = #title;
            const SUMMARY: &'static str = #summary;

            #fields
            #read
            #(#from_value)*
            #write

            fn filled(&self) -> crate::api::body::Body {
                let mut body = crate::api::body::Body::default();
                #(#filled)*
                body
            }
        }

        #constructor
    })
}

/// Returns an implementation of `Default` if no field is required, else a `new` that takes the required fields.
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
