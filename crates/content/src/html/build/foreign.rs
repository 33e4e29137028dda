//! SVG and MathML (HTML section 13.2.6.5).

use super::super::dom::attr;
use super::super::name_hash::hash;
use super::super::names::Names;
use super::super::tag::Tag;
use super::super::tokenizer::TagToken;
use super::arena::NONE;
use super::body::is_visible;
use super::sets::FOREIGN_ENDS;
use super::stack::{Namespace, OpenElement};
use super::{Builder, Step};

/// Names of SVG elements with capital letters.
const SVG_ELEMENTS: &[&str] = &[
    "altGlyph", "altGlyphDef", "altGlyphItem", "animateColor", "animateMotion", "animateTransform",
    "clipPath", "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix",
    "feDiffuseLighting", "feDisplacementMap", "feDistantLight", "feDropShadow", "feFlood", "feFuncA",
    "feFuncB", "feFuncG", "feFuncR", "feGaussianBlur", "feImage", "feMerge", "feMergeNode", "feMorphology",
    "feOffset", "fePointLight", "feSpecularLighting", "feSpotLight", "feTile", "feTurbulence",
    "foreignObject", "glyphRef", "linearGradient", "radialGradient", "textPath",
];

/// Names of SVG attributes with capital letters.
const SVG_ATTRIBUTES: &[&str] = &[
    "attributeName", "attributeType", "baseFrequency", "baseProfile", "calcMode", "clipPathUnits",
    "diffuseConstant", "edgeMode", "filterUnits", "glyphRef", "gradientTransform", "gradientUnits",
    "kernelMatrix", "kernelUnitLength", "keyPoints", "keySplines", "keyTimes", "lengthAdjust",
    "limitingConeAngle", "markerHeight", "markerUnits", "markerWidth", "maskContentUnits", "maskUnits",
    "numOctaves", "pathLength", "patternContentUnits", "patternTransform", "patternUnits", "pointsAtX",
    "pointsAtY", "pointsAtZ", "preserveAlpha", "preserveAspectRatio", "primitiveUnits", "refX", "refY",
    "repeatCount", "repeatDur", "requiredExtensions", "requiredFeatures", "specularConstant",
    "specularExponent", "spreadMethod", "startOffset", "stdDeviation", "stitchTiles", "surfaceScale",
    "systemLanguage", "tableValues", "targetX", "targetY", "textLength", "viewBox", "viewTarget",
    "xChannelSelector", "yChannelSelector", "zoomAndPan",
];

/// Attributes with a namespace, whose prefix the arena leaves out.
const PREFIXED_ATTRIBUTES: &[&str] = &[
    "xlink:actuate", "xlink:arcrole", "xlink:href", "xlink:role", "xlink:show", "xlink:title", "xlink:type",
    "xml:lang", "xml:space", "xmlns:xlink",
];

fn capitalized(names: &[&'static str], name: &str) -> Option<&'static str> {
    names
        .iter()
        .find(|known| known.eq_ignore_ascii_case(name))
        .copied()
}

/// Returns the name of an attribute in a namespace, if it differs from the one in the page.
fn adjusted_attribute(name: &str, namespace: Namespace) -> Option<&str> {
    if PREFIXED_ATTRIBUTES.contains(&name) {
        return name.split_once(':').map(|(_, local)| local);
    }
    match namespace {
        Namespace::Svg => capitalized(SVG_ATTRIBUTES, name),
        Namespace::MathMl if name == "definitionurl" => Some("definitionURL"),
        _ => None,
    }
}

impl Builder {
    /// Returns whether a start tag is processed by the rules of foreign content.
    pub(super) fn start_is_foreign(&self, token: &TagToken) -> bool {
        let current = self.current();
        match current.namespace {
            Namespace::Html => false,
            Namespace::MathMl if current.tag == Tag::AnnotationXml && token.tag == Tag::Svg => false,
            _ if current.is_text_integration_point() => matches!(token.tag, Tag::Mglyph | Tag::Malignmark),
            _ => !self.is_html_integration_point(current),
        }
    }

    /// Returns whether text is processed by the rules of foreign content.
    pub(super) fn text_is_foreign(&self) -> bool {
        let current = self.current();
        current.namespace != Namespace::Html
            && !current.is_text_integration_point()
            && !self.is_html_integration_point(current)
    }

    fn is_html_integration_point(&self, element: OpenElement) -> bool {
        match element.namespace {
            Namespace::Html => false,
            Namespace::Svg => matches!(element.tag, Tag::ForeignObject | Tag::Desc | Tag::Title),
            Namespace::MathMl => {
                let attributes = self.arena.attributes_of(element.id);
                element.tag == Tag::AnnotationXml
                    && attributes.iter().any(|attribute| {
                        let value = self.arena.value(attribute);
                        attribute.name == attr::ENCODING
                            && (value.eq_ignore_ascii_case("text/html")
                                || value.eq_ignore_ascii_case("application/xhtml+xml"))
                    })
            }
        }
    }

    pub(super) fn text_in_foreign(&mut self, text: &str) -> &'static str {
        if self.frameset_ok && is_visible(text) {
            self.frameset_ok = false;
        }
        self.insert_text(text);
        ""
    }

    pub(super) fn start_in_foreign(&mut self, token: &mut TagToken) -> Step {
        let breaks_out = match token.tag {
            tag if FOREIGN_ENDS.contains(tag) => true,
            Tag::Font => token.attributes.iter().any(|attribute| {
                let name = self.arena.names.get(attribute.name);
                matches!(name, "color" | "face" | "size")
            }),
            _ => false,
        };
        if breaks_out {
            self.leave_foreign();
            return self.start_in_mode(token);
        }
        let namespace = self.current().namespace;
        self.insert_foreign(token, namespace);
        Step::Done
    }

    /// Pops foreign elements.
    fn leave_foreign(&mut self) {
        while let Some(current) = self.stack.current().copied()
            && current.namespace != Namespace::Html
            && !current.is_text_integration_point()
            && !self.is_html_integration_point(current)
        {
            self.stack.pop();
        }
    }

    /// Inserts `math` or `svg`.
    pub(super) fn insert_foreign_root(&mut self, token: &mut TagToken, namespace: Namespace) {
        self.reconstruct_formatting();
        self.insert_foreign(token, namespace);
    }

    fn insert_foreign(&mut self, token: &mut TagToken, namespace: Namespace) {
        for attribute in &mut token.attributes {
            if Names::is_common_attribute(attribute.name) {
                continue;
            }
            let name = self.arena.names.get(attribute.name);
            if let Some(adjusted) = adjusted_attribute(name, namespace) {
                let adjusted = adjusted.to_owned();
                attribute.name = self.arena.names.attribute(&adjusted, hash(&adjusted));
            }
        }
        let mut shown_name = token.name;
        if namespace == Namespace::Svg
            && let Some(name) = capitalized(SVG_ELEMENTS, self.arena.names.get(token.name))
        {
            shown_name = self.arena.names.element(name, Tag::Other);
        }
        let attributes = self.take_attributes(token);
        let element = OpenElement {
            id: NONE,
            name: token.name,
            tag: token.tag,
            namespace,
        };
        let element = self.insert_node(element, shown_name, attributes);
        if !token.self_closing {
            self.stack.push(element);
        }
    }

    /// Returns [`Step::Again`] when the rules of the insertion mode apply.
    pub(super) fn end_in_foreign(&mut self, token: &TagToken) -> Step {
        if matches!(token.tag, Tag::Br | Tag::P) {
            self.leave_foreign();
            return Step::Again;
        }
        for (at, element) in self.stack.elements().iter().enumerate().skip(1).rev() {
            if element.namespace == Namespace::Html {
                return Step::Again;
            }
            if element.name == token.name {
                self.stack.truncate(at);
                return Step::Done;
            }
        }
        Step::Done
    }
}
