//! Parses the attributes `#[request(...)]`, `#[field(...)]` and `#[tagged(...)]`.

use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, Field, Ident, Lit, LitStr, Meta, Path, Result, Token, Type, parenthesized,
};

/// Attributes of the struct.
#[derive(Default)]
pub(crate) struct RequestAttributes {
    pub(crate) check: Option<Path>,
    pub(crate) refuse: Option<Path>,
    pub(crate) ignored: Vec<LitStr>,
    pub(crate) given: Option<Argument>,
}

/// Argument of the generated reader and field table: `name: Type`.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) of: Type,
}

/// Attributes of an enum.
#[derive(Default)]
pub(crate) struct UnionAttributes {
    pub(crate) kind: Option<Ident>,
    pub(crate) hint: Option<LitStr>,
    pub(crate) before: Option<Path>,
    pub(crate) by_name: bool,
}

/// Attributes of a variant.
#[derive(Default)]
pub(crate) struct VariantAttributes {
    pub(crate) tag: Option<LitStr>,
    pub(crate) not_by_name: bool,
}

/// How a field gets its value.
#[derive(Default)]
pub(crate) enum Source {
    /// By its type.
    #[default]
    Type,
    /// By a function.
    Function(Path),
    /// By the struct's check.
    Check,
    /// It is an inner request whose fields are fields of this one.
    Flatten,
    /// Not from the wire.
    Skip,
}

/// Attributes of a field.
#[derive(Default)]
pub(crate) struct FieldAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) source: Source,
    pub(crate) bounds: Option<Expr>,
    pub(crate) default: Option<Expr>,
    pub(crate) required: bool,
    pub(crate) required_text: Option<LitStr>,
    pub(crate) empty_is_absent: bool,
    pub(crate) distinct: Option<Expr>,
    pub(crate) effective: Option<Path>,
    pub(crate) unlisted: bool,
    pub(crate) label: Option<LitStr>,
    pub(crate) group: Option<LitStr>,
    pub(crate) unit: Option<LitStr>,
    pub(crate) example: Option<LitStr>,
    pub(crate) since: Option<LitStr>,
    pub(crate) hidden: bool,
}

impl RequestAttributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut parsed = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("request")) {
            attribute.parse_nested_meta(|meta| parsed.read(&meta))?;
        }
        Ok(parsed)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("check") {
            self.check = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("refuse") {
            self.refuse = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("given") {
            let given;
            parenthesized!(given in meta.input);
            let name = given.parse()?;
            given.parse::<Token![:]>()?;
            let of = given.parse()?;
            self.given = Some(Argument { name, of });
        } else if meta.path.is_ident("ignored") {
            let names;
            parenthesized!(names in meta.input);
            self.ignored
                .extend(Punctuated::<LitStr, Token![,]>::parse_terminated(&names)?);
        } else {
            return Err(meta.error("unknown attribute of a request"));
        }
        Ok(())
    }
}

impl UnionAttributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut parsed = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("tagged")) {
            attribute.parse_nested_meta(|meta| {
                match meta.path.require_ident()?.to_string().as_str() {
                    "kind" => parsed.kind = Some(meta.value()?.parse()?),
                    "hint" => parsed.hint = Some(meta.value()?.parse()?),
                    "before" => parsed.before = Some(meta.value()?.parse()?),
                    "by_name" => parsed.by_name = true,
                    _ => return Err(meta.error("unknown attribute of a tagged union")),
                }
                Ok(())
            })?;
        }
        Ok(parsed)
    }
}

impl VariantAttributes {
    pub(crate) fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut parsed = Self::default();
        for attribute in attributes.iter().filter(|it| it.path().is_ident("tagged")) {
            attribute.parse_nested_meta(|meta| {
                match meta.path.require_ident()?.to_string().as_str() {
                    "tag" => parsed.tag = Some(meta.value()?.parse()?),
                    "not_by_name" => parsed.not_by_name = true,
                    _ => return Err(meta.error("unknown attribute of a variant")),
                }
                Ok(())
            })?;
        }
        Ok(parsed)
    }
}

impl FieldAttributes {
    pub(crate) fn of(field: &Field) -> Result<Self> {
        let mut parsed = Self::default();
        for attribute in field.attrs.iter().filter(|it| it.path().is_ident("field")) {
            attribute.parse_nested_meta(|meta| parsed.read(&meta))?;
        }
        Ok(parsed)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.require_ident()?.to_string();
        match name.as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "bounds" => self.bounds = Some(meta.value()?.parse()?),
            "default" => self.default = Some(meta.value()?.parse()?),
            "required" => {
                self.required = true;
                if meta.input.peek(Token![=]) {
                    self.required_text = Some(meta.value()?.parse()?);
                }
            }
            "empty_is_absent" => self.empty_is_absent = true,
            "distinct" => self.distinct = Some(meta.value()?.parse()?),
            "read" => self.source = Source::Function(meta.value()?.parse()?),
            "manual" => self.source = Source::Check,
            "flatten" => self.source = Source::Flatten,
            "skip" => self.source = Source::Skip,
            "effective" => self.effective = Some(meta.value()?.parse()?),
            "unlisted" => self.unlisted = true,
            "label" => self.label = Some(meta.value()?.parse()?),
            "group" => self.group = Some(meta.value()?.parse()?),
            "unit" => self.unit = Some(meta.value()?.parse()?),
            "example" => self.example = Some(meta.value()?.parse()?),
            "since" => self.since = Some(meta.value()?.parse()?),
            "hidden" => self.hidden = true,
            _ => return Err(meta.error("unknown attribute of a field")),
        }
        Ok(())
    }
}

/// Returns the first paragraph of a doc comment, on one line.
pub(crate) fn help(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(doc_line);
    let paragraph: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .skip_while(String::is_empty)
        .take_while(|line| !line.is_empty())
        .collect();
    paragraph.join(" ")
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// Returns the `T` of an `Option<T>`.
pub(crate) fn inside_option(of: &Type) -> Option<&Type> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        syn::GenericArgument::Type(inner) if last.ident == "Option" => Some(inner),
        _ => None,
    }
}

/// Converts `max_discovery_depth` to `maxDiscoveryDepth`.
pub(crate) fn camel_case(identifier: &str) -> String {
    let mut name = String::with_capacity(identifier.len());
    let mut upper = false;
    for c in identifier.chars() {
        match c {
            '_' => upper = true,
            _ if upper => {
                name.push(c.to_ascii_uppercase());
                upper = false;
            }
            _ => name.push(c),
        }
    }
    name
}
