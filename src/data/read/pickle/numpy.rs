//! numpy's numbers and arrays: types, byte orders, C and Fortran order.

use super::Value;

/// What a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Uint,
    Float,
}

/// The type of an array's cells: bool, i1 to i8, u1 to u8, f2, f4, f8, of either byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DType {
    kind: Kind,
    size: u8,
    big_endian: bool,
}

impl DType {
    /// The type of this name: `f8`, `<i4`, `>f2`, `|b1`, `?`; `None` for any other.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (order, name) = match name.as_bytes().first()? {
            b'<' | b'>' | b'|' | b'=' => name.split_at(1),
            _ => ("", name),
        };
        let (kind, size) = match name {
            "b1" | "?" | "bool" => (Kind::Bool, 1),
            "i1" => (Kind::Int, 1),
            "i2" => (Kind::Int, 2),
            "i4" => (Kind::Int, 4),
            "i8" => (Kind::Int, 8),
            "u1" => (Kind::Uint, 1),
            "u2" => (Kind::Uint, 2),
            "u4" => (Kind::Uint, 4),
            "u8" => (Kind::Uint, 8),
            "f2" => (Kind::Float, 2),
            "f4" => (Kind::Float, 4),
            "f8" => (Kind::Float, 8),
            _ => return None,
        };
        Some(Self {
            kind,
            size,
            big_endian: order == ">",
        })
    }

    /// The same type of the byte order that a pickle's state names; false for one that is none.
    pub(super) fn set_order(&mut self, order: &str) -> bool {
        match order {
            "<" | "|" | "=" => self.big_endian = false,
            ">" => self.big_endian = true,
            _ => return false,
        }
        true
    }

    /// Bytes a cell.
    pub(super) fn size(self) -> usize {
        usize::from(self.size)
    }

    /// As numpy writes it.
    pub(super) fn name(self) -> String {
        let kind = match self.kind {
            Kind::Bool => 'b',
            Kind::Int => 'i',
            Kind::Uint => 'u',
            Kind::Float => 'f',
        };
        format!("{kind}{}", self.size)
    }

    /// The number in `cell`, whose first [`DType::size`] bytes count.
    pub(super) fn decode(self, cell: &[u8]) -> Option<Value> {
        let cell = cell.get(..self.size())?;
        // All bytes as one little-endian number.
        let mut raw = [0u8; 8];
        for (to, from) in raw.iter_mut().zip(0..cell.len()) {
            *to = cell[if self.big_endian {
                cell.len() - 1 - from
            } else {
                from
            }];
        }
        let bits = u64::from_le_bytes(raw);
        Some(match (self.kind, self.size) {
            (Kind::Bool, _) => Value::Bool(bits != 0),
            (Kind::Int, size) => {
                let unused = 64 - 8 * u32::from(size);
                Value::Int(((bits << unused) as i64) >> unused)
            }
            (Kind::Uint, _) => match i64::try_from(bits) {
                Ok(int) => Value::Int(int),
                Err(_) => Value::Float(bits as f64),
            },
            (Kind::Float, 2) => Value::Float(half(bits as u16)),
            (Kind::Float, 4) => Value::Float(f64::from(f32::from_bits(bits as u32))),
            (Kind::Float, _) => Value::Float(f64::from_bits(bits)),
        })
    }
}

/// IEEE 754 half precision.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// An array: its cells stay where the file has them. An array whose state has not come yet has shape (0).
#[derive(Debug, Clone)]
pub(super) struct Array {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    pub(super) fortran: bool,
    /// A node of bytes; its length was checked against shape and type.
    pub(super) data: Value,
}

impl Array {
    /// Without cells.
    pub(super) fn empty() -> Self {
        Self {
            dtype: DType {
                kind: Kind::Float,
                size: 8,
                big_endian: false,
            },
            shape: vec![0],
            fortran: false,
            data: Value::None,
        }
    }

    /// Checks shape and type against the number of bytes.
    pub(super) fn check(&self, bytes: usize) -> Result<(), String> {
        let size = self
            .shape
            .iter()
            .try_fold(self.dtype.size(), |n, &d| n.checked_mul(d));
        if size == Some(bytes) {
            return Ok(());
        }
        Err(format!(
            "an array of shape {} and type {} that has {bytes} bytes of cells",
            shape_text(&self.shape),
            self.dtype.name()
        ))
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Where the cell at `index` stands in memory, counted in cells; `None` out of range.
    pub(super) fn offset(&self, index: &[usize]) -> Option<usize> {
        if index.len() != self.shape.len() || index.iter().zip(&self.shape).any(|(i, n)| i >= n) {
            return None;
        }
        let step = |at: usize, (i, n): (&usize, &usize)| at * n + i;
        let pairs = index.iter().zip(&self.shape);
        Some(if self.fortran {
            pairs.rev().fold(0, step)
        } else {
            pairs.fold(0, step)
        })
    }
}

/// `(8, 9)`.
pub(super) fn shape_text(shape: &[usize]) -> String {
    let parts: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({})", parts.join(", "))
}
