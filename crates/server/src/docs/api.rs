//! The reference of the API, rendered from the OpenAPI document: a list of all endpoints, and a page for each.

mod schema;

use harvestman_core::api::openapi;
use harvestman_core::docs::{Docs, passages};
use serde_json::Value;

use super::html::{self, API_ENDPOINT, API_INDEX, LinkBase, NavLink, escape, render, render_line};
use schema::Schemas;

/// One method of one path.
#[derive(Debug)]
struct Endpoint {
    /// Operation id; the name of its page.
    id: String,
    /// In capitals.
    method: String,
    path: String,
    /// Group that it belongs to, as an index of [`Reference::tags`].
    tag: usize,
    operation: Value,
}

/// Group of endpoints.
#[derive(Debug)]
struct Tag {
    name: String,
    help: String,
}

/// The OpenAPI document of this server, indexed for reading and searching.
#[derive(Debug)]
pub(super) struct Reference {
    document: Value,
    tags: Vec<Tag>,
    /// Ordered by tag, path and method.
    endpoints: Vec<Endpoint>,
    search: Docs,
}

impl Reference {
    pub(super) fn of_this_server() -> Self {
        let document = openapi::document(env!("CARGO_PKG_VERSION"));
        let tags: Vec<Tag> = items(&document["tags"]).map(Tag::of).collect();
        let mut endpoints: Vec<Endpoint> = entries(&document["paths"])
            .flat_map(|(path, methods)| {
                entries(methods).map(move |(method, operation)| (path, method, operation))
            })
            .map(|(path, method, operation)| Endpoint::of(path, method, operation, &tags))
            .collect();
        endpoints.sort_by(|one, other| one.order().cmp(&other.order()));
        let pages: Vec<(String, String)> = endpoints.iter().map(|it| it.searchable(&document)).collect();
        let search = Docs::of(pages.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        Self {
            document,
            tags,
            endpoints,
            search,
        }
    }

    /// Renders the list of endpoints. `base` is the server's URL without a trailing slash.
    pub(super) fn index(&self, base: &str) -> String {
        let root = API_INDEX.root;
        let mut body = format!(
            "<h1>API reference</h1><p>Base URL: <code>{base}</code>. Bodies are JSON. Send your API key with each \
             request, except where a page says that none is needed:</p>\
             <pre tabindex=\"0\"><code>Authorization: Bearer $HARVESTMAN_API_KEY</code></pre>\
             <p>A response that is not 2xx has a code and a message; see <a href=\"{errors}\">Errors</a>. For \
             programs, <a href=\"{root}openapi.json\">openapi.json</a> is the same reference as an OpenAPI 3.1 \
             document.</p>",
            base = escape(base),
            errors = API_INDEX.link("errors"),
        );
        for group in self.endpoints.chunk_by(|one, next| one.tag == next.tag) {
            let tag = &self.tags[group[0].tag];
            body.push_str(&format!(
                "<h2>{}</h2><p>{}</p>{}",
                escape(&tag.name),
                render_line(&tag.help, API_INDEX),
                endpoint_list(group, API_INDEX)
            ));
        }
        html::document(API_INDEX, "API reference", "", &self.links(), None, &body)
    }

    /// Renders the page of an endpoint; none for an unknown id.
    pub(super) fn endpoint(&self, id: &str, base: &str) -> Option<String> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.id == id)?;
        let body = self.endpoint_body(endpoint, base);
        let current = endpoint.page();
        Some(html::document(
            API_ENDPOINT,
            endpoint.summary(),
            "",
            &self.links(),
            Some(&current),
            &body,
        ))
    }

    /// Renders the endpoints that match a query; empty if there are none.
    pub(super) fn search(&self, query: &str, place: LinkBase) -> String {
        let hits = self.search.search(query);
        let found: Vec<&Endpoint> = passages(&hits)
            .iter()
            .filter_map(|hit| {
                self.endpoints
                    .iter()
                    .find(|endpoint| endpoint.page() == hit.section.page)
            })
            .collect();
        match found.is_empty() {
            true => String::new(),
            false => endpoint_list(found, place),
        }
    }

    fn links(&self) -> Vec<NavLink<'_>> {
        let link = |endpoint: &Endpoint| NavLink {
            group: &self.tags[endpoint.tag].name,
            page: endpoint.page(),
            label: endpoint.summary().to_owned(),
        };
        self.endpoints.iter().map(link).collect()
    }

    fn endpoint_body<'s>(&'s self, endpoint: &'s Endpoint, base: &str) -> String {
        let operation = &endpoint.operation;
        let mut schemas = Schemas::of(&self.document);
        let access = match endpoint.needs_key() {
            true => "Needs an API key.",
            false => "Needs no API key.",
        };
        let mut body = format!(
            "<p class=\"crumb\">{tag}</p><h1>{summary}</h1><p class=\"endpoint\">{method} <code>{path}</code></p>\
             {about}<p>{access}</p>",
            tag = escape(&self.tags[endpoint.tag].name),
            summary = escape(endpoint.summary()),
            method = endpoint.method_badge(),
            path = escape(&endpoint.path),
            about = operation["description"]
                .as_str()
                .map_or_else(String::new, |text| render(text, API_ENDPOINT)),
        );
        if let Some(curl) = endpoint.curl(base) {
            body.push_str(&format!("<h2>Example</h2>{}", code_block(&curl)));
        }
        let parameters: Vec<&Value> = items(&operation["parameters"]).collect();
        if !parameters.is_empty() {
            body.push_str("<h2>Parameters</h2>");
            body.push_str(&schemas.parameters(&parameters));
        }
        for (kind, content) in entries(&operation["requestBody"]["content"]) {
            let help = operation["requestBody"]["description"]
                .as_str()
                .unwrap_or_default();
            body.push_str(&format!(
                "<h2>Body</h2><p><code>{}</code> {}</p>{}",
                escape(kind),
                render_line(help, API_ENDPOINT),
                schemas.fields_of(&content["schema"])
            ));
        }
        body.push_str("<h2>Responses</h2>");
        let mut errors = String::new();
        for (status, response) in entries(&operation["responses"]) {
            match response["$ref"].as_str() {
                Some(reference) => errors.push_str(&error_row(status, resolve(&self.document, reference))),
                None => body.push_str(&response_section(status, response, &mut schemas)),
            }
        }
        body.push_str(&format!(
            "<h2>Errors</h2><div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">Status</th>\
             <th scope=\"col\">Code and meaning</th></tr></thead><tbody>{errors}</tbody></table></div>"
        ));
        body.push_str(&schemas.objects());
        body
    }
}

impl Tag {
    fn of(tag: &Value) -> Self {
        Self {
            name: text(&tag["name"]).to_owned(),
            help: text(&tag["description"]).to_owned(),
        }
    }
}

impl Endpoint {
    fn of(path: &str, method: &str, operation: &Value, tags: &[Tag]) -> Self {
        let tag = text(&operation["tags"][0]);
        Self {
            id: text(&operation["operationId"]).to_owned(),
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            tag: tags
                .iter()
                .position(|known| known.name == tag)
                .unwrap_or_default(),
            operation: operation.clone(),
        }
    }

    /// Returns the sort key of the endpoint. Of one path, the method that creates comes first, then the one that reads.
    fn order(&self) -> (usize, &str, usize) {
        let method = ["POST", "GET"].iter().position(|method| *method == self.method);
        (self.tag, &self.path, method.unwrap_or(usize::MAX))
    }

    fn page(&self) -> String {
        format!("api/{}", self.id)
    }

    fn summary(&self) -> &str {
        text(&self.operation["summary"])
    }

    fn needs_key(&self) -> bool {
        self.operation["security"].is_null()
    }

    fn method_badge(&self) -> String {
        format!(
            "<span class=\"method {}\">{}</span>",
            self.method.to_ascii_lowercase(),
            self.method
        )
    }

    /// Returns the name of the endpoint's page, and its searchable text as Markdown.
    fn searchable(&self, document: &Value) -> (String, String) {
        let mut words = vec![
            self.summary().to_owned(),
            text(&self.operation["description"]).to_owned(),
        ];
        for parameter in items(&self.operation["parameters"]) {
            words.push(text(&parameter["name"]).to_owned());
        }
        for (_, content) in entries(&self.operation["requestBody"]["content"]) {
            let schema = &content["schema"];
            let schema = schema["$ref"]
                .as_str()
                .map_or(schema, |reference| resolve(document, reference));
            for (name, field) in entries(&schema["properties"]) {
                words.push(format!("{name}: {}", text(&field["description"])));
            }
        }
        let text = format!("# {} {}\n\n{}", self.method, self.path, words.join("\n\n"));
        (self.page(), text)
    }

    /// Returns a command that sends the request; none for a WebSocket.
    fn curl(&self, base: &str) -> Option<String> {
        if !self.operation["responses"]["101"].is_null() {
            return None;
        }
        let path = shell_path(&self.path);
        let mut parts = vec![match path.contains('$') {
            true => format!("curl \"{base}{path}\""),
            false => format!("curl {base}{path}"),
        }];
        let body = &self.operation["requestBody"]["content"];
        if self.method != "GET" && !(self.method == "POST" && body.is_object()) {
            parts.push(format!("-X {}", self.method));
        }
        if self.needs_key() {
            parts.push("-H \"Authorization: Bearer $HARVESTMAN_API_KEY\"".to_owned());
        }
        if let Some(example) = body["application/json"].get("example") {
            parts.push("-H \"Content-Type: application/json\"".to_owned());
            parts.push(format!("-d '{}'", example.to_string().replace('\'', "'\\''")));
        }
        if body["multipart/form-data"].is_object() {
            parts.push("-F file=@report.pdf".to_owned());
            parts.push("-F 'options={\"formats\":[\"markdown\"]};type=application/json'".to_owned());
        }
        Some(parts.join(" \\\n  "))
    }
}

/// Returns a path with its parameters as shell variables: `/v2/crawl/$ID`.
fn shell_path(path: &str) -> String {
    let part = |part: &str| match part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some(name) => format!("${}", name.trim_start_matches('*').to_ascii_uppercase()),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn endpoint_list<'e>(endpoints: impl IntoIterator<Item = &'e Endpoint>, place: LinkBase) -> String {
    let row = |endpoint: &Endpoint| {
        format!(
            "<li>{}<a href=\"{}\">{}</a><span>{}</span></li>",
            endpoint.method_badge(),
            place.link(&endpoint.page()),
            escape(&endpoint.path),
            escape(endpoint.summary())
        )
    };
    let rows: String = endpoints.into_iter().map(row).collect();
    format!("<ul class=\"endpoints\">{rows}</ul>")
}

fn response_section<'d>(status: &str, response: &'d Value, schemas: &mut Schemas<'d>) -> String {
    let help = render_line(text(&response["description"]), API_ENDPOINT);
    let mut section = format!("<h3><span class=\"status\">{}</span> {help}</h3>", escape(status));
    for (kind, content) in entries(&response["content"]) {
        section.push_str(&format!("<p><code>{}</code></p>", escape(kind)));
        section.push_str(&schemas.fields_of(&content["schema"]));
        if let Some(example) = content.get("example") {
            section.push_str(&code_block(&format!("{example:#}")));
        }
    }
    section
}

fn error_row(status: &str, response: &Value) -> String {
    format!(
        "<tr><td class=\"status\">{}</td><td>{}</td></tr>",
        escape(status),
        render(text(&response["description"]), API_ENDPOINT)
    )
}

fn code_block(code: &str) -> String {
    format!("<pre tabindex=\"0\"><code>{}</code></pre>", escape(code))
}

/// Returns the component that a reference such as `#/components/schemas/Error` names.
fn resolve<'d>(document: &'d Value, reference: &str) -> &'d Value {
    let pointer = reference.trim_start_matches('#');
    document.pointer(pointer).unwrap_or(&Value::Null)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let entries = value.as_object().into_iter().flatten();
    entries.map(|(name, value)| (name.as_str(), value))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
