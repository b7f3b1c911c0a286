//! A raster between axes: labels that never overlap, and positions of data in cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

pub(crate) use super::axis::{Axis, Unit};
use super::frame::over;
use super::raster::{Raster, Stroke};
use crate::tui::glyphs::Marker;
use crate::tui::theme::Theme;

fn has_own_row(area: Rect, x: &Axis) -> bool {
    x.unit != Unit::Bare && x.label.width() > 2 && area.height >= 13
}

/// A plot being drawn: axes, a raster, and glyphs on top.
#[derive(Debug)]
pub(crate) struct Plot {
    x: Axis,
    y: Axis,
    /// The cells between the axes.
    pub(crate) inner: Rect,
    raster: Raster,
    glyphs: Vec<(u16, u16, String, Style)>,
    phase: usize,
    /// Pixels that a curve is wide beside its middle: more than 0 on slides.
    pub(crate) thick: u8,
}

impl Plot {
    /// Lays a plot out in `area` and draws its axes.
    pub(crate) fn new(
        area: Rect,
        x: Axis,
        y: Axis,
        theme: &Theme,
        marker: Marker,
        buffer: &mut Buffer,
    ) -> Plot {
        let bare = y.unit == Unit::Bare;
        let y_ticks = y.ticks((usize::from(area.height) / 4).clamp(3, 8));
        let step = |ticks: &[f64]| match ticks {
            [first, second, ..] => second - first,
            _ => 1.0,
        };
        let y_labels: Vec<String> = y_ticks
            .iter()
            .map(|&v| y.write(v, step(&y_ticks)))
            .collect();
        let gutter = if bare {
            1
        } else {
            y_labels.iter().map(|l| l.width()).max().unwrap_or(0) as u16 + 1
        };
        // One row for the y label, one for the x axis, one for its ticks, and where there is height
        // enough one for the x label; else the label shares the ticks' row.
        let top = u16::from(!y.label.is_empty());
        let own = u16::from(has_own_row(area, &x));
        let inner = Rect {
            x: area.x + gutter.min(area.width),
            y: area.y + top.min(area.height),
            width: area.width.saturating_sub(gutter + 1),
            height: area.height.saturating_sub(2 + top + own),
        };
        let plot = Plot {
            raster: Raster::new(inner, marker),
            x,
            y,
            inner,
            glyphs: Vec::new(),
            phase: 0,
            thick: 0,
        };
        if inner.is_empty() {
            return plot;
        }
        plot.draw_axes(area, &y_ticks, &y_labels, theme, buffer);
        plot
    }

    fn draw_axes(
        &self,
        area: Rect,
        y_ticks: &[f64],
        y_labels: &[String],
        theme: &Theme,
        buffer: &mut Buffer,
    ) {
        let inner = self.inner;
        let left = inner.x - 1;
        let bottom = inner.bottom();
        if !self.y.label.is_empty() {
            let room = usize::from(area.width);
            buffer.set_stringn(area.x, area.y, &self.y.label, room, theme.dim);
        }
        for y in inner.y..inner.bottom() {
            buffer.set_string(left, y, "│", theme.border);
        }
        buffer.set_string(left, bottom, "└", theme.border);
        for x in inner.x..inner.right() {
            buffer.set_string(x, bottom, "─", theme.border);
        }
        if self.y.unit != Unit::Bare {
            for (&value, label) in y_ticks.iter().zip(y_labels) {
                if let Some((_, y)) = self.cell(self.x.low, value) {
                    let x = left.saturating_sub(label.width() as u16);
                    buffer.set_string(x, y, label, theme.dim);
                    over(buffer, left, y, "┤", theme.border);
                }
            }
        }
        let row = bottom + 1;
        let own = has_own_row(area, &self.x);
        let label_width = self.x.label.width() as u16;
        // The label stands at the right end of the tick row; ticks that would touch it are left out.
        let label_at = match label_width {
            0..=2 => inner.right(),
            _ => inner.right().saturating_sub(label_width).max(inner.x),
        };
        // A single letter stands at the end of the axis itself.
        let label_row = if label_width <= 2 {
            bottom
        } else {
            row + u16::from(own)
        };
        buffer.set_stringn(
            label_at,
            label_row,
            &self.x.label,
            usize::from(inner.width),
            theme.dim,
        );
        if self.x.unit == Unit::Bare {
            return;
        }
        let ticks = self.x.ticks((usize::from(inner.width) / 9).clamp(2, 10));
        let step = if ticks.len() > 1 {
            ticks[1] - ticks[0]
        } else {
            1.0
        };
        let mut free = area.x;
        for value in ticks {
            let Some((x, _)) = self.cell(value, self.y.low) else {
                continue;
            };
            buffer.set_string(x, bottom, "┴", theme.border);
            let label = self.x.write(value, step);
            let width = label.width() as u16;
            let start = x.saturating_sub((width - 1) / 2).max(area.x);
            let shared = label_width > 2 && !own;
            let room_right = if shared { label_at } else { area.right() + 1 };
            if start >= free && start + width < room_right {
                buffer.set_string(start, row, &label, theme.dim);
                free = start + width + 1;
            }
        }
    }

    /// Lines that cross stay whole, in the colour of the upper one.
    pub(crate) fn joined(mut self) -> Plot {
        self.raster.join = true;
        self
    }

    /// The cell of a data position, if it lies inside.
    pub(crate) fn cell(&self, x: f64, y: f64) -> Option<(u16, u16)> {
        let (px, py) = self.pixel(x, y);
        let (width, height) = self.raster.size();
        if !(px.is_finite() && py.is_finite()) || width == 0 || height == 0 {
            return None;
        }
        let (px, py) = (px.round(), py.round());
        if px < 0.0 || py < 0.0 || px >= width as f64 || py >= height as f64 {
            return None;
        }
        let across = width / usize::from(self.inner.width);
        let down = height / usize::from(self.inner.height);
        let column = (px as usize / across) as u16;
        let row = (py as usize / down) as u16;
        Some((self.inner.x + column, self.inner.y + row))
    }

    /// The ends of the x axis.
    pub(crate) fn range(&self) -> (f64, f64) {
        (self.x.low, self.x.high)
    }

    /// The value at the lower end of the y axis.
    pub(crate) fn bottom(&self) -> f64 {
        self.y.low
    }

    /// The topmost cell above a value of the x axis, if that is inside.
    pub(crate) fn top(&self, x: f64) -> Option<(u16, u16)> {
        self.cell(x, self.y.high)
    }

    fn pixel(&self, x: f64, y: f64) -> (f64, f64) {
        let (width, height) = self.raster.size();
        (
            self.x.share(x) * (width as f64 - 1.0),
            (1.0 - self.y.share(y)) * (height as f64 - 1.0),
        )
    }

    /// The data position of the middle of a cell, if that is inside.
    pub(crate) fn data(&self, column: u16, row: u16) -> Option<(f64, f64)> {
        if !self.inner.contains((column, row).into()) {
            return None;
        }
        let x = (f64::from(column - self.inner.x) + 0.5) / f64::from(self.inner.width);
        let y = (f64::from(row - self.inner.y) + 0.5) / f64::from(self.inner.height);
        Some((self.x.value(x), self.y.value(1.0 - y)))
    }

    /// A single point; on slides a small square.
    pub(crate) fn point(&mut self, x: f64, y: f64, style: Style, layer: u8) {
        let (px, py) = self.pixel(x, y);
        if px.is_finite() && py.is_finite() {
            self.raster
                .dot(px.round() as i64, py.round() as i64, style, layer);
        }
    }

    /// A filled rectangle.
    pub(crate) fn block(&mut self, x: (f64, f64), y: (f64, f64), style: Style, layer: u8) {
        let (from, bottom) = self.pixel(x.0, y.0);
        let (to, top) = self.pixel(x.1, y.1);
        let (width, height) = self.raster.size();
        let columns = from.round().max(0.0) as i64..=to.round().min(width as f64 - 1.0) as i64;
        // Nothing is drawn for nothing.
        let rows = top.round().max(0.0) as i64..=bottom.round().min(height as f64 - 1.0) as i64;
        if bottom - top < 0.5 {
            return;
        }
        for column in columns {
            for row in rows.clone() {
                self.raster.dot(column, row, style, layer);
            }
        }
    }

    /// A filled disc, for slides; `radius` in rows of cells.
    pub(crate) fn disc(&mut self, x: f64, y: f64, radius: f64, style: Style, layer: u8) {
        let (px, py) = self.pixel(x, y);
        if !(px.is_finite() && py.is_finite()) || self.inner.is_empty() {
            return;
        }
        let (width, height) = self.raster.size();
        let across = width as f64 / f64::from(self.inner.width);
        let down = height as f64 / f64::from(self.inner.height);
        // A cell is about twice as high as wide.
        let (rx, ry) = (radius * across * 2.0, radius * down);
        for dy in -ry.ceil() as i64..=ry.ceil() as i64 {
            for dx in -rx.ceil() as i64..=rx.ceil() as i64 {
                let inside = (dx as f64 / rx).powi(2) + (dy as f64 / ry).powi(2) <= 1.0;
                if inside {
                    let (x, y) = (px.round() as i64 + dx, py.round() as i64 + dy);
                    self.raster.dot(x, y, style, layer);
                }
            }
        }
    }

    /// The room between two curves, as a light pattern: (x, low, high) in rising order of x.
    pub(crate) fn band(&mut self, points: &[(f64, f64, f64)], style: Style, layer: u8) {
        let (width, height) = self.raster.size();
        let (width, height) = (width as f64, height as f64);
        for pair in points.windows(2) {
            let (p, q) = (pair[0], pair[1]);
            let (from, to) = (self.pixel(p.0, p.1).0, self.pixel(q.0, q.1).0);
            let steps = (
                from.ceil().max(0.0) as i64,
                to.floor().min(width - 1.0) as i64,
            );
            for column in steps.0..=steps.1 {
                let share = ((column as f64 - from) / (to - from).max(1e-9)).clamp(0.0, 1.0);
                let at = |a: f64, b: f64| a + share * (b - a);
                let top = self.pixel(p.0, at(p.2, q.2)).1;
                let bottom = self.pixel(p.0, at(p.1, q.1)).1;
                let rows = (
                    top.ceil().max(0.0) as i64,
                    bottom.floor().min(height - 1.0) as i64,
                );
                for row in rows.0..=rows.1 {
                    if (column + row) % 2 == 0 {
                        self.raster.dot(column, row, style, layer);
                    }
                }
            }
        }
    }

    /// A line through points; gaps where a value is not finite.
    pub(crate) fn curve(&mut self, points: &[(f64, f64)], style: Style, layer: u8, stroke: Stroke) {
        let thick = f64::from(self.thick);
        for pair in points.windows(2) {
            let from = self.pixel(pair[0].0, pair[0].1);
            let to = self.pixel(pair[1].0, pair[1].1);
            let mut phase = self.phase;
            let mut shift = -thick;
            while shift <= thick {
                phase = self.phase;
                let moved = |p: (f64, f64)| (p.0, p.1 + shift);
                self.raster
                    .line(moved(from), moved(to), style, layer, stroke, &mut phase);
                shift += 1.0;
            }
            self.phase = phase;
        }
    }

    /// A glyph on top of the raster; a later one covers an earlier one.
    pub(crate) fn glyph(&mut self, x: f64, y: f64, symbol: &str, style: Style) {
        if let Some((column, row)) = self.cell(x, y) {
            self.glyphs.push((column, row, symbol.to_string(), style));
        }
    }

    /// A glyph in every cell from one value to another above the same place.
    pub(crate) fn column(&mut self, x: f64, y: (f64, f64), symbol: &str, style: Style) {
        let within = |value: f64| value.clamp(self.y.low, self.y.high);
        let ends = (self.cell(x, within(y.0)), self.cell(x, within(y.1)));
        let (Some((column, bottom)), Some((_, top))) = ends else {
            return;
        };
        for row in top..=bottom {
            let glyph = (column, row, symbol.to_owned(), style);
            self.glyphs.push(glyph);
        }
    }

    /// A vertical line of the frame's own characters, below data.
    pub(crate) fn rule(&mut self, x: f64, style: Style, buffer: &mut Buffer) {
        if let Some((column, _)) = self.cell(x, self.y.low) {
            for row in self.inner.y..self.inner.bottom() {
                buffer.set_string(column, row, "┊", style);
            }
            over(buffer, column, self.inner.bottom(), "┴", style);
        }
    }

    /// Writes raster and glyphs into the buffer.
    pub(crate) fn finish(self, buffer: &mut Buffer) {
        self.raster.write(buffer);
        for (x, y, symbol, style) in self.glyphs {
            over(buffer, x, y, &symbol, style);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ThemeName;

    #[test]
    fn every_size_draws_without_panic() {
        let theme = Theme::new(ThemeName::Dark);
        for width in 0..20 {
            for height in 0..8 {
                let area = Rect::new(0, 0, width, height);
                let mut buffer = Buffer::empty(area);
                let axis = Axis::around([0.0, 1.0], "score", Unit::Percent);
                let mut plot = Plot::new(
                    area,
                    axis.clone(),
                    axis,
                    &theme,
                    Marker::Braille,
                    &mut buffer,
                );
                plot.point(0.5, 0.5, theme.accent, 1);
                plot.curve(&[(-1.0, 0.0), (2.0, 1.0)], theme.accent, 1, Stroke::Dashed);
                plot.glyph(1.0, 1.0, "●", theme.accent);
                plot.rule(0.5, theme.dim, &mut buffer);
                plot.finish(&mut buffer);
            }
        }
    }
}
