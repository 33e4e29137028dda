//! `POST /v2/map`: the URLs of a site.

use harvestman_core::api::map::{MapRequest, MapResponse};

use crate::error::ClientError;
use crate::transport::Client;

impl Client {
    /// Lists the URLs of a site.
    pub async fn map(&self, request: &MapRequest) -> Result<MapResponse, ClientError> {
        self.post("/v2/map", request).await
    }
}
