//! The fixed list of names that a pickle may ask for, and what each of them makes.

use super::machine::Machine;
use super::numpy::{Array, DType};
use super::{Bytes, Node, Value};

/// A constructor that is known here. There are no others, and none of them runs anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constructor {
    /// `numpy.ndarray`: only named, as the type of what `_reconstruct` makes.
    NdArray,
    Reconstruct,
    FromBuffer,
    DType,
    Scalar,
    Encode,
    Dict,
    DefaultDict,
    List,
    Tuple,
    Set,
    Bytes,
    Int,
    Float,
    Bool,
    Str,
}

impl Constructor {
    /// The constructor that Python 2 or 3, numpy 1 or 2 call so.
    pub(super) fn named(module: &str, name: &str) -> Option<Self> {
        Some(match (module, name) {
            ("numpy", "ndarray") => Self::NdArray,
            ("numpy", "dtype") => Self::DType,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => {
                Self::Reconstruct
            }
            ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Self::Scalar,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Self::FromBuffer,
            ("_codecs", "encode") => Self::Encode,
            ("collections", "OrderedDict") => Self::Dict,
            ("collections", "defaultdict") => Self::DefaultDict,
            ("builtins" | "__builtin__", name) => match name {
                "dict" => Self::Dict,
                "list" => Self::List,
                "tuple" => Self::Tuple,
                "set" | "frozenset" => Self::Set,
                "bytes" | "bytearray" => Self::Bytes,
                "int" | "long" => Self::Int,
                "float" => Self::Float,
                "bool" => Self::Bool,
                "str" | "unicode" => Self::Str,
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// What went wrong, without its place.
type Made<T> = Result<T, String>;

fn misfit<T>(what: &str) -> Made<T> {
    Err(format!("{what} with arguments that do not fit"))
}

impl Machine<'_> {
    /// What a constructor makes of its arguments.
    pub(super) fn construct(&mut self, constructor: Constructor, args: &[Value]) -> Made<Value> {
        let node = match (constructor, args) {
            (Constructor::Reconstruct, [class, _, _]) => match self.node(*class) {
                Some(Node::Constructor(Constructor::NdArray)) => {
                    Node::Array(Box::new(Array::empty()))
                }
                _ => return misfit("numpy's _reconstruct"),
            },
            (
                Constructor::FromBuffer,
                [data, dtype, shape, order] | [data, dtype, shape, order, Value::None],
            ) => {
                let fortran = match self.text(*order) {
                    Some("C") => false,
                    Some("F") => true,
                    _ => return misfit("numpy's _frombuffer"),
                };
                Node::Array(Box::new(self.array(*data, *dtype, *shape, fortran)?))
            }
            (Constructor::DType, [name, ..]) => {
                let name = self.text(*name).unwrap_or_default();
                match DType::named(name) {
                    Some(dtype) => Node::DType(dtype),
                    None => {
                        return Err(format!(
                            "numpy's type {:?}, which is none of bool, i1 to i8, u1 to u8, f2, f4, f8",
                            name.chars().take(60).collect::<String>()
                        ));
                    }
                }
            }
            (Constructor::Scalar, [dtype, data]) => {
                let (Some(Node::DType(dtype)), Some(cell)) = (self.node(*dtype), self.raw(*data))
                else {
                    return misfit("numpy's scalar");
                };
                return match dtype.decode(cell) {
                    Some(value) if cell.len() == dtype.size() => Ok(value),
                    _ => misfit("numpy's scalar"),
                };
            }
            (Constructor::Encode, [text, encoding]) => {
                let latin1 = matches!(self.text(*encoding), Some("latin1" | "latin-1"));
                let bytes = match self.text(*text) {
                    Some(text) if latin1 => text
                        .chars()
                        .map(|c| u8::try_from(c).ok())
                        .collect::<Option<Vec<u8>>>(),
                    _ => None,
                };
                let Some(bytes) = bytes else {
                    return misfit("_codecs.encode");
                };
                self.charge(bytes.len())?;
                Node::Bytes(Bytes::Made(bytes))
            }
            (Constructor::Dict, []) | (Constructor::DefaultDict, [] | [_]) => {
                Node::Dict(Vec::new())
            }
            (Constructor::Dict, [pairs]) => {
                let pairs = self.values(*pairs).ok_or("a dict made of no pairs")?;
                let mut made = Vec::with_capacity(pairs.len());
                for pair in pairs {
                    match self.values(*pair) {
                        Some([key, value]) => made.push((*key, *value)),
                        _ => return misfit("a dict"),
                    }
                }
                self.charge(made.len() * 32)?;
                Node::Dict(made)
            }
            (Constructor::List, []) => Node::List(Vec::new()),
            (Constructor::Tuple, []) => Node::Tuple(Vec::new()),
            (Constructor::Set, []) => Node::Set(Vec::new()),
            (Constructor::List | Constructor::Tuple | Constructor::Set, [values]) => {
                let values = self.values(*values).ok_or("a list made of no values")?;
                let values = values.to_vec();
                self.charge(values.len() * 16)?;
                match constructor {
                    Constructor::List => Node::List(values),
                    Constructor::Tuple => Node::Tuple(values),
                    _ => Node::Set(values),
                }
            }
            (Constructor::Bytes, []) => Node::Bytes(Bytes::Made(Vec::new())),
            (Constructor::Bytes, [bytes]) if self.raw(*bytes).is_some() => return Ok(*bytes),
            (Constructor::Bytes, [text, encoding]) => {
                return self.construct(Constructor::Encode, &[*text, *encoding]);
            }
            (Constructor::Int, []) => return Ok(Value::Int(0)),
            (Constructor::Float, []) => return Ok(Value::Float(0.0)),
            (Constructor::Bool, []) => return Ok(Value::Bool(false)),
            (Constructor::Int, [value @ Value::Int(_)])
            | (Constructor::Float, [value @ Value::Float(_)])
            | (Constructor::Bool, [value @ Value::Bool(_)]) => return Ok(*value),
            (other, args) => {
                return Err(format!("{other:?} with {} arguments", args.len()));
            }
        };
        self.make(node)
    }

    /// Gives an object the state that was pickled with it: numpy's types and arrays have one, nothing else may.
    pub(super) fn build(&mut self, object: Value, state: Value) -> Made<()> {
        let state = self.values(state).unwrap_or_default();
        match (self.node(object), state) {
            // (version, byte order, subdtype, names, fields, size, alignment, flags).
            (Some(Node::DType(dtype)), [_, order, Value::None, Value::None, Value::None, ..]) => {
                let mut dtype = *dtype;
                let order = self.text(*order).unwrap_or_default();
                if !dtype.set_order(order) {
                    return misfit("numpy's dtype");
                }
                self.replace(object, Node::DType(dtype));
            }
            (Some(Node::DType(_)), _) => {
                return Err("a numpy type of several fields".into());
            }
            // (version, shape, dtype, Fortran order, cells); without version in old ones.
            (Some(Node::Array(_)), [.., shape, dtype, fortran, data]) => {
                let fortran = matches!(fortran, Value::Bool(true) | Value::Int(1));
                let array = self.array(*data, *dtype, *shape, fortran)?;
                self.replace(object, Node::Array(Box::new(array)));
            }
            _ => return Err("a state for something that has none here".into()),
        }
        Ok(())
    }

    fn array(&self, data: Value, dtype: Value, shape: Value, fortran: bool) -> Made<Array> {
        let Some(Node::DType(dtype)) = self.node(dtype) else {
            return misfit("an array");
        };
        let Some(shape) = self.values(shape).filter(|s| s.len() <= 64) else {
            return misfit("an array");
        };
        let shape = shape.iter().map(|n| match n {
            Value::Int(n) => usize::try_from(*n).ok(),
            _ => None,
        });
        let Some(shape) = shape.collect::<Option<Vec<usize>>>() else {
            return misfit("an array");
        };
        let Some(cells) = self.raw(data) else {
            return Err("an array whose cells are not bytes (Python objects?)".into());
        };
        let array = Array {
            dtype: *dtype,
            shape,
            fortran,
            data,
        };
        array.check(cells.len())?;
        Ok(array)
    }
}
