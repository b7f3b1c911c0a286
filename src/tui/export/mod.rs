//! What is on the screen as a document: picture, text, the plots' data, the table.

mod tables;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::overlay::What;
use super::saved::Saved;
use super::state::State;
use super::{svg, view};
use tables::{Table, data, nothing, table};

/// Writes the screen, or what it shows.
///
/// # Errors
/// A message for the user: nothing is shown yet, or the view has no such thing.
pub(crate) fn document(state: &State, what: What) -> Result<String, String> {
    match what {
        What::Svg => Ok(svg::write(&screen(state), &state.look.theme, &title(state))),
        What::Text => Ok(text(&screen(state))),
        What::Csv => csv(state, &data(state)?),
        What::Markdown => Ok(markdown(&table(state)?)),
        What::Latex => Ok(latex(&table(state)?)),
        What::Settings => Saved::of(state)
            .ok_or_else(nothing)
            .and_then(|saved| saved.text()),
    }
}

/// A file name that says what it holds: benchmark, scenario, view.
pub(crate) fn file_stem(state: &State, what: What) -> String {
    let study = state.study.as_ref();
    let name = study.map_or("tinyscope", |s| s.benchmark.name.as_str());
    let scenario = match (study, state.scenario()) {
        (Some(study), Some(s)) if study.scenarios() > 1 => study.scenario(s).name.as_str(),
        (Some(study), None) if study.scenarios() > 1 => "overall",
        _ => "",
    };
    let view = if what == What::Settings {
        "settings"
    } else {
        state.view.name()
    };
    let parts = [name, scenario, view];
    let slug = |text: &str| {
        let kept: String = text
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '-'
                }
            })
            .collect();
        let words: Vec<&str> = kept.split('-').filter(|w| !w.is_empty()).collect();
        words.join("-")
    };
    let parts: Vec<String> = parts
        .map(slug)
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect();
    parts.join("-").chars().take(120).collect()
}

/// The title of pictures.
pub(crate) fn title(state: &State) -> String {
    let study = state.study.as_ref();
    let name = study.map_or("", |s| s.benchmark.name.as_str());
    let simulated = if study.is_some_and(|s| s.benchmark.simulated) {
        " (simulated)"
    } else {
        ""
    };
    format!("tinyscope: {name}{simulated}, {}", state.view.label())
}

/// The screen at its size, without what lies over the view.
fn screen(state: &State) -> Buffer {
    let (width, height) = state.look.size;
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    view::draw(state, area, &mut buffer);
    buffer
}

fn text(buffer: &Buffer) -> String {
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut skip = 0usize;
        for x in 0..buffer.area.width {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            skip = unicode_width::UnicodeWidthStr::width(symbol).saturating_sub(1);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Comma-separated; whether the responses are simulated stands in every row.
fn csv(state: &State, table: &Table) -> Result<String, String> {
    let simulated = state.study.as_ref().is_some_and(|s| s.benchmark.simulated);
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut write = |row: &[String], last: &str| {
        let cells = row.iter().map(String::as_str).chain([last]);
        writer.write_record(cells).map_err(|e| e.to_string())
    };
    write(&table.headings, "simulated")?;
    for row in &table.rows {
        write(row, if simulated { "true" } else { "false" })?;
    }
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    String::from_utf8(bytes).map_err(|e| e.to_string())
}

fn markdown(table: &Table) -> String {
    let cell = |text: &String| {
        let text = view::format::clean(text);
        text.replace('\n', " ").replace('|', "\\|")
    };
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(cell).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = format!("{}\n\n", table.caption);
    out.push_str(&line(&table.headings));
    out.push_str(&format!("|{}\n", "---|".repeat(table.headings.len())));
    table.rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}

fn latex(table: &Table) -> String {
    let escape = |text: &str| {
        let mut out = String::new();
        for c in view::format::clean(text).replace('\n', " ").chars() {
            match c {
                '\\' => out.push_str("\\textbackslash{}"),
                '~' => out.push_str("\\textasciitilde{}"),
                '^' => out.push_str("\\textasciicircum{}"),
                '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                    out.push('\\');
                    out.push(c);
                }
                '≤' => out.push_str("$\\leq$"),
                '×' => out.push_str("$\\times$"),
                '<' => out.push_str("\\textless{}"),
                '>' => out.push_str("\\textgreater{}"),
                '|' => out.push_str("\\textbar{}"),
                c => out.push(c),
            }
        }
        out
    };
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| escape(c)).collect();
        format!("    {} \\\\\n", cells.join(" & "))
    };
    let numeric = |column: usize| {
        let cells = table.rows.iter().filter_map(|row| row.get(column));
        let number = |c: &String| c.trim_start_matches(['≤', '>', '-']).parse::<f64>().is_ok();
        cells.clone().any(number) && cells.filter(|c| c.len() > 1).all(number)
    };
    let columns: String = (0..table.headings.len())
        .map(|c| if numeric(c) { 'r' } else { 'l' })
        .collect();
    let mut out = format!(
        "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n  \\caption{{{}}}\n  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n",
        escape(&table.caption)
    );
    out.push_str(&line(&table.headings));
    out.push_str("    \\midrule\n");
    table.rows.iter().for_each(|row| out.push_str(&line(row)));
    out.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n");
    out
}
