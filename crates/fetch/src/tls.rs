//! TLS of outgoing connections, with or without certificate verification.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::connect::Stream;
use crate::error::FetchError;
use crate::limits;

/// Connectors with and without certificate verification.
pub(crate) struct Tls {
    verifying: TlsConnector,
    non_verifying: TlsConnector,
    /// For connections to servers of the operator, which use HTTP/1.1.
    operator: TlsConnector,
}

/// A secured stream, and whether both sides negotiated HTTP/2.
pub(crate) type SecureStream = (Box<dyn Stream>, bool);

impl Tls {
    /// Creates the connectors.
    ///
    /// # Errors
    /// [`FetchError::Config`] if an extra root is not a valid certificate.
    pub(crate) fn new(extra_roots: &[Vec<u8>]) -> Result<Tls, FetchError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        };
        for root in extra_roots {
            roots
                .add(CertificateDer::from(root.clone()))
                .map_err(|error| FetchError::Config(format!("invalid trusted root: {error}")))?;
        }
        let versions = |provider: &Arc<CryptoProvider>| {
            ClientConfig::builder_with_provider(provider.clone())
                .with_safe_default_protocol_versions()
                .map_err(|error| FetchError::Config(format!("cannot set up TLS: {error}")))
        };
        let verifying = versions(&provider)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let non_verifying = versions(&provider)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate { provider }))
            .with_no_client_auth();
        Ok(Tls {
            operator: TlsConnector::from(Arc::new(verifying.clone())),
            verifying: connector(verifying),
            non_verifying: connector(non_verifying),
        })
    }

    /// Performs the TLS handshake with a server of the operator and verifies its certificate, within
    /// [`limits::HANDSHAKE_TIMEOUT`] and the caller's deadline.
    pub(crate) async fn secure_operator(
        &self,
        stream: Box<dyn Stream>,
        host: &str,
    ) -> Result<Box<dyn Stream>, FetchError> {
        handshake(&self.operator, stream, host)
            .await
            .map(|(stream, _)| stream)
    }

    /// Performs the TLS handshake, within [`limits::HANDSHAKE_TIMEOUT`] and the caller's deadline.
    pub(crate) async fn secure(
        &self,
        stream: Box<dyn Stream>,
        host: &str,
        verify: bool,
    ) -> Result<SecureStream, FetchError> {
        let connector = if verify {
            &self.verifying
        } else {
            &self.non_verifying
        };
        handshake(connector, stream, host).await
    }
}

async fn handshake(
    connector: &TlsConnector,
    stream: Box<dyn Stream>,
    host: &str,
) -> Result<SecureStream, FetchError> {
    let failed = |reason: String| FetchError::Tls {
        host: host.to_owned(),
        reason,
    };
    let without_brackets = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .trim_end_matches('.');
    let name = ServerName::try_from(without_brackets.to_owned())
        .map_err(|_| failed("the host name is not valid in a certificate".to_owned()))?;
    let stream = match timeout(limits::HANDSHAKE_TIMEOUT, connector.connect(name, stream)).await {
        Ok(connected) => connected.map_err(|error| failed(describe(&error)))?,
        // As for a server that does not accept the connection: it may speak HTTP, or do so later.
        Err(_) => {
            return Err(FetchError::Connect {
                host: host.to_owned(),
                reason: "the server did not respond to the TLS handshake".to_owned(),
            });
        }
    };
    let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    Ok((Box::new(stream), h2))
}

fn connector(mut config: ClientConfig) -> TlsConnector {
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsConnector::from(Arc::new(config))
}

fn describe(error: &std::io::Error) -> String {
    match error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>())
    {
        Some(rustls::Error::InvalidCertificate(error)) => describe_certificate(error).to_owned(),
        Some(error) => error.to_string(),
        None => "the server closed the connection during the handshake".to_owned(),
    }
}

fn describe_certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host"
        }
        CertificateError::UnknownIssuer => "its certificate is not signed by a known authority",
        CertificateError::Revoked => "its certificate has been revoked",
        _ => "its certificate is not valid",
    }
}

/// Accepts every certificate, for requests that disable verification.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_speak_tls_and_waits_is_not_reachable() {
        let (stream, _server) = tokio::io::duplex(64 * 1024);
        let tls = Tls::new(&[]).unwrap();
        let error = tls
            .secure(Box::new(stream), "site.test", false)
            .await
            .err()
            .unwrap();
        assert!(matches!(error, FetchError::Connect { .. }), "{error}");
        assert!(
            error.is_before_response(),
            "so that http is tried after a guessed https"
        );
    }
}
