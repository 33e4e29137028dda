//! `POST /v2/parse`.

use harvestman_core::api::Wire;
use harvestman_core::api::parse::ParseOptions;
use harvestman_core::api::scrape::ScrapeResponse;
use web_sys::{Blob, FormData};

use crate::error::ClientError;
use crate::transport::{Client, json_text};

impl Client {
    /// Converts a file and waits for the result; the name of the file helps to detect its type.
    pub async fn parse(
        &self,
        file: &Blob,
        name: &str,
        options: &ParseOptions,
    ) -> Result<ScrapeResponse, ClientError> {
        let options = json_text(&options.to_body())?;
        let form = FormData::new().and_then(|form| {
            form.append_with_blob_and_filename("file", file, name)?;
            form.append_with_str("options", &options)?;
            Ok(form)
        });
        let form =
            form.map_err(|error| ClientError::Network(format!("cannot create the form: {error:?}")))?;
        self.post_form("/v2/parse", form).await
    }
}
