//! Types of request fields: how each is read, and which JSON it accepts.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::reader::{FieldType, Slot};
use super::schema::{Decimal, Schema};
use crate::ids::JobId;

impl FieldType for bool {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        Schema::Boolean
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.bool()
    }

    fn placeholder() -> Self {
        false
    }
}

impl FieldType for u64 {
    type Bounds = RangeInclusive<u64>;

    const HINT: &'static str = "a whole number";

    fn schema(range: Self::Bounds) -> Schema {
        Schema::Integer(range)
    }

    fn from_slot(slot: Slot<'_>, range: Self::Bounds) -> Option<Self> {
        slot.integer(range)
    }

    fn placeholder() -> Self {
        0
    }
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

impl FieldType for f64 {
    type Bounds = Decimal;

    const HINT: &'static str = "a number";

    fn schema(bounds: Decimal) -> Schema {
        Schema::Number(bounds)
    }

    fn from_slot(slot: Slot<'_>, bounds: Decimal) -> Option<Self> {
        slot.number(bounds)
    }

    fn placeholder() -> Self {
        0.0
    }
}

/// The bounds are in characters.
impl FieldType for String {
    type Bounds = RangeInclusive<usize>;

    const HINT: &'static str = "a string";

    fn schema(chars: Self::Bounds) -> Schema {
        Schema::Text(chars)
    }

    fn from_slot(slot: Slot<'_>, chars: Self::Bounds) -> Option<Self> {
        slot.string(chars)
    }

    fn placeholder() -> Self {
        Self::new()
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

/// An object with arbitrary keys.
impl FieldType for Map<String, Value> {
    type Bounds = ();

    const HINT: &'static str = "an object";

    fn schema((): ()) -> Schema {
        Schema::Map(Box::new(Schema::Any))
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        slot.map()
    }

    fn placeholder() -> Self {
        Self::new()
    }
}

/// Any JSON value.
impl FieldType for Value {
    type Bounds = ();

    fn schema((): ()) -> Schema {
        Schema::Any
    }

    fn from_slot(slot: Slot<'_>, (): ()) -> Option<Self> {
        Some(slot.any())
    }

    fn placeholder() -> Self {
        Self::Null
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
