//! The machine that a pickle is a program for, with every opcode of protocols 0 to 5 that builds data.

mod literals;

use std::collections::HashMap;
use std::path::Path;

use super::construct::Constructor;
use super::{Node, Value};
use crate::error::{Error, Result};

/// Most values that are put on the stack: 16 bytes each.
const VALUES: usize = 64_000_000;
/// Most lists, dicts, strings and arrays.
const NODES: usize = 16_000_000;
/// Most entries of the memo.
const MEMO: usize = 16_000_000;
/// Most bytes that constructors copy.
const COPIES: usize = 2 << 30;
/// Deepest nesting of marks.
const DEPTH: usize = 1000;

const CUT_OFF: &str = "the file is cut off or damaged";
const REFUSED: &str = "a pickle can name any function of Python; only lists, dicts, numbers, strings and numpy arrays are \
                       read: save it again as those";

/// The stack, the memo and the nodes made so far.
pub(super) struct Machine<'a> {
    path: &'a Path,
    data: &'a [u8],
    at: usize,
    /// Where the opcode stands that is worked on.
    opcode_at: usize,
    stack: Vec<Value>,
    /// Heights of the stack at its marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    nodes: Vec<Node>,
    pushed: usize,
    /// Bytes that constructors may still copy: what they make is never much larger than the file.
    copies_left: usize,
}

/// Runs a pickle to its end: the nodes and the outermost value.
pub(super) fn run(path: &Path, data: &[u8]) -> Result<(Vec<Node>, Value)> {
    let mut machine = Machine {
        path,
        data,
        at: 0,
        opcode_at: 0,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        nodes: Vec::new(),
        pushed: 0,
        copies_left: data.len().saturating_mul(16).clamp(4096, COPIES),
    };
    loop {
        machine.opcode_at = machine.at;
        let opcode = machine.byte()?;
        if opcode == b'.' {
            let root = machine.pop()?;
            return Ok((machine.nodes, root));
        }
        machine.step(opcode)?;
    }
}

impl Machine<'_> {
    fn step(&mut self, opcode: u8) -> Result<()> {
        match opcode {
            // Protocol, frame length: nothing to build.
            0x80 => {
                let version = self.byte()?;
                if version > 5 {
                    return Err(self.wrong(format!("protocol {version}, 0 to 5 are known"), ""));
                }
                Ok(())
            }
            0x95 => self.unsigned(8).map(drop),
            // Numbers.
            b'N' => self.push(Value::None),
            0x88 => self.push(Value::Bool(true)),
            0x89 => self.push(Value::Bool(false)),
            b'K' => self.integer(1),
            b'M' => self.integer(2),
            b'J' => {
                let n = self.unsigned(4)? as u32;
                self.push(Value::Int(i64::from(n as i32)))
            }
            b'G' => {
                let bits = self.unsigned(8)?.swap_bytes();
                self.push(Value::Float(f64::from_bits(bits)))
            }
            0x8a => self.long(1),
            0x8b => self.long(4),
            b'I' | b'L' | b'F' => self.decimal(opcode),
            // Strings and bytes.
            0x8c => self.text_of(1),
            b'X' => self.text_of(4),
            0x8d => self.text_of(8),
            b'C' => self.bytes_of(1),
            b'B' => self.bytes_of(4),
            0x8e | 0x96 => self.bytes_of(8),
            b'U' => self.string_of(1),
            b'T' => self.string_of(4),
            b'S' | b'V' => self.escaped(opcode),
            // Containers.
            b'(' => {
                if self.marks.len() == DEPTH {
                    return Err(self.wrong(
                        format!("nested more than {DEPTH} deep"),
                        "no data that this reads are",
                    ));
                }
                self.marks.push(self.stack.len());
                Ok(())
            }
            b']' => self.node_on_top(Node::List(Vec::new())),
            b'}' => self.node_on_top(Node::Dict(Vec::new())),
            b')' => self.node_on_top(Node::Tuple(Vec::new())),
            0x8f => self.node_on_top(Node::Set(Vec::new())),
            b'l' => self.marked_node(Node::List),
            b't' => self.marked_node(Node::Tuple),
            0x91 => self.marked_node(Node::Set),
            b'd' => {
                let values = self.marked()?;
                let pairs = self.pairs(&values)?;
                self.node_on_top(Node::Dict(pairs))
            }
            0x85..=0x87 => {
                let n = usize::from(opcode - 0x84);
                let mut values = Vec::with_capacity(n);
                for _ in 0..n {
                    values.push(self.pop()?);
                }
                values.reverse();
                self.node_on_top(Node::Tuple(values))
            }
            b'a' => {
                let value = self.pop()?;
                self.extend(&[value])
            }
            b'e' | 0x90 => {
                let values = self.marked()?;
                self.extend(&values)
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.insert(&[key, value])
            }
            b'u' => {
                let values = self.marked()?;
                self.insert(&values)
            }
            // The stack and the memo.
            b'0' => match self.marks.last() {
                Some(&mark) if mark == self.stack.len() => {
                    self.marks.pop();
                    Ok(())
                }
                _ => self.pop().map(drop),
            },
            b'1' => self.marked().map(drop),
            b'2' => {
                let top = self.top()?;
                self.push(top)
            }
            b'q' => self.unsigned(1).and_then(|k| self.remember(k)),
            b'r' => self.unsigned(4).and_then(|k| self.remember(k)),
            b'p' => self.index().and_then(|k| self.remember(k)),
            0x94 => self.remember(self.memo.len() as u64),
            b'h' => self.unsigned(1).and_then(|k| self.recall(k)),
            b'j' => self.unsigned(4).and_then(|k| self.recall(k)),
            b'g' => self.index().and_then(|k| self.recall(k)),
            // Names and what they make.
            b'c' => {
                let module = self.line()?;
                let name = self.line()?;
                let (module, name) = (self.lossy(module), self.lossy(name));
                self.global(&module, &name)
            }
            0x93 => {
                let name = self.pop()?;
                let module = self.pop()?;
                let text = |v| self.text(v).map(str::to_owned);
                match (text(module), text(name)) {
                    (Some(module), Some(name)) => self.global(&module, &name),
                    _ => Err(self.wrong("a name that is no string", REFUSED)),
                }
            }
            b'R' | 0x81 => {
                let args = self.pop()?;
                let function = self.pop()?;
                let made = match (self.node(function), self.node(args)) {
                    (Some(Node::Constructor(c)), Some(Node::Tuple(args))) => {
                        let (c, args) = (*c, args.clone());
                        self.charge(args.len())
                            .and_then(|()| self.construct(c, &args))
                    }
                    _ => Err("a call of something that is no constructor".into()),
                };
                let value = made.map_err(|what| self.wrong(what, REFUSED))?;
                self.push(value)
            }
            b'b' => {
                let state = self.pop()?;
                let object = self.top()?;
                self.build(object, state)
                    .map_err(|what| self.wrong(what, REFUSED))
            }
            b'i' | b'o' | 0x92 => Err(self.wrong("an object of a class", REFUSED)),
            b'P' | b'Q' => Err(self.wrong("a reference to something outside the file", REFUSED)),
            0x82..=0x84 => Err(self.wrong("a name from Python's extension registry", REFUSED)),
            0x97 | 0x98 => Err(self.wrong("a buffer kept outside the file", REFUSED)),
            other => Err(self.wrong(format!("0x{other:02x} is no opcode of a pickle"), CUT_OFF)),
        }
    }

    /// An error at the opcode that is worked on.
    fn wrong(&self, what: impl AsRef<str>, hint: &str) -> Error {
        let what = format!("byte {}: {}", self.opcode_at, what.as_ref());
        Error::input(self.path, what, hint)
    }

    // The stack.

    fn push(&mut self, value: Value) -> Result<()> {
        self.pushed += 1;
        if self.pushed > VALUES {
            return Err(self.wrong(
                format!("more than {VALUES} values"),
                "write the responses as numpy arrays",
            ));
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Value> {
        let value = self.top()?;
        self.stack.pop();
        Ok(value)
    }

    fn top(&self) -> Result<Value> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(value) if self.stack.len() > floor => Ok(*value),
            _ => Err(self.wrong("a value is needed and none is there", CUT_OFF)),
        }
    }

    fn marked(&mut self) -> Result<Vec<Value>> {
        match self.marks.pop() {
            Some(mark) => Ok(self.stack.split_off(mark)),
            None => Err(self.wrong("a mark is needed and none is there", CUT_OFF)),
        }
    }

    fn remember(&mut self, key: u64) -> Result<()> {
        let value = self.top()?;
        match u32::try_from(key) {
            Ok(key) if self.memo.len() < MEMO => {
                self.memo.insert(key, value);
                Ok(())
            }
            _ => Err(self.wrong(format!("more than {MEMO} values remembered"), "")),
        }
    }

    fn recall(&mut self, key: u64) -> Result<()> {
        let found = u32::try_from(key).ok().and_then(|k| self.memo.get(&k));
        match found.copied() {
            Some(value) => self.push(value),
            None => Err(self.wrong(format!("value {key} was never remembered"), CUT_OFF)),
        }
    }

    // Nodes.

    /// A new node; `Err` says what limit is met.
    pub(super) fn make(&mut self, node: Node) -> std::result::Result<Value, String> {
        if self.nodes.len() >= NODES {
            return Err(format!("more than {NODES} lists, dicts and strings"));
        }
        self.nodes.push(node);
        Ok(Value::Node(self.nodes.len() as u32 - 1))
    }

    fn node_on_top(&mut self, node: Node) -> Result<()> {
        let value = self.make(node).map_err(|what| self.wrong(what, ""))?;
        self.push(value)
    }

    fn marked_node(&mut self, node: impl Fn(Vec<Value>) -> Node) -> Result<()> {
        let values = self.marked()?;
        self.node_on_top(node(values))
    }

    pub(super) fn node(&self, value: Value) -> Option<&Node> {
        match value {
            Value::Node(at) => self.nodes.get(at as usize),
            _ => None,
        }
    }

    pub(super) fn replace(&mut self, value: Value, node: Node) {
        if let Value::Node(at) = value
            && let Some(old) = self.nodes.get_mut(at as usize)
        {
            *old = node;
        }
    }

    pub(super) fn text(&self, value: Value) -> Option<&str> {
        match self.node(value)? {
            Node::Text(bytes) => std::str::from_utf8(bytes.of(self.data)).ok(),
            _ => None,
        }
    }

    /// Bytes, or a string of Python 2 that holds some.
    pub(super) fn raw(&self, value: Value) -> Option<&[u8]> {
        match self.node(value)? {
            Node::Text(bytes) | Node::Bytes(bytes) => Some(bytes.of(self.data)),
            _ => None,
        }
    }

    pub(super) fn values(&self, value: Value) -> Option<&[Value]> {
        match self.node(value)? {
            Node::List(values) | Node::Tuple(values) | Node::Set(values) => Some(values),
            _ => None,
        }
    }

    /// Takes the memory of a copy out of what the file may still use; `Err` when nothing is left.
    pub(super) fn charge(&mut self, bytes: usize) -> std::result::Result<(), String> {
        match self.copies_left.checked_sub(bytes) {
            Some(left) => {
                self.copies_left = left;
                Ok(())
            }
            None => Err("the same values copied over and over".into()),
        }
    }

    fn extend(&mut self, values: &[Value]) -> Result<()> {
        let list = self.top()?;
        if let Value::Node(at) = list
            && let Some(Node::List(to) | Node::Set(to)) = self.nodes.get_mut(at as usize)
        {
            to.extend_from_slice(values);
            return Ok(());
        }
        Err(self.wrong("values for something that is no list", REFUSED))
    }

    fn pairs(&self, values: &[Value]) -> Result<Vec<(Value, Value)>> {
        if values.len() % 2 == 1 {
            return Err(self.wrong("a key without a value", CUT_OFF));
        }
        Ok(values.chunks_exact(2).map(|p| (p[0], p[1])).collect())
    }

    fn insert(&mut self, values: &[Value]) -> Result<()> {
        let pairs = self.pairs(values)?;
        let dict = self.top()?;
        if let Value::Node(at) = dict
            && let Some(Node::Dict(to)) = self.nodes.get_mut(at as usize)
        {
            to.extend(pairs);
            return Ok(());
        }
        Err(self.wrong("entries for something that is no dict", REFUSED))
    }

    fn global(&mut self, module: &str, name: &str) -> Result<()> {
        match Constructor::named(module, name) {
            Some(constructor) => self.node_on_top(Node::Constructor(constructor)),
            None => {
                let short = |s: &str| s.chars().take(100).collect::<String>();
                Err(self.wrong(
                    format!(
                        "it names {}.{}, which is not on the short list of numpy constructors; refused, nothing was executed",
                        short(module).escape_debug(),
                        short(name).escape_debug()
                    ),
                    REFUSED,
                ))
            }
        }
    }
}
