//! Types of request fields: how each is read, and which JSON it accepts.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::reader::{FieldType, Slot};
use super::schema::{Decimal, Schema};
use crate::ids::JobId;

/// Declares types that a method of [`Slot`] reads: the bounds, the hint, the schema and the method.
macro_rules! field_types {
    ($($(#[$about:meta])* $type:ty: $bounds:ty, $hint:literal, $schema:expr, $read:expr;)+) => {$(
        $(#[$about])*
        impl FieldType for $type {
            type Bounds = $bounds;

            const HINT: &'static str = $hint;

            fn schema(bounds: Self::Bounds) -> Schema {
                ($schema)(bounds)
            }

            fn from_slot(slot: Slot<'_>, bounds: Self::Bounds) -> Option<Self> {
                ($read)(slot, bounds)
            }

            fn placeholder() -> Self {
                Self::default()
            }
        }
    )+};
}

field_types! {
    bool: (), "a value", |()| Schema::Boolean, |slot: Slot<'_>, ()| slot.bool();
    u64: RangeInclusive<u64>, "a whole number", Schema::Integer, Slot::integer;
    f64: Decimal, "a number", Schema::Number, Slot::number;
    /// The bounds are in characters.
    String: RangeInclusive<usize>, "a string", Schema::Text, Slot::string;
    /// An object with arbitrary keys.
    Map<String, Value>: (), "an object", |()| Schema::Map(Box::new(Schema::Any)), |slot: Slot<'_>, ()| slot.map();
    /// Any JSON value.
    Value: (), "a value", |()| Schema::Any, |slot: Slot<'_>, ()| Some(slot.any());
}

/// A value above 32 bits becomes the largest 32-bit value.
impl FieldType for u32 {
    type Bounds = RangeInclusive<u64>;

    const HINT: &'static str = u64::HINT;

    fn schema(range: Self::Bounds) -> Schema {
        Schema::Integer(range)
    }

    fn from_slot(slot: Slot<'_>, range: Self::Bounds) -> Option<Self> {
        let value = slot.integer(range)?;
        Some(Self::try_from(value).unwrap_or(Self::MAX))
    }

    fn placeholder() -> Self {
        0
    }
}

/// The bounds are those of the length and of each element.
impl<T: FieldType> FieldType for Vec<T>
where
    T::Bounds: Clone,
{
    type Bounds = (RangeInclusive<usize>, T::Bounds);

    const HINT: &'static str = "an array";

    fn schema((count, each): Self::Bounds) -> Schema {
        Schema::List(Box::new(T::schema(each)), count)
    }

    fn from_slot(slot: Slot<'_>, (count, each): Self::Bounds) -> Option<Self> {
        slot.array(count, |slot| T::from_slot(slot, each.clone()))
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

impl<T: FieldType> FieldType for Box<T> {
    type Bounds = T::Bounds;

    const HINT: &'static str = T::HINT;

    fn schema(bounds: Self::Bounds) -> Schema {
        T::schema(bounds)
    }

    fn from_slot(slot: Slot<'_>, bounds: Self::Bounds) -> Option<Self> {
        T::from_slot(slot, bounds).map(Self::new)
    }

    fn placeholder() -> Self {
        Self::new(T::placeholder())
    }
}

/// `None` is an explicit null.
impl<T: FieldType> FieldType for Option<T> {
    type Bounds = T::Bounds;

    const HINT: &'static str = T::HINT;

    fn schema(bounds: Self::Bounds) -> Schema {
        Schema::Nullable(Box::new(T::schema(bounds)))
    }

    fn from_slot(slot: Slot<'_>, bounds: Self::Bounds) -> Option<Self> {
        T::from_slot(slot, bounds).map(Some)
    }

    fn from_null() -> Option<Self> {
        Some(None)
    }

    fn placeholder() -> Self {
        None
    }
}

impl FieldType for Uuid {
    type Bounds = ();

    const HINT: &'static str = "a UUID";

    fn schema((): ()) -> Schema {
        Schema::Formatted("uuid")
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        let Some(text) = slot.json().as_str() else {
            return slot.wrong_type("a string with a UUID");
        };
        match Uuid::try_parse(text) {
            Ok(id) => Some(id),
            Err(_) => slot.fail("must be a UUID"),
        }
    }

    fn placeholder() -> Self {
        Self::nil()
    }
}

impl FieldType for JobId {
    type Bounds = ();

    const HINT: &'static str = Uuid::HINT;

    fn schema((): ()) -> Schema {
        Uuid::schema(())
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        Uuid::from_slot(slot, ()).map(Self)
    }

    fn placeholder() -> Self {
        Self(Uuid::nil())
    }
}
