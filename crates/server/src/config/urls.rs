//! URLs in settings.

use url::Url;

pub(super) fn base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is not a URL: {error}"))?;
    let has_only_address = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !has_only_address {
        return Err("not an http or https URL without credentials and fragment".to_owned());
    }
    Ok(url)
}

pub(super) fn public_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("`{text}` is not a URL: {error}"))?;
    let has_only_address = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !has_only_address {
        return Err(format!(
            "`{text}` is not an http or https URL without credentials, query and fragment"
        ));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}
