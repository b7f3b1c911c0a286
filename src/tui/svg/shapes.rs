//! Plot glyphs as shapes: Braille dots, blocks, box lines, marks.

use std::fmt::Write as _;

use ratatui::symbols::{braille::BRAILLE, pixel::OCTANTS, pixel::QUADRANTS};

use super::CELL;

/// The drawing of a plot glyph, or nothing for a letter.
pub(super) fn shape(symbol: &str, x: f64, y: f64, fill: &str, bold: bool) -> Option<String> {
    let mut letters = symbol.chars();
    let (Some(c), None) = (letters.next(), letters.next()) else {
        return None;
    };
    match c {
        '\u{2800}'..='\u{28ff}' => Some(braille(c, x, y, fill)),
        '█' | '▀' | '▄' | '▌' | '▐' => blocks(c, x, y, fill),
        '▁'..='▇' => {
            let eighths = f64::from(c as u32 - 0x2580);
            let height = CELL.1 * eighths / 8.0;
            Some(rect(x, y + CELL.1 - height, CELL.0, height, fill))
        }
        '▉'..='▏' => {
            let eighths = f64::from(0x2590 - c as u32);
            Some(rect(x, y, CELL.0 * eighths / 8.0, CELL.1, fill))
        }
        '░' | '▒' | '▓' => {
            let opacity = [0.25, 0.5, 0.75][(c as u32 - 0x2591) as usize];
            let block = rect(x, y, CELL.0, CELL.1, fill);
            Some(block.replace("/>", &format!(" fill-opacity=\"{opacity}\"/>")))
        }
        '\u{2500}'..='\u{257f}' => lines(c, x, y, fill, bold),
        _ => marks(c, x, y, fill).or_else(|| blocks(c, x, y, fill)),
    }
}

fn rect(x: f64, y: f64, width: f64, height: f64, fill: &str) -> String {
    format!(
        "<rect class=\"b\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\"/>\n"
    )
}

fn braille(c: char, x: f64, y: f64, fill: &str) -> String {
    let bits = BRAILLE.iter().position(|&b| b == c).unwrap_or(0);
    let mut path = String::new();
    for bit in (0..8).filter(|bit| bits >> bit & 1 == 1) {
        let cx = x + CELL.0 * (0.25 + 0.5 * f64::from(bit % 2));
        let cy = y + CELL.1 * (0.125 + 0.25 * f64::from(bit / 2));
        // A circle of radius 1.45 as two arcs: one path a cell keeps pictures small.
        let _ = write!(
            path,
            "M{:.1} {cy:.1}a1.45 1.45 0 1 0 2.9 0a1.45 1.45 0 1 0-2.9 0",
            cx - 1.45
        );
    }
    format!("<path d=\"{path}\" fill=\"{fill}\"/>\n")
}

fn blocks(c: char, x: f64, y: f64, fill: &str) -> Option<String> {
    let (bits, down) = if let Some(bits) = OCTANTS.iter().position(|&o| o == c) {
        (bits, 4)
    } else {
        (QUADRANTS.iter().position(|&q| q == c)?, 2)
    };
    if bits == 0 {
        return None;
    }
    let (width, height) = (CELL.0 / 2.0, CELL.1 / f64::from(down));
    let mut path = String::new();
    for bit in (0..2 * down).filter(|bit| bits >> bit & 1 == 1) {
        let left = x + width * f64::from(bit % 2);
        let top = y + height * f64::from(bit / 2);
        let _ = write!(
            path,
            "M{left:.2} {top:.2}h{width:.2}v{height:.2}h-{width:.2}z"
        );
    }
    // Class b has crisp edges: no seam shows between blocks.
    Some(format!(
        "<path class=\"b\" d=\"{path}\" fill=\"{fill}\"/>\n"
    ))
}

/// Box drawing: arms from the middle of the cell to its edges.
fn lines(c: char, x: f64, y: f64, fill: &str, bold: bool) -> Option<String> {
    const UP: u8 = 1;
    const RIGHT: u8 = 2;
    const DOWN: u8 = 4;
    const LEFT: u8 = 8;
    let (arms, dashes) = match c {
        '─' | '━' => (LEFT | RIGHT, ""),
        '┄' | '┈' | '╌' => (LEFT | RIGHT, "2 2.8"),
        '│' | '┃' => (UP | DOWN, ""),
        '┆' | '┊' | '╎' => (UP | DOWN, "2.4 2.35"),
        '┌' | '╭' => (RIGHT | DOWN, ""),
        '┐' | '╮' => (LEFT | DOWN, ""),
        '└' | '╰' => (UP | RIGHT, ""),
        '┘' | '╯' => (UP | LEFT, ""),
        '├' | '┠' => (UP | DOWN | RIGHT, ""),
        '┤' | '┨' => (UP | DOWN | LEFT, ""),
        '┬' => (LEFT | RIGHT | DOWN, ""),
        '┴' => (LEFT | RIGHT | UP, ""),
        '┼' => (LEFT | RIGHT | UP | DOWN, ""),
        '╴' => (LEFT, ""),
        '╵' => (UP, ""),
        '╶' => (RIGHT, ""),
        '╷' => (DOWN, ""),
        _ => return None,
    };
    let (cx, cy) = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
    let mut path = String::new();
    if arms == UP | DOWN {
        let _ = write!(path, "M{cx:.1} {y:.1}v{:.1}", CELL.1);
    } else if arms == LEFT | RIGHT {
        let _ = write!(path, "M{x:.1} {cy:.1}h{:.1}", CELL.0);
    } else {
        for (arm, to) in [
            (UP, (cx, y)),
            (DOWN, (cx, y + CELL.1)),
            (LEFT, (x, cy)),
            (RIGHT, (x + CELL.0, cy)),
        ] {
            if arms & arm != 0 {
                let _ = write!(path, "M{cx:.1} {cy:.1}L{:.1} {:.1}", to.0, to.1);
            }
        }
    }
    let width = if bold || matches!(c, '━' | '┃') {
        2.4
    } else {
        1.2
    };
    let ends = if dashes.is_empty() {
        " stroke-linecap=\"square\"".to_string()
    } else {
        format!(" stroke-dasharray=\"{dashes}\"")
    };
    Some(format!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{fill}\" stroke-width=\"{width}\"{ends}/>\n"
    ))
}

/// Marks of plots: discs, squares, diamonds, triangles.
fn marks(c: char, x: f64, y: f64, fill: &str) -> Option<String> {
    let (cx, cy) = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
    let disc =
        |r: f64| format!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{r}\" fill=\"{fill}\"/>\n");
    let ring = |r: f64| {
        format!(
            "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{r}\" fill=\"none\" stroke=\"{fill}\" stroke-width=\"1.4\"/>\n"
        )
    };
    let polygon = |corners: &[(f64, f64)], solid: bool| {
        let mut path = String::new();
        for (at, (dx, dy)) in corners.iter().enumerate() {
            let _ = write!(
                path,
                "{}{:.1} {:.1}",
                if at == 0 { 'M' } else { 'L' },
                cx + dx,
                cy + dy
            );
        }
        if solid {
            format!("<path d=\"{path}z\" fill=\"{fill}\"/>\n")
        } else {
            format!("<path d=\"{path}z\" fill=\"none\" stroke=\"{fill}\" stroke-width=\"1.4\"/>\n")
        }
    };
    let square = |r: f64| vec![(-r, -r), (r, -r), (r, r), (-r, r)];
    let diamond = |r: f64| vec![(0.0, -r), (r, 0.0), (0.0, r), (-r, 0.0)];
    let up = |r: f64| vec![(0.0, -r), (r, 0.8 * r), (-r, 0.8 * r)];
    let down = |r: f64| vec![(0.0, r), (r, -0.8 * r), (-r, -0.8 * r)];
    let right = |r: f64| vec![(r, 0.0), (-0.8 * r, r), (-0.8 * r, -r)];
    Some(match c {
        '·' => disc(1.3),
        '•' => disc(2.4),
        '●' => disc(3.9),
        '◉' => disc(2.6) + &ring(4.7),
        '○' => ring(3.5),
        '▪' => polygon(&square(2.2), true),
        '■' => polygon(&square(3.6), true),
        '▣' => polygon(&square(2.4), true) + &polygon(&square(4.4), false),
        '⋄' => polygon(&diamond(3.0), true),
        '◆' => polygon(&diamond(4.8), true),
        '◈' => polygon(&diamond(3.2), true) + &polygon(&diamond(5.6), false),
        '▴' => polygon(&up(3.0), true),
        '▲' => polygon(&up(4.8), true),
        '▾' => polygon(&down(3.0), true),
        '▼' => polygon(&down(4.8), true),
        '▸' => polygon(&right(3.0), true),
        '▶' => polygon(&right(4.4), true),
        _ => return None,
    })
}
