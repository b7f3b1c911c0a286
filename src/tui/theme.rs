//! Styles by role and the four themes.
//!
//! A view asks for a role ("accent", "series 2") and never names a colour. No role paints a
//! background except by reversing the terminal's own colours, so light and dark terminals both work.

use ratatui::style::{Color, Modifier, Style};

use super::study::Choice;

/// A colour by its red, green and blue parts.
pub(crate) type Rgb = (u8, u8, u8);

/// The themes that `--theme` and the theme key know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ThemeName {
    /// Bright colours for a dark terminal.
    Dark,
    /// Deep colours for a light terminal.
    Light,
    /// The Okabe-Ito palette; every series and state also differs by glyph or line pattern.
    ColourBlind,
    /// No colour at all: weight, reversal, glyphs and line patterns only.
    Mono,
}

impl Choice for ThemeName {
    const ALL: &'static [ThemeName] = &[
        ThemeName::Dark,
        ThemeName::Light,
        ThemeName::ColourBlind,
        ThemeName::Mono,
    ];

    fn label(self) -> &'static str {
        match self {
            ThemeName::Dark => "dark",
            ThemeName::Light => "light",
            ThemeName::ColourBlind => "colour-blind",
            ThemeName::Mono => "mono",
        }
    }
}

/// A style for everything that the screen shows.
#[derive(Debug, Clone)]
pub(crate) struct Theme {
    /// Which theme this is.
    pub(crate) name: ThemeName,
    /// True when only the 256 indexed colours are used.
    pub(crate) is_indexed: bool,
    /// Background of pictures; a terminal keeps its own.
    pub(crate) paper: Rgb,
    /// Default foreground of pictures; a terminal keeps its own.
    pub(crate) ink: Rgb,
    /// Ordinary text.
    pub(crate) text: Style,
    /// Secondary text, units, captions.
    pub(crate) dim: Style,
    /// Panel titles and headings.
    pub(crate) title: Style,
    /// What the eye should find first: current values, the current curve.
    pub(crate) accent: Style,
    /// The selected row or tab.
    pub(crate) selected: Style,
    /// Within the target.
    pub(crate) good: Style,
    /// Outside the target.
    pub(crate) bad: Style,
    /// Warnings and messages.
    pub(crate) warn: Style,
    /// The badge of simulated data.
    pub(crate) simulated: Style,
    /// Lines of panels and axes.
    pub(crate) border: Style,
    /// Names of keys in the footer and the help.
    pub(crate) key: Style,
    /// Items that are neither anchors nor in the selected cluster.
    pub(crate) item: Style,
    /// The selected anchor.
    pub(crate) anchor: Style,
    /// The diagonal of estimated against true.
    pub(crate) diagonal: Style,
    /// The +-2 % lines.
    pub(crate) band: Style,
    /// The filled part of sliders and progress bars.
    pub(crate) slider: Style,
    /// A pinned setting beside the current one.
    pub(crate) ghost: Style,
    /// The user's own model.
    pub(crate) own: Style,
    /// What a filter leaves out.
    pub(crate) back: Style,
    /// One style a selection: random, correctness anchors, IRT anchors.
    pub(crate) series: [Style; 3],
    /// Clusters and sub-scenarios; longer lists repeat with another glyph.
    pub(crate) palette: Vec<Style>,
    /// Five steps from "no model is right" to "all are".
    pub(crate) ramp: [Style; 5],
}

fn fg((r, g, b): Rgb) -> Style {
    Style::new().fg(Color::Rgb(r, g, b))
}

/// The terminal's own foreground; said outright, because a style without a colour keeps whatever the
/// cell had before.
fn fg_reset() -> Style {
    Style::new().fg(Color::Reset)
}

impl Theme {
    /// Builds a theme.
    pub(crate) fn new(name: ThemeName) -> Theme {
        match name {
            ThemeName::Dark => Theme::dark(),
            ThemeName::Light => Theme::light(),
            ThemeName::ColourBlind => Theme::colour_blind(),
            ThemeName::Mono => Theme::mono(),
        }
    }

    fn dark() -> Theme {
        let bold = Modifier::BOLD;
        Theme {
            name: ThemeName::Dark,
            is_indexed: false,
            paper: (21, 24, 30),
            ink: (214, 218, 226),
            text: fg_reset(),
            dim: fg((128, 136, 150)),
            title: fg_reset().add_modifier(bold),
            accent: fg((255, 203, 107)).add_modifier(bold),
            selected: fg((255, 203, 107)).add_modifier(bold),
            good: fg((126, 211, 134)),
            bad: fg((255, 121, 108)),
            warn: fg((255, 177, 84)),
            simulated: fg((255, 177, 84)).add_modifier(bold | Modifier::REVERSED),
            border: fg((78, 86, 100)),
            key: fg((130, 190, 255)),
            item: fg((98, 108, 124)),
            anchor: fg((255, 255, 255)).add_modifier(bold | Modifier::REVERSED),
            diagonal: fg((150, 158, 172)),
            band: fg((92, 100, 116)),
            slider: fg((130, 190, 255)),
            ghost: fg((190, 160, 255)),
            own: fg((150, 240, 120)).add_modifier(bold),
            back: fg((62, 68, 80)),
            series: [
                fg((166, 174, 188)),
                fg((240, 140, 190)),
                fg((100, 210, 230)),
            ],
            palette: [
                (98, 174, 255),
                (255, 164, 92),
                (120, 214, 140),
                (244, 128, 180),
                (196, 160, 255),
                (240, 214, 100),
                (86, 208, 208),
                (222, 148, 122),
            ]
            .map(fg)
            .to_vec(),
            ramp: [
                (90, 96, 200),
                (70, 150, 214),
                (84, 194, 166),
                (176, 212, 96),
                (250, 230, 90),
            ]
            .map(fg),
        }
    }

    fn light() -> Theme {
        let bold = Modifier::BOLD;
        Theme {
            name: ThemeName::Light,
            is_indexed: false,
            paper: (255, 255, 255),
            ink: (36, 41, 51),
            text: fg_reset(),
            dim: fg((106, 114, 128)),
            title: fg_reset().add_modifier(bold),
            accent: fg((168, 84, 0)).add_modifier(bold),
            selected: fg((168, 84, 0)).add_modifier(bold),
            good: fg((20, 118, 52)),
            bad: fg((190, 36, 36)),
            warn: fg((160, 84, 0)),
            simulated: fg((168, 60, 0)).add_modifier(bold | Modifier::REVERSED),
            border: fg((176, 184, 196)),
            key: fg((16, 92, 184)),
            item: fg((164, 172, 184)),
            anchor: fg((0, 0, 0)).add_modifier(bold | Modifier::REVERSED),
            diagonal: fg((92, 100, 114)),
            band: fg((166, 174, 186)),
            slider: fg((16, 92, 184)),
            ghost: fg((112, 66, 192)),
            own: fg((20, 118, 52)).add_modifier(bold),
            back: fg((206, 212, 220)),
            series: [fg((112, 120, 134)), fg((186, 36, 116)), fg((0, 118, 142))],
            palette: [
                (22, 98, 190),
                (196, 90, 0),
                (24, 128, 60),
                (188, 40, 120),
                (112, 66, 192),
                (140, 112, 0),
                (0, 124, 130),
                (146, 70, 44),
            ]
            .map(fg)
            .to_vec(),
            ramp: [
                (72, 40, 140),
                (38, 98, 170),
                (0, 132, 124),
                (98, 146, 20),
                (196, 140, 0),
            ]
            .map(fg),
        }
    }

    fn colour_blind() -> Theme {
        // Okabe and Ito's palette; its black is left to the terminal's own foreground. Its blue is
        // raised a little, because the original is too dark for text on a dark terminal.
        const ORANGE: Rgb = (230, 159, 0);
        const SKY: Rgb = (86, 180, 233);
        const GREEN: Rgb = (0, 158, 115);
        const YELLOW: Rgb = (240, 228, 66);
        const BLUE: Rgb = (40, 132, 200);
        const VERMILLION: Rgb = (213, 94, 0);
        const PURPLE: Rgb = (204, 121, 167);
        let bold = Modifier::BOLD;
        Theme {
            name: ThemeName::ColourBlind,
            is_indexed: false,
            paper: (18, 18, 20),
            ink: (224, 224, 224),
            text: fg_reset(),
            dim: fg((140, 140, 140)),
            title: fg_reset().add_modifier(bold),
            accent: fg(YELLOW).add_modifier(bold),
            selected: fg(YELLOW).add_modifier(bold),
            good: fg(SKY),
            bad: fg(VERMILLION).add_modifier(bold),
            warn: fg(ORANGE),
            simulated: fg(ORANGE).add_modifier(bold | Modifier::REVERSED),
            border: fg((88, 88, 88)),
            key: fg(SKY),
            item: fg((110, 110, 110)),
            anchor: fg((255, 255, 255)).add_modifier(bold | Modifier::REVERSED),
            diagonal: fg((170, 170, 170)),
            band: fg((104, 104, 104)),
            slider: fg(SKY),
            ghost: fg(PURPLE),
            own: fg(GREEN).add_modifier(bold),
            back: fg((70, 70, 70)),
            series: [fg((170, 170, 170)), fg(ORANGE), fg(SKY)],
            palette: [
                SKY,
                ORANGE,
                GREEN,
                YELLOW,
                PURPLE,
                VERMILLION,
                BLUE,
                (200, 200, 200),
            ]
            .map(fg)
            .to_vec(),
            ramp: [
                (70, 90, 190),
                (40, 132, 200),
                (86, 180, 233),
                (230, 159, 0),
                (240, 228, 66),
            ]
            .map(fg),
        }
    }

    fn mono() -> Theme {
        let plain = fg_reset();
        let bold = plain.add_modifier(Modifier::BOLD);
        let dim = plain.add_modifier(Modifier::DIM);
        let reversed = plain.add_modifier(Modifier::REVERSED);
        Theme {
            name: ThemeName::Mono,
            is_indexed: false,
            paper: (255, 255, 255),
            ink: (20, 20, 20),
            text: plain,
            dim,
            title: bold,
            accent: bold,
            selected: reversed,
            good: plain,
            bad: bold.add_modifier(Modifier::UNDERLINED),
            warn: bold,
            simulated: bold.add_modifier(Modifier::REVERSED),
            border: dim,
            key: bold,
            item: dim,
            anchor: bold.add_modifier(Modifier::REVERSED),
            diagonal: plain,
            band: dim,
            slider: bold,
            ghost: plain.add_modifier(Modifier::ITALIC),
            own: bold.add_modifier(Modifier::UNDERLINED),
            back: dim,
            series: [dim, plain, bold],
            palette: vec![plain],
            ramp: [dim, dim, plain, plain, bold],
        }
    }

    /// The style of group `group` (a cluster or sub-scenario).
    pub(crate) fn group(&self, group: usize) -> Style {
        self.palette[group % self.palette.len()]
    }

    /// A style half way to the background, for what stands behind: other curves, items of clusters.
    pub(crate) fn fade(&self, style: Style) -> Style {
        match style.fg {
            Some(Color::Rgb(r, g, b)) => {
                let half = |p: u8, q: u8| ((u16::from(p) + u16::from(q)) / 2) as u8;
                let (pr, pg, pb) = self.paper;
                let faded = fg((half(r, pr), half(g, pg), half(b, pb)));
                if self.is_indexed {
                    indexed_style(faded)
                } else {
                    faded
                }
            }
            Some(Color::Indexed(index)) => {
                let (r, g, b) = index_rgb(index);
                self.fade(fg((r, g, b)))
            }
            _ => style
                .remove_modifier(Modifier::BOLD)
                .add_modifier(Modifier::DIM),
        }
    }

    /// Bars of intervals: weaker than the points that stand on them, stronger than the band.
    pub(crate) fn bar(&self) -> Style {
        self.dim
    }

    /// The faded style of group `group`, for its items.
    pub(crate) fn faded(&self, group: usize) -> Style {
        self.fade(self.group(group))
    }

    /// The same theme in the 256 indexed colours, for terminals without true colour.
    pub(crate) fn indexed(mut self) -> Theme {
        let single = [
            &mut self.text,
            &mut self.dim,
            &mut self.title,
            &mut self.accent,
            &mut self.selected,
            &mut self.good,
            &mut self.bad,
            &mut self.warn,
            &mut self.simulated,
            &mut self.border,
            &mut self.key,
            &mut self.item,
            &mut self.anchor,
            &mut self.diagonal,
            &mut self.band,
            &mut self.slider,
            &mut self.ghost,
            &mut self.own,
            &mut self.back,
        ];
        for style in single
            .into_iter()
            .chain(&mut self.series)
            .chain(&mut self.palette)
            .chain(&mut self.ramp)
        {
            *style = indexed_style(*style);
        }
        self.is_indexed = true;
        self
    }
}

fn indexed_style(mut style: Style) -> Style {
    if let Some(Color::Rgb(r, g, b)) = style.fg {
        style.fg = Some(Color::Indexed(nearest_index((r, g, b))));
    }
    style
}

/// Red, green and blue of one of the 240 indexed colours above the first sixteen.
pub(crate) fn index_rgb(index: u8) -> Rgb {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match index {
        0..=15 => {
            const BASIC: [Rgb; 16] = [
                (0, 0, 0),
                (205, 49, 49),
                (13, 188, 121),
                (229, 229, 16),
                (36, 114, 200),
                (188, 63, 188),
                (17, 168, 205),
                (229, 229, 229),
                (102, 102, 102),
                (241, 76, 76),
                (35, 209, 139),
                (245, 245, 67),
                (59, 142, 234),
                (214, 112, 214),
                (41, 184, 219),
                (255, 255, 255),
            ];
            BASIC[usize::from(index)]
        }
        16..=231 => {
            let cube = usize::from(index - 16);
            (STEPS[cube / 36], STEPS[cube / 6 % 6], STEPS[cube % 6])
        }
        232..=255 => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

fn nearest_index(wanted: Rgb) -> u8 {
    let distance = |index: u8| {
        let have = index_rgb(index);
        let square = |p: u8, q: u8| (i32::from(p) - i32::from(q)).pow(2);
        square(wanted.0, have.0) + square(wanted.1, have.1) + square(wanted.2, have.2)
    };
    // The first sixteen are the user's own colours and may be anything: never chosen.
    (16..=255u8)
        .min_by_key(|&index| distance(index))
        .unwrap_or(255)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_theme_paints_a_background_and_mono_has_no_colour() {
        for &name in ThemeName::ALL {
            let theme = Theme::new(name);
            for style in [theme.text, theme.selected, theme.simulated, theme.anchor] {
                assert_eq!(style.bg, None);
            }
            if name == ThemeName::Mono {
                let styles = theme.palette.iter().chain(&theme.series).chain(&theme.ramp);
                assert!(styles.into_iter().all(|s| s.fg == Some(Color::Reset)));
            }
        }
    }

    #[test]
    fn indexed_themes_hold_no_true_colour() {
        for &name in ThemeName::ALL {
            let theme = Theme::new(name).indexed();
            assert!(
                theme
                    .palette
                    .iter()
                    .all(|style| !matches!(style.fg, Some(Color::Rgb(..))))
            );
        }
    }

    #[test]
    fn nearest_index_finds_exact_colours() {
        for index in 16..=255u8 {
            assert_eq!(index_rgb(nearest_index(index_rgb(index))), index_rgb(index));
        }
    }
}
