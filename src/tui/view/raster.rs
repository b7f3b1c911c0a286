//! Pixels inside character cells: Braille, octants, half blocks, dots or ASCII.
//!
//! A cell has one colour, so every pixel carries a layer: a higher layer takes a cell over whole,
//! pixels of one layer join. ratatui's canvas has no layers within a cell and colours instead of
//! styles, and the theme without colours needs weight and reversal.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::{braille::BRAILLE, pixel::OCTANTS};

use crate::tui::glyphs::Marker;

/// How a line is drawn, so that lines differ without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    /// Every pixel.
    Solid,
    /// Longer dashes.
    Dashed,
    /// Single pixels with gaps.
    Dotted,
}

impl Stroke {
    fn inks(self, step: usize) -> bool {
        match self {
            Stroke::Solid => true,
            Stroke::Dashed => step % 6 < 4,
            Stroke::Dotted => step.is_multiple_of(4),
        }
    }
}

/// Layers from this one on are lines; what is below is a background.
const LINES: u8 = 2;

#[derive(Debug, Clone, Copy)]
struct Ink {
    bits: u8,
    layer: u8,
    style: Style,
}

/// A rectangle of cells that is drawn pixel by pixel and then written into a buffer.
#[derive(Debug)]
pub(crate) struct Raster {
    /// Pixels of lower lines stay in cells that a higher one crosses.
    pub(crate) join: bool,
    area: Rect,
    marker: Marker,
    cells: Vec<Ink>,
}

impl Raster {
    /// An empty raster over `area`.
    pub(crate) fn new(area: Rect, marker: Marker) -> Raster {
        let blank = Ink {
            bits: 0,
            layer: 0,
            style: Style::new(),
        };
        Raster {
            join: false,
            area,
            marker,
            cells: vec![blank; usize::from(area.width) * usize::from(area.height)],
        }
    }

    /// Width and height in pixels.
    pub(crate) fn size(&self) -> (usize, usize) {
        let (across, down) = self.marker.resolution();
        (
            usize::from(self.area.width) * across,
            usize::from(self.area.height) * down,
        )
    }

    /// Inks the pixel at `x`, `y` (origin at the top left); outside is ignored.
    pub(crate) fn dot(&mut self, x: i64, y: i64, style: Style, layer: u8) {
        let (across, down) = self.marker.resolution();
        let (width, height) = self.size();
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x >= width || y >= height {
            return;
        }
        let at = (y / down) * usize::from(self.area.width) + x / across;
        let bit = 1u8 << ((y % down) * across + x % across);
        let join = self.join;
        let cell = &mut self.cells[at];
        if layer > cell.layer || cell.bits == 0 {
            // Lines that cross stay whole: the upper one lends its colour to the cell.
            let below = if join && cell.layer >= LINES {
                cell.bits
            } else {
                0
            };
            *cell = Ink {
                bits: below | bit,
                layer,
                style,
            };
        } else if join && layer >= LINES && layer < cell.layer {
            cell.bits |= bit;
        } else if layer == cell.layer {
            cell.bits |= bit;
            cell.style = style;
        }
    }

    /// Draws a line between two pixel positions; ends may lie outside.
    pub(crate) fn line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        style: Style,
        layer: u8,
        stroke: Stroke,
        phase: &mut usize,
    ) {
        let (width, height) = self.size();
        let limit = (width as f64 - 1.0, height as f64 - 1.0);
        let Some((from, to)) = clip(from, to, limit) else {
            return;
        };
        let steps = (to.0 - from.0)
            .abs()
            .max((to.1 - from.1).abs())
            .round()
            .max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            if stroke.inks(*phase) {
                self.dot(x.round() as i64, y.round() as i64, style, layer);
            }
            *phase += 1;
        }
    }

    /// Writes all inked cells into `buffer`.
    pub(crate) fn write(&self, buffer: &mut Buffer) {
        let width = usize::from(self.area.width);
        for (at, ink) in self
            .cells
            .iter()
            .enumerate()
            .filter(|(_, ink)| ink.bits != 0)
        {
            let x = self.area.x + (at % width) as u16;
            let y = self.area.y + (at / width) as u16;
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
                cell.set_char(self.glyph(*ink)).set_style(ink.style);
            }
        }
    }

    fn glyph(&self, ink: Ink) -> char {
        let bits = usize::from(ink.bits);
        match self.marker {
            Marker::Octant => OCTANTS[bits],
            Marker::Braille => BRAILLE[bits],
            Marker::HalfBlock => [' ', '▀', '▄', '█'][bits & 3],
            Marker::Dot => '·',
            Marker::Ascii => '.',
        }
    }
}

/// The part of a segment inside (0, 0)..limit (Liang and Barsky).
fn clip(from: (f64, f64), to: (f64, f64), limit: (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    if !(dx.is_finite() && dy.is_finite()) {
        return None;
    }
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for (p, q) in [
        (-dx, from.0),
        (dx, limit.0 - from.0),
        (-dy, from.1),
        (dy, limit.1 - from.1),
    ] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            enter = enter.max(q / p);
        } else {
            leave = leave.min(q / p);
        }
    }
    let at = |share: f64| (from.0 + share * dx, from.1 + share * dy);
    (enter <= leave).then(|| (at(enter), at(leave)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(marker: Marker, dots: &[(i64, i64)]) -> String {
        let area = Rect::new(0, 0, 1, 1);
        let mut raster = Raster::new(area, marker);
        for &(x, y) in dots {
            raster.dot(x, y, Style::new(), 1);
        }
        let mut buffer = Buffer::empty(area);
        raster.write(&mut buffer);
        buffer[(0, 0)].symbol().to_string()
    }

    #[test]
    fn pixels_of_a_cell_make_its_glyph() {
        assert_eq!(symbol(Marker::Braille, &[(0, 0), (1, 3)]), "⢁");
        assert_eq!(symbol(Marker::HalfBlock, &[(0, 1)]), "▄");
        assert_eq!(symbol(Marker::HalfBlock, &[(0, 0), (0, 1)]), "█");
        assert_eq!(
            symbol(Marker::Octant, &[(0, 0), (0, 1), (0, 2), (0, 3)]),
            "▌"
        );
        assert_eq!(symbol(Marker::Ascii, &[(0, 0)]), ".");
    }

    #[test]
    fn outside_and_unbounded_positions_are_ignored() {
        assert_eq!(
            symbol(Marker::Braille, &[(-1, 0), (2, 0), (0, 4), (i64::MAX, 0)]),
            " "
        );
        let mut raster = Raster::new(Rect::new(0, 0, 4, 2), Marker::Braille);
        let mut phase = 0;
        raster.line(
            (f64::NAN, 0.0),
            (1.0, 1.0),
            Style::new(),
            1,
            Stroke::Solid,
            &mut phase,
        );
        raster.line(
            (-1e12, -5.0),
            (1e12, -5.0),
            Style::new(),
            1,
            Stroke::Solid,
            &mut phase,
        );
        assert!(raster.cells.iter().all(|ink| ink.bits == 0));
    }

    #[test]
    fn joined_lines_stay_whole_over_a_background() {
        let mut raster = Raster::new(Rect::new(0, 0, 1, 1), Marker::Braille);
        raster.join = true;
        raster.dot(0, 0, Style::new(), 1);
        raster.dot(1, 0, Style::new().red(), 2);
        raster.dot(0, 3, Style::new().blue(), 3);
        raster.dot(1, 3, Style::new().red(), 2);
        assert_eq!(raster.cells[0].style, Style::new().blue());
        assert_eq!(raster.cells[0].bits.count_ones(), 3);
    }

    #[test]
    fn a_higher_layer_takes_the_cell_over() {
        let area = Rect::new(0, 0, 1, 1);
        let mut raster = Raster::new(area, Marker::Braille);
        raster.dot(0, 0, Style::new(), 1);
        raster.dot(1, 0, Style::new().red(), 2);
        raster.dot(0, 3, Style::new(), 1);
        assert_eq!(raster.cells[0].bits, 2);
        assert_eq!(raster.cells[0].style, Style::new().red());
    }
}
