//! `tinyscope simulate`: draws a benchmark and writes it in the native format.

use std::io::Write;
use std::path::Path;

use tinyscope::Error;
use tinyscope::data::{Benchmark, count, write};
use tinyscope::progress::Part;
use tinyscope::simulate::{FitSettings, Plain, Population, Shape};

use super::{Bar, Failure, benchmark, heading, threads};
use crate::cli::{More, Simulate};

pub(crate) fn run(args: &Simulate, out: &mut dyn Write) -> Result<(), Failure> {
    threads(args.threads)?;
    let bar = Bar::new();
    let like = args
        .like
        .iter()
        .map(|path| benchmark(path, &args.reading.options(&More::default()), &bar))
        .collect::<tinyscope::Result<Vec<_>>>()?;
    let shape = shape(args, like.first())?;
    let population = if like.is_empty() {
        plain(args, &shape)?
    } else {
        let mut settings = FitSettings::default();
        if let Some(dims) = args.dims() {
            settings.dims = dims.to_vec();
        }
        let all: Vec<&Benchmark> = like.iter().collect();
        Population::fit(&all, &settings, &Part::new(&bar, "", 0.0, 0.8))?
    };
    let drawn = population.draw(&shape, args.seed, &Part::new(&bar, "", 0.8, 1.0))?;
    drop(bar);
    let name = args.name.clone().unwrap_or_else(|| {
        let from = args
            .sizes
            .as_deref()
            .or(args.like.first().map(|p| p.as_path()));
        stem(from.unwrap_or(Path::new("simulated")))
    });
    if name.is_empty() || name.contains(['/', '\\']) {
        return Err(Error::setting(
            format!("{name:?} is no name for files"),
            "name them with --name, the folder with --out",
        )
        .into());
    }
    let path = write::native(&drawn.benchmark, &args.out, &name)?;
    heading(out, &drawn.benchmark.name, true)?;
    writeln!(
        out,
        "seed {}, {} x {}, scenarios: {}\nwritten to {}",
        args.seed,
        count(drawn.benchmark.matrix.n_models(), "model"),
        count(drawn.benchmark.matrix.n_items(), "item"),
        drawn.benchmark.scenarios.len(),
        path.display()
    )?;
    Ok(())
}

/// The shape that the arguments ask for.
fn shape(args: &Simulate, like: Option<&Benchmark>) -> tinyscope::Result<Shape> {
    let mut shape = match (&args.sizes, like) {
        (Some(path), _) => Shape::read(path)?,
        (None, Some(like)) => Shape::of(like),
        (None, None) => Shape::plain(100, args.items.unwrap_or(1000)),
    };
    if let Some(models) = args.models {
        shape.models = models;
    }
    if let Some(guess) = args.guess {
        shape = shape.with_guess(guess);
    }
    if let Some(slip) = args.slip {
        shape = shape.with_slip(slip);
    }
    Ok(shape)
}

fn plain(args: &Simulate, shape: &Shape) -> tinyscope::Result<Population> {
    let mut plain = Plain {
        families: !args.no_families,
        ..Plain::default()
    };
    match args.dims() {
        None => {}
        Some(&[dims]) => plain.dims = dims,
        Some(_) => {
            return Err(Error::setting(
                "without --like a population has one number of dimensions",
                "name one with --dims",
            ));
        }
    }
    if let Some(effects) = args.effects {
        plain.effect = effects;
    }
    plain.population(shape, args.seed)
}

/// The file's name up to its first dot.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}
