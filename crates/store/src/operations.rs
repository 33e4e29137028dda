//! How operations of the store are declared: in families, each a trait that `sql/` implements for both engines, or each
//! engine for itself. An engine is a type in a folder of its own; all engines behave the same.

/// Declares a family of operations: its trait, and methods of [`Store`](crate::Store) with the
/// same signatures, which call the engine. A function of [`Secrets`](crate::secrets::Secrets) in front of an argument
/// (`#[seal_request &]`, with `&` if the argument is a reference) encrypts it, and one behind the signature
/// (`=> open_requests`) decrypts the output.
macro_rules! operations {
    ($(#[$about:meta])* trait $family:ident {
        $($(#[$doc:meta])*
        async fn $name:ident(
            &self $(, $(#[$seal:ident $($by_reference:tt)?])? $argument:ident: $kind:ty)* $(,)?
        ) $(-> $output:ty)? $(=> $open:ident)?;)+
    }) => {
        $(#[$about])*
        pub(crate) trait $family {
            $($(#[$doc])* async fn $name(&self $(, $argument: $kind)*) $(-> $output)?;)+
        }

        $(#[$about])*
        impl $crate::Store {
            $($(#[$doc])* pub async fn $name(&self $(, $argument: $kind)*) $(-> $output)? {
                $($(let $argument = $($by_reference)? self.secrets.$seal($argument)?;)?)*
                let output = match &self.engine {
                    $crate::Engine::Sqlite(sqlite) => $family::$name(&**sqlite $(, $argument)*).await,
                    $crate::Engine::Postgres(postgres) => $family::$name(&**postgres $(, $argument)*).await,
                };
                $(let output = output.and_then(|output| self.secrets.$open(output));)?
                output
            })+
        }
    };
}
pub(crate) use operations;
