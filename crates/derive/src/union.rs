//! Expands an enum whose objects name their variant in the field `type`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, LitStr, Result, Type, Variant};

use crate::attributes::{UnionAttributes, VariantAttributes, camel_case, help};
use crate::member::Member;

/// A variant, ready to be expanded.
struct Case<'v> {
    ident: &'v Ident,
    /// Value of `type`.
    tag: String,
    help: String,
    content: Content<'v>,
    /// Whether the tag alone is a valid value.
    by_name: bool,
}

enum Content<'v> {
    Nothing,
    /// The fields of a request.
    Request(&'v Type),
    Fields(Vec<Member<'v>>),
}

pub(crate) fn union(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "a tagged union is an enum"));
    };
    let on_union = UnionAttributes::of(&input.attrs)?;
    let (Some(kind), Some(hint)) = (&on_union.kind, &on_union.hint) else {
        return Err(Error::new_spanned(
            input,
            "a tagged union needs `kind` and `hint`",
        ));
    };
    let cases: Vec<Case> = data.variants.iter().map(Case::of).collect::<Result<_>>()?;
    let Some(first) = cases.first() else {
        return Err(Error::new_spanned(input, "a tagged union has variants"));
    };
    let ident = &input.ident;
    let by_name: Vec<&String> = cases.iter().filter(|it| it.by_name).map(|it| &it.tag).collect();
    let (names, read_value) = match on_union.by_name {
        true => (
            quote!(kinds.push(crate::api::fields::Schema::Word(&[#(#by_name),*]));),
            quote!(slot.object_or("type", Self::read).flatten()),
        ),
        false => (quote!(), quote!(slot.object(Self::read).flatten())),
    };
    let written = match on_union.by_name {
        true => quote!(match body.fields().len() {
            1 => crate::api::body::ToNode::to_node(&self.kind()),
            _ => crate::api::body::Node::Object(body),
        }),
        false => quote!(crate::api::body::Node::Object(body)),
    };
    let before = on_union.before.iter();
    let enumeration = kinds(ident, kind, &cases);
    let objects = objects(ident, &cases);
    let kind_arms = cases.iter().map(|case| {
        let (variant, kind_variant) = (case.ident, case.kind_variant());
        quote!(Self::#variant { .. } => #kind::#kind_variant,)
    });
    let read_arms = read_arms(kind, &cases);
    let write_arms = cases.iter().map(Case::write_arm);
    let placeholder = first.read();
    Ok(quote! {
        #enumeration

        impl #ident {
            /// Returns the kind of the value.
            pub fn kind(&self) -> #kind {
                match self { #(#kind_arms)* }
            }

            fn read(fields: &mut crate::api::fields::Fields) -> Option<Self> {
                #(#before(fields)?;)*
                match fields.tag::<#kind>(#hint)? { #(#read_arms)* }
            }
        }

        impl crate::api::body::ToNode for #ident {
            fn to_node(&self) -> crate::api::body::Node {
                let mut body = crate::api::body::Body::default();
                body.put("type", &self.kind());
                {
                    #[allow(unused_variables)]
                    let body = &mut body;
                    match self { #(#write_arms)* }
                }
                #written
            }
        }

        impl crate::api::fields::FieldType for #ident {
            type Bounds = ();

            fn schema((): ()) -> crate::api::fields::Schema {
                let mut kinds = Vec::new();
                #names
                #objects
                crate::api::fields::Schema::OneOf(kinds)
            }

            fn from_slot(slot: crate::api::fields::Slot<'_>, (): ()) -> Option<Self> {
                #read_value
            }

            fn placeholder() -> Self {
                #[allow(unused_variables)]
                let fields = &mut crate::api::fields::Fields::empty();
                #placeholder
            }
        }
    })
}

/// Returns the enum of the tags. Variants with the same tag are of one kind.
fn kinds(ident: &Ident, kind: &Ident, cases: &[Case<'_>]) -> TokenStream {
    let doc = format!("Kind of [`{ident}`].");
    let variants = firsts(cases).map(|case| {
        let (variant, tag, help) = (case.kind_variant(), &case.tag, &case.help);
        quote!(#[doc = #help] #variant = #tag,)
    });
    quote! {
        crate::api::wire_enum::wire_enum! { #[doc = #doc] #kind { #(#variants)* } }
    }
}

/// Returns the first variant of each tag.
fn firsts<'c, 'v>(cases: &'c [Case<'v>]) -> impl Iterator<Item = &'c Case<'v>> {
    let is_first = |index: &usize| cases[..*index].iter().all(|case| case.tag != cases[*index].tag);
    (0..cases.len()).filter(is_first).map(|index| &cases[index])
}

/// Returns the statements that add the object of each variant to the schema. Variants without fields share one.
fn objects(ident: &Ident, cases: &[Case<'_>]) -> TokenStream {
    let is_plain = |case: &&Case| matches!(case.content, Content::Nothing);
    let plain: Vec<&String> = cases.iter().filter(is_plain).map(|case| &case.tag).collect();
    let shared = plain.len() > 1;
    let all_plain = shared.then(|| {
        let name = format!("Plain{ident}");
        let help = format!("Name of the {}.", ident.to_string().to_lowercase());
        quote! {
            kinds.push(crate::api::fields::Schema::Object(#name, vec![crate::api::fields::Field {
                required: true,
                ..crate::api::fields::Field::new(
                    "type",
                    #help,
                    crate::api::fields::Schema::Word(&[#(#plain),*]),
                )
            }]));
        }
    });
    let others = cases
        .iter()
        .filter(|case| !(shared && is_plain(case)))
        .map(|case| {
            let (name, tag) = (format!("{}{ident}", case.ident), &case.tag);
            let fields = match &case.content {
                Content::Nothing => quote!(Vec::new()),
                Content::Request(of) => quote!(<#of as crate::api::fields::Wire>::fields()),
                Content::Fields(members) => {
                    let table = members.iter().map(Member::table);
                    quote!({
                        let mut fields = Vec::new();
                        #(#table)*
                        fields
                    })
                }
            };
            quote!(kinds.push(crate::api::fields::Schema::tagged(#name, #tag, #fields));)
        });
    quote!(#all_plain #(#others)*)
}

/// Returns the arms that read an object of each kind. The first field selects among variants with the same tag.
fn read_arms(kind: &Ident, cases: &[Case<'_>]) -> Vec<TokenStream> {
    let arms = firsts(cases).map(|first| {
        let kind_variant = first.kind_variant();
        let same: Vec<&Case> = cases.iter().filter(|case| case.tag == first.tag).collect();
        if same.len() == 1 {
            let read = first.read();
            return quote!(#kind::#kind_variant => Some(#read),);
        }
        let keys: Vec<&String> = same.iter().filter_map(|case| case.first_field()).collect();
        let reads = same.iter().map(|case| case.read());
        quote! {
            #kind::#kind_variant => match fields.only_one_of(&[#(#keys),*])? {
                #(#keys => Some(#reads),)*
                _ => None,
            },
        }
    });
    arms.collect()
}

impl<'v> Case<'v> {
    fn of(variant: &'v Variant) -> Result<Self> {
        let attributes = VariantAttributes::of(&variant.attrs)?;
        let name = variant.ident.to_string();
        let content = match &variant.fields {
            Fields::Unit => Content::Nothing,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Content::Request(&fields.unnamed[0].ty),
            Fields::Unnamed(fields) => {
                return Err(Error::new_spanned(
                    fields,
                    "give the fields names, or one request",
                ));
            }
            Fields::Named(fields) => {
                Content::Fields(fields.named.iter().map(Member::of).collect::<Result<_>>()?)
            }
        };
        let needs_fields = match &content {
            Content::Nothing | Content::Request(_) => false,
            Content::Fields(members) => members.iter().any(|member| member.attributes.required),
        };
        Ok(Self {
            ident: &variant.ident,
            tag: attributes
                .tag
                .as_ref()
                .map_or_else(|| lower_first(&name), LitStr::value),
            help: help(&variant.attrs),
            content,
            by_name: !needs_fields && !attributes.not_by_name,
        })
    }

    /// Returns the name of the variant in the enum of the tags.
    fn kind_variant(&self) -> Ident {
        let name = camel_case(&format!("_{}", self.tag));
        Ident::new(&name, Span::call_site())
    }

    /// Returns the name of the first field on the wire.
    fn first_field(&self) -> Option<&String> {
        match &self.content {
            Content::Fields(members) => members.first().map(|member| &member.name),
            Content::Nothing | Content::Request(_) => None,
        }
    }

    /// Returns the expression that reads the variant from `fields`.
    fn read(&self) -> TokenStream {
        let ident = self.ident;
        match &self.content {
            Content::Nothing => quote!(Self::#ident),
            Content::Request(of) => quote!(Self::#ident(<#of as crate::api::fields::Wire>::read(fields))),
            Content::Fields(members) => {
                let reads = members.iter().map(Member::read);
                quote!(Self::#ident { #(#reads)* })
            }
        }
    }

    /// Returns the arm that writes the fields of the variant.
    fn write_arm(&self) -> TokenStream {
        let ident = self.ident;
        match &self.content {
            Content::Nothing => quote!(Self::#ident => {}),
            Content::Request(_) => quote!(Self::#ident(it) => crate::api::fields::Wire::write(it, body),),
            Content::Fields(members) => {
                let fields: Vec<&Ident> = members.iter().map(|member| member.ident).collect();
                let writes = members.iter().map(|member| {
                    let field = member.ident;
                    member.write(&quote!(#field))
                });
                quote!(Self::#ident { #(#fields),* } => { #(#writes)* })
            }
        }
    }
}

/// Converts `ChangeTracking` to `changeTracking`.
fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}
