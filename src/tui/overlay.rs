//! What lies over the view: help, something being typed, a list to choose from.

/// What is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// A value for n.
    Items,
    /// A value for lambda.
    Lambda,
    /// The error that n is wanted for.
    Target,
    /// What an answer costs.
    Cost,
    /// A text that items or models hold.
    Filter,
    /// The file with the answers of the user's own model.
    Answers,
}

/// What can be written to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// The screen as a picture.
    Svg,
    /// The plots' data.
    Csv,
    /// The table, as Markdown.
    Markdown,
    /// The table, as LaTeX.
    Latex,
    /// The screen as plain text.
    Text,
    /// The settings, for `--open`.
    Settings,
}

impl What {
    /// All of them with their keys in the menu.
    pub(crate) const MENU: [(char, What, &'static str); 6] = [
        ('s', What::Svg, "the screen as an SVG picture"),
        ('c', What::Csv, "the data of the plots as CSV"),
        ('m', What::Markdown, "the table as Markdown"),
        ('l', What::Latex, "the table as LaTeX"),
        ('t', What::Text, "the screen as plain text"),
        (
            'f',
            What::Settings,
            "the settings, for tinyscope --open FILE",
        ),
    ];

    /// The ending of its file.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            What::Svg => "svg",
            What::Csv => "csv",
            What::Markdown => "md",
            What::Latex => "tex",
            What::Text => "txt",
            What::Settings => "json",
        }
    }

    /// What a file of that ending holds; settings are not a picture of anything.
    pub(crate) fn of_extension(extension: &str) -> Option<What> {
        What::MENU
            .into_iter()
            .map(|(_, what, _)| what)
            .find(|w| *w != What::Settings && w.extension() == extension)
    }
}

/// What lies over the view.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Overlay {
    /// Nothing: keys are actions.
    #[default]
    None,
    /// The list of keys.
    Help {
        /// Scrolled by so many lines.
        scroll: u16,
        /// Only keys whose description holds this.
        search: String,
    },
    /// Something is typed in the footer.
    Type(Prompt, String),
    /// Benchmarks to open: the highlighted row, and the path being typed on the last row.
    Open {
        /// Highlighted row.
        row: usize,
        /// Text of the last row.
        path: String,
    },
    /// What to write.
    Write,
}
