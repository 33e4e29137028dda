//! How operations of the store are declared: in families, each a trait that every engine implements. An engine is a
//! type in a folder of its own; all engines behave the same.

/// Declares a family of operations: the trait that every engine implements, and methods of [`Store`] with the
/// same signatures, which call the engine.
macro_rules! operations {
    ($(#[$about:meta])* trait $family:ident {
        $($(#[$doc:meta])*
        async fn $name:ident(&self $(, $argument:ident: $kind:ty)* $(,)?) $(-> $output:ty)?;)+
    }) => {
        $(#[$about])*
        pub(crate) trait $family {
            $($(#[$doc])* async fn $name(&self $(, $argument: $kind)*) $(-> $output)?;)+
        }

        $(#[$about])*
        impl $crate::Store {
            $($(#[$doc])* pub async fn $name(&self $(, $argument: $kind)*) $(-> $output)? {
                match &self.engine {
                    $crate::Engine::Sqlite(sqlite) => $family::$name(&**sqlite $(, $argument)*).await,
                    $crate::Engine::Postgres(postgres) => $family::$name(&**postgres $(, $argument)*).await,
                }
            })+
        }
    };
}
pub(crate) use operations;
