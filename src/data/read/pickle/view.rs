//! Looking at what a pickle holds.

use std::collections::HashMap;

use super::numpy::{Array, shape_text};
use super::{Node, Pickle, Value};

/// A value of a pickle. Nothing is copied or walked until it is asked for, one level at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pickle: &'a Pickle,
    value: Value,
}

/// Numbers in rows and columns: an array of two dimensions, or lists in a list.
#[derive(Debug)]
pub(crate) struct Grid<'a> {
    pickle: &'a Pickle,
    cells: Cells<'a>,
    rows: usize,
    columns: usize,
}

#[derive(Debug)]
enum Cells<'a> {
    Array(&'a Array, &'a [u8]),
    Lists(Vec<&'a [Value]>),
}

impl<'a> View<'a> {
    pub(super) fn new(pickle: &'a Pickle, value: Value) -> Self {
        Self { pickle, value }
    }

    fn node(self) -> Option<&'a Node> {
        self.pickle.node(self.value)
    }

    fn at(self, value: Value) -> Self {
        Self::new(self.pickle, value)
    }

    /// What it is, for messages.
    pub(crate) fn describe(self) -> String {
        match (self.value, self.node()) {
            (Value::None, _) => "None".into(),
            (Value::Bool(b), _) => format!("the bool {b}"),
            (Value::Int(i), _) => format!("the number {i}"),
            (Value::Float(x), _) => format!("the number {x}"),
            (_, Some(Node::Text(_))) => "a string".into(),
            (_, Some(Node::Bytes(_))) => "bytes".into(),
            (_, Some(Node::List(v))) => format!("a list of {}", v.len()),
            (_, Some(Node::Tuple(v))) => format!("a tuple of {}", v.len()),
            (_, Some(Node::Set(v))) => format!("a set of {}", v.len()),
            (_, Some(Node::Dict(v))) => {
                let keys: Vec<String> = v
                    .iter()
                    .take(4)
                    .map(|(k, _)| format!("{:?}", self.at(*k).key().unwrap_or_default()))
                    .collect();
                let more = if v.len() > 4 { ", ..." } else { "" };
                format!("a dict of {} ({}{more})", v.len(), keys.join(", "))
            }
            (_, Some(Node::Array(a))) => {
                format!(
                    "an array of shape {} ({})",
                    shape_text(&a.shape),
                    a.dtype.name()
                )
            }
            _ => "a type".into(),
        }
    }

    /// A string.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self.node()? {
            Node::Text(bytes) => std::str::from_utf8(self.pickle.bytes(bytes)).ok(),
            _ => None,
        }
    }

    /// A dict's key: a string, or a number as text. Long ones are cut.
    fn key(self) -> Option<String> {
        let key = match self.value {
            Value::Int(i) => i.to_string(),
            _ => self.text()?.to_owned(),
        };
        Some(key.chars().take(200).collect())
    }

    /// A number or bool; also an array of a single cell.
    pub(crate) fn number(self) -> Option<f64> {
        match self.value {
            Value::Bool(b) => Some(f64::from(b)),
            Value::Int(i) => Some(i as f64),
            Value::Float(x) => Some(x),
            Value::None => None,
            Value::Node(_) => match self.node()? {
                Node::Array(a) if a.len() == 1 => number(a.dtype.decode(cells(self.pickle, a))?),
                _ => None,
            },
        }
    }

    /// A dict's entries in order, the last of equal keys; `None` for anything else or keys that are no names.
    pub(crate) fn entries(self) -> Option<Vec<(String, Self)>> {
        let Node::Dict(pairs) = self.node()? else {
            return None;
        };
        let mut found: Vec<(String, Self)> = Vec::with_capacity(pairs.len());
        let mut place = HashMap::with_capacity(pairs.len());
        for (key, value) in pairs {
            let key = self.at(*key).key()?;
            match place.get(&key) {
                Some(&at) => found[at as usize].1 = self.at(*value),
                None => {
                    place.insert(key.clone(), found.len() as u32);
                    found.push((key, self.at(*value)));
                }
            }
        }
        Some(found)
    }

    /// The entry of a dict that has this name.
    pub(crate) fn get(self, name: &str) -> Option<Self> {
        let Node::Dict(pairs) = self.node()? else {
            return None;
        };
        pairs
            .iter()
            .rev()
            .find(|(key, _)| self.at(*key).text() == Some(name))
            .map(|(_, value)| self.at(*value))
    }

    fn slice(self) -> Option<&'a [Value]> {
        match self.node()? {
            Node::List(values) | Node::Tuple(values) => Some(values),
            _ => None,
        }
    }

    /// The values of a list or tuple.
    pub(crate) fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        Some(self.slice()?.iter().map(move |v| self.at(*v)))
    }

    /// Number of values that [`View::numbers`] would give.
    pub(crate) fn count(self) -> Option<usize> {
        match self.node()? {
            Node::Array(array) => Some(array.len()),
            _ => self.slice().map(<[Value]>::len),
        }
    }

    /// The numbers of a list, tuple or array of one dimension.
    pub(crate) fn numbers(self) -> Option<Vec<f64>> {
        match self.node()? {
            Node::Array(array) if array.shape.len() == 1 => {
                let cells = cells(self.pickle, array).chunks_exact(array.dtype.size());
                cells.map(|c| number(array.dtype.decode(c)?)).collect()
            }
            _ => self.slice()?.iter().map(|v| self.at(*v).number()).collect(),
        }
    }

    /// The numbers of a list or array as positions: whole, not negative.
    pub(crate) fn positions(self) -> Option<Vec<usize>> {
        let whole = |x: f64| ((0.0..4e9).contains(&x) && x.fract() == 0.0).then_some(x as usize);
        self.numbers()?.into_iter().map(whole).collect()
    }

    /// The shape of an array.
    pub(crate) fn shape(self) -> Option<&'a [usize]> {
        match self.node()? {
            Node::Array(array) => Some(&array.shape),
            _ => None,
        }
    }

    /// A cell of an array.
    pub(crate) fn cell(self, index: &[usize]) -> Option<f64> {
        let Node::Array(array) = self.node()? else {
            return None;
        };
        cell(array, cells(self.pickle, array), index)
    }

    /// Numbers in rows and columns; `None` for anything else.
    pub(crate) fn grid(self) -> Option<Grid<'a>> {
        if let Some(Node::Array(array)) = self.node() {
            let [rows, columns] = *array.shape.as_slice() else {
                return None;
            };
            return Some(Grid {
                pickle: self.pickle,
                cells: Cells::Array(array, cells(self.pickle, array)),
                rows,
                columns,
            });
        }
        let lists: Vec<&[Value]> = self.items()?.map(Self::slice).collect::<Option<_>>()?;
        let columns = lists.first().map_or(0, |l| l.len());
        if lists.iter().any(|l| l.len() != columns) {
            return None;
        }
        Some(Grid {
            pickle: self.pickle,
            rows: lists.len(),
            columns,
            cells: Cells::Lists(lists),
        })
    }
}

impl Grid<'_> {
    /// Rows and columns.
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// The number in a row and column; NaN for None, `None` for anything that is no number.
    pub(crate) fn get(&self, row: usize, column: usize) -> Option<f64> {
        match &self.cells {
            Cells::Array(array, bytes) => cell(array, bytes, &[row, column]),
            Cells::Lists(lists) => match *lists.get(row)?.get(column)? {
                Value::None => Some(f64::NAN),
                value => View::new(self.pickle, value).number(),
            },
        }
    }
}

fn cells<'a>(pickle: &'a Pickle, array: &Array) -> &'a [u8] {
    match pickle.node(array.data) {
        Some(Node::Bytes(bytes) | Node::Text(bytes)) => pickle.bytes(bytes),
        _ => &[],
    }
}

fn cell(array: &Array, bytes: &[u8], index: &[usize]) -> Option<f64> {
    let at = array.offset(index)?.checked_mul(array.dtype.size())?;
    number(array.dtype.decode(bytes.get(at..)?)?)
}

fn number(value: Value) -> Option<f64> {
    match value {
        Value::Bool(b) => Some(f64::from(b)),
        Value::Int(i) => Some(i as f64),
        Value::Float(x) => Some(x),
        Value::None | Value::Node(_) => None,
    }
}
