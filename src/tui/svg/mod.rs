//! A screen as a picture: a buffer of cells written as SVG.
//!
//! Plot glyphs (Braille, octants, blocks, boxes, marks) are drawn as shapes, not as letters of a
//! font, so a picture looks the same wherever it is opened. Text keeps its cells by `textLength`.

mod shapes;

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

use shapes::shape;

use super::theme::{Rgb, Theme, index_rgb};

/// Width and height of a cell in picture units; a monospaced font of size 16.
const CELL: (f64, f64) = (9.6, 19.0);
const FONT: f64 = 16.0;
const MARGIN: f64 = 14.0;

/// Resolved look of a cell.
#[derive(Clone, Copy, PartialEq)]
struct Look {
    ink: Rgb,
    paper: Option<Rgb>,
    bold: bool,
    italic: bool,
    underline: bool,
}

/// Writes `buffer` as a complete SVG document on the theme's paper.
pub(crate) fn write(buffer: &Buffer, theme: &Theme, title: &str) -> String {
    let area = buffer.area;
    let (width, height) = (
        f64::from(area.width) * CELL.0 + 2.0 * MARGIN,
        f64::from(area.height) * CELL.1 + 2.0 * MARGIN,
    );
    let mut out = String::with_capacity(64 * 1024);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.1} {height:.1}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n\
         <style>.b{{shape-rendering:crispEdges}}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n\
         <g font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" \
         font-size=\"{FONT}\" transform=\"translate({MARGIN} {MARGIN})\">\n",
        escape(title),
        hex(theme.paper),
    );
    for row in 0..area.height {
        write_row(&mut out, buffer, row, theme);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn write_row(out: &mut String, buffer: &Buffer, row: u16, theme: &Theme) {
    let area = buffer.area;
    let top = f64::from(row) * CELL.1;
    let cells: Vec<(&Cell, Look)> = (0..area.width)
        .filter_map(|x| buffer.cell((area.x + x, area.y + row)))
        .map(|cell| (cell, look(cell, theme)))
        .collect();
    // Paper first, in runs, so that no seam shows between cells.
    let mut x = 0;
    while x < cells.len() {
        let paper = cells[x].1.paper;
        let end = (x..cells.len())
            .find(|&i| cells[i].1.paper != paper)
            .unwrap_or(cells.len());
        if let Some(paper) = paper {
            let (left, width) = (x as f64 * CELL.0, (end - x) as f64 * CELL.0);
            let _ = writeln!(
                out,
                "<rect class=\"b\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{}\"/>",
                CELL.1,
                hex(paper)
            );
        }
        x = end;
    }
    let mut x = 0;
    while x < cells.len() {
        let (cell, look) = cells[x];
        let symbol = cell.symbol();
        if symbol.trim().is_empty() {
            x += 1;
            continue;
        }
        if let Some(shape) = shape(symbol, x as f64 * CELL.0, top, &hex(look.ink), look.bold) {
            out.push_str(&shape);
            x += 1;
            continue;
        }
        let end = text_end(&cells, x);
        write_text(out, &cells[x..end], x as f64 * CELL.0, top, look);
        x = end;
    }
}

/// Where the run of letters that begins at `start` ends: the same look, single-width, at most one
/// space between words, no drawn glyph.
fn text_end(cells: &[(&Cell, Look)], start: usize) -> usize {
    let look = cells[start].1;
    if cells[start].0.symbol().width() != 1 {
        return start
            + cells[start]
                .0
                .symbol()
                .width()
                .max(1)
                .min(cells.len() - start);
    }
    let mut end = start + 1;
    while end < cells.len() {
        let symbol = cells[end].0.symbol();
        let blank = symbol.trim().is_empty();
        let same = cells[end].1 == look;
        if blank && same && end + 1 < cells.len() {
            let next = cells[end + 1].0.symbol();
            if !next.trim().is_empty()
                && next.width() == 1
                && cells[end + 1].1 == look
                && shape(next, 0.0, 0.0, "", false).is_none()
            {
                end += 1;
                continue;
            }
            break;
        }
        if blank || !same || symbol.width() != 1 || shape(symbol, 0.0, 0.0, "", false).is_some() {
            break;
        }
        end += 1;
    }
    end
}

fn write_text(out: &mut String, cells: &[(&Cell, Look)], left: f64, top: f64, look: Look) {
    let text: String = if cells[0].0.symbol().width() == 1 {
        cells.iter().map(|(cell, _)| cell.symbol()).collect()
    } else {
        cells[0].0.symbol().to_string()
    };
    let _ = write!(
        out,
        "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{:.1}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{}\"",
        top + 14.4,
        cells.len() as f64 * CELL.0,
        hex(look.ink)
    );
    if look.bold {
        out.push_str(" font-weight=\"bold\"");
    }
    if look.italic {
        out.push_str(" font-style=\"italic\"");
    }
    if look.underline {
        out.push_str(" text-decoration=\"underline\"");
    }
    let _ = writeln!(out, ">{}</text>", escape(&text));
}

fn look(cell: &Cell, theme: &Theme) -> Look {
    let mut ink = rgb(cell.fg).unwrap_or(theme.ink);
    let mut paper = rgb(cell.bg);
    let modifier = cell.modifier;
    if modifier.contains(Modifier::REVERSED) {
        (ink, paper) = (paper.unwrap_or(theme.paper), Some(ink));
    }
    if modifier.contains(Modifier::DIM) {
        ink = mix(ink, paper.unwrap_or(theme.paper), 0.5);
    }
    Look {
        ink,
        paper,
        bold: modifier.contains(Modifier::BOLD),
        italic: modifier.contains(Modifier::ITALIC),
        underline: modifier.contains(Modifier::UNDERLINED),
    }
}

fn mix(a: Rgb, b: Rgb, share: f64) -> Rgb {
    let part = |p: u8, q: u8| (f64::from(p) * share + f64::from(q) * (1.0 - share)).round() as u8;
    (part(a.0, b.0), part(a.1, b.1), part(a.2, b.2))
}

fn rgb(color: Color) -> Option<Rgb> {
    match color {
        Color::Reset => None,
        Color::Rgb(r, g, b) => Some((r, g, b)),
        Color::Indexed(index) => Some(index_rgb(index)),
        Color::Black => Some(index_rgb(0)),
        Color::Red => Some(index_rgb(1)),
        Color::Green => Some(index_rgb(2)),
        Color::Yellow => Some(index_rgb(3)),
        Color::Blue => Some(index_rgb(4)),
        Color::Magenta => Some(index_rgb(5)),
        Color::Cyan => Some(index_rgb(6)),
        Color::Gray => Some(index_rgb(7)),
        Color::DarkGray => Some(index_rgb(8)),
        Color::LightRed => Some(index_rgb(9)),
        Color::LightGreen => Some(index_rgb(10)),
        Color::LightYellow => Some(index_rgb(11)),
        Color::LightBlue => Some(index_rgb(12)),
        Color::LightMagenta => Some(index_rgb(13)),
        Color::LightCyan => Some(index_rgb(14)),
        Color::White => Some(index_rgb(15)),
    }
}

fn hex((r, g, b): Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escape(text: &str) -> String {
    text.chars()
        // Control characters are not allowed in XML at all.
        .filter(|c| !c.is_control())
        .fold(String::with_capacity(text.len()), |mut out, c| {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                c => out.push(c),
            }
            out
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ThemeName;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    fn picture(lines: &[&str], style: Style) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, lines.len() as u16));
        for (row, line) in lines.iter().enumerate() {
            buffer.set_string(0, row as u16, line, style);
        }
        write(&buffer, &Theme::new(ThemeName::Dark), "a < b")
    }

    #[test]
    fn text_is_escaped_and_keeps_its_cells() {
        let svg = picture(&["a<b & c"], Style::new());
        assert!(svg.contains(">a&lt;b &amp; c</text>"), "{svg}");
        assert!(svg.contains("textLength=\"67.2\""));
        assert!(svg.contains("<title>a &lt; b</title>"));
    }

    #[test]
    fn plot_glyphs_are_shapes_not_letters() {
        for symbol in ["⣿", "█", "▀", "▂", "─", "┼", "●", "◆", "▲", "𜴀", "░", "▛"]
        {
            let svg = picture(&[symbol], Style::new());
            assert!(!svg.contains("<text"), "{symbol} became text: {svg}");
            assert!(svg.matches("fill").count() > 1, "{symbol} was not drawn");
        }
    }

    #[test]
    fn reversed_cells_swap_ink_and_paper() {
        let svg = picture(&["SIM"], Style::new().add_modifier(Modifier::REVERSED));
        assert!(svg.contains("height=\"19\" fill=\"#d6dae2\""), "{svg}");
        assert!(svg.contains("fill=\"#15181e\">SIM"));
    }

    #[test]
    fn wide_letters_take_two_cells() {
        let svg = picture(&["漢字"], Style::new());
        assert_eq!(svg.matches("textLength=\"19.2\"").count(), 2, "{svg}");
    }
}
