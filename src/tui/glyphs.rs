//! Marker sets of plots, shapes of anchors, and the frame in ASCII.

use ratatui::buffer::Buffer;

use super::study::Choice;

/// How plots are drawn into character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Marker {
    /// 2 x 4 solid pixels a cell; needs a font of Unicode 16.
    Octant,
    /// 2 x 4 dots a cell.
    Braille,
    /// 1 x 2 solid pixels a cell.
    HalfBlock,
    /// One dot a cell.
    Dot,
    /// One ASCII character a cell, and no character beyond ASCII in the frame either.
    Ascii,
}

impl Choice for Marker {
    const ALL: &'static [Marker] = &[
        Marker::Octant,
        Marker::Braille,
        Marker::HalfBlock,
        Marker::Dot,
        Marker::Ascii,
    ];

    fn label(self) -> &'static str {
        match self {
            Marker::Octant => "octant",
            Marker::Braille => "braille",
            Marker::HalfBlock => "half-block",
            Marker::Dot => "dot",
            Marker::Ascii => "ASCII",
        }
    }
}

impl Marker {
    /// Pixels across and down one cell.
    pub(crate) fn resolution(self) -> (usize, usize) {
        match self {
            Marker::Octant | Marker::Braille => (2, 4),
            Marker::HalfBlock => (1, 2),
            Marker::Dot | Marker::Ascii => (1, 1),
        }
    }
}

/// Shapes of anchors: a family a cluster (or sub-scenario), three weights a family.
const SHAPES: [[&str; 3]; 5] = [
    ["•", "●", "◉"],
    ["▪", "■", "▣"],
    ["⋄", "◆", "◈"],
    ["▴", "▲", "▲"],
    ["▾", "▼", "▼"],
];
/// The same in ASCII.
const ASCII_SHAPES: [[&str; 3]; 5] = [
    ["o", "O", "@"],
    ["x", "X", "#"],
    ["v", "V", "W"],
    ["n", "A", "M"],
    ["c", "C", "G"],
];

/// The glyph of group `group` at weight tier `tier` (0 light, 1 middle, 2 heavy).
pub(crate) fn shape(marker: Marker, group: usize, tier: usize) -> &'static str {
    let set = if marker == Marker::Ascii {
        &ASCII_SHAPES
    } else {
        &SHAPES
    };
    set[group % set.len()][tier.min(2)]
}

/// Replaces the frame's own characters by ASCII ones; item texts in other scripts stay.
pub(crate) fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let replacement = match cell.symbol() {
            "─" | "━" | "┄" | "┈" | "╌" | "–" | "−" | "—" => "-",
            "│" | "┃" | "┆" | "┊" | "╎" => "|",
            "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" | "╭" | "╮" | "╰" | "╯" => {
                "+"
            }
            "╞" | "╡" => "|",
            "═" => "=",
            "█" => "#",
            "░" => ".",
            "·" => "-",
            "•" | "●" => "o",
            "○" => "o",
            "■" | "▪" => "x",
            "◆" | "⋄" => "v",
            "▲" | "▴" | "↑" => "^",
            "▼" | "▾" | "↓" => "v",
            "▸" | "▶" | "→" | "›" => ">",
            "◀" | "←" => "<",
            "±" => "~",
            "λ" => "L",
            "ρ" => "r",
            "τ" => "t",
            "θ" => "t",
            "…" => "~",
            "×" => "x",
            "≤" => "<",
            "²" => "2",
            "◇" => "%",
            "★" => "*",
            "▏" => "|",
            "“" | "”" => "\"",
            "’" => "'",
            "⠀" => " ",
            _ => continue,
        };
        cell.set_symbol(replacement);
    }
}
