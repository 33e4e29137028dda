//! Bullets that a page draws as shapes instead of glyphs, as browsers do when they print.

use std::ops::RangeInclusive;

use unpdf::parser::backend::{ContentOp, PdfValue};

/// Smallest and largest width and height of a bullet, in points: that of browsers is 3.75 beside text of 12 points.
const SIZES: RangeInclusive<f32> = 2.0..=8.0;
/// Size of the text beside a bullet, in widths of the bullet.
const TEXT_SIZE: f32 = 3.2;
/// Height of the middle of a bullet above the baseline, in widths of the bullet.
const HEIGHT: f32 = 0.9;
/// Graphics states that are saved at once.
const SAVED: usize = 64;
/// Bullets of one page.
const BULLETS: usize = 4096;

/// A bullet, in points from the lower left corner of its page.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawnBullet {
    pub(super) left: f32,
    pub(super) baseline: f32,
    /// Expected size of the text beside it.
    pub(super) text_size: f32,
}

/// Finds the small shapes, about as wide as high, that these operators paint.
pub(super) fn find(operators: &[ContentOp]) -> Vec<DrawnBullet> {
    let mut found = Vec::new();
    let (mut matrix, mut saved) = (Matrix::IDENTITY, Vec::new());
    let mut shape = None;
    for operator in operators {
        let operands = operator.operands.as_slice();
        match operator.operator.as_str() {
            "q" if saved.len() < SAVED => saved.push(matrix),
            "Q" => matrix = saved.pop().unwrap_or(matrix),
            "cm" => matrix = Matrix::of(operands).then(&matrix),
            "m" | "l" | "c" | "v" | "y" => {
                for point in operands.chunks_exact(2) {
                    Bounds::add(&mut shape, matrix.apply(number(&point[0]), number(&point[1])));
                }
            }
            "re" => {
                if let [x, y, width, height] = operands {
                    let [x, y, width, height] = [x, y, width, height].map(number);
                    Bounds::add(&mut shape, matrix.apply(x, y));
                    Bounds::add(&mut shape, matrix.apply(x + width, y + height));
                }
            }
            "n" => shape = None,
            "f" | "F" | "f*" | "S" | "s" | "B" | "B*" | "b" | "b*" => {
                let bullet = shape.take().and_then(|bounds: Bounds| bounds.bullet());
                found.extend(bullet.filter(|_| found.len() < BULLETS));
            }
            _ => {}
        }
    }
    found
}

fn number(value: &PdfValue) -> f32 {
    match value {
        PdfValue::Integer(number) => *number as f32,
        PdfValue::Real(number) => *number,
        _ => 0.0,
    }
}

/// A transformation (PDF section 8.3.3).
#[derive(Clone, Copy)]
struct Matrix([f32; 6]);

impl Matrix {
    const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn of(operands: &[PdfValue]) -> Self {
        Self(std::array::from_fn(|at| operands.get(at).map_or(0.0, number)))
    }

    fn apply(&self, x: f32, y: f32) -> (f32, f32) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// Returns the transformation by this one and then by `next`.
    fn then(&self, next: &Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [na, nb, nc, nd, ..] = next.0;
        let (e, f) = next.apply(e, f);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e,
            f,
        ])
    }
}

struct Bounds {
    left: f32,
    bottom: f32,
    right: f32,
    top: f32,
}

impl Bounds {
    fn add(shape: &mut Option<Self>, (x, y): (f32, f32)) {
        let bounds = shape.get_or_insert(Self {
            left: x,
            bottom: y,
            right: x,
            top: y,
        });
        bounds.left = bounds.left.min(x);
        bounds.right = bounds.right.max(x);
        bounds.bottom = bounds.bottom.min(y);
        bounds.top = bounds.top.max(y);
    }

    fn bullet(&self) -> Option<DrawnBullet> {
        let (width, height) = (self.right - self.left, self.top - self.bottom);
        let is_even = (width - height).abs() <= width * 0.2;
        (SIZES.contains(&width) && is_even).then(|| DrawnBullet {
            left: self.left,
            baseline: (self.bottom + self.top) / 2.0 - width * HEIGHT,
            text_size: width * TEXT_SIZE,
        })
    }
}
