//! The responses of a fit as its sweeps read them: y - 1/2, in the order of the view.

use rayon::prelude::*;

use super::weigh::Weighed;
use crate::data::Responses;

/// y - 1/2 of every model and item, NaN where missing: one byte a response where the scores are few, else one number.
pub(super) struct Centred<T> {
    n_models: usize,
    n_items: usize,
    cells: Cells<T>,
}

enum Cells<T> {
    /// At most two different scores, as right and wrong: told apart without a table, by vector instructions.
    Binary {
        values: [T; 2],
        codes: Vec<u8>,
    },
    Coded {
        values: Box<[T; 256]>,
        codes: Vec<u8>,
    },
    Plain(Vec<T>),
}

impl<T: Weighed> Centred<T> {
    pub(super) fn new(y: &Responses<'_>) -> Self {
        let (n_models, n_items) = (y.n_models(), y.n_items());
        let cells = match y.levels() {
            Some(levels) => {
                let mut values = Box::new([T::nan(); 256]);
                for (value, level) in values.iter_mut().zip(&levels) {
                    *value = T::of(level - 0.5);
                }
                let mut codes = vec![0; n_models * n_items];
                codes
                    .par_chunks_mut(n_items.max(1))
                    .enumerate()
                    .for_each(|(l, row)| y.codes(l, row));
                if levels.len() <= 2 {
                    let values = [values[0], values[1]];
                    Cells::Binary { values, codes }
                } else {
                    Cells::Coded { values, codes }
                }
            }
            None => {
                let mut scores = vec![T::zero(); n_models * n_items];
                scores
                    .par_chunks_mut(n_items.max(1))
                    .enumerate()
                    .for_each(|(l, row)| {
                        for (score, y) in row.iter_mut().zip(y.row(l)) {
                            *score = T::of(y - 0.5);
                        }
                    });
                Cells::Plain(scores)
            }
        };
        Self {
            n_models,
            n_items,
            cells,
        }
    }

    pub(super) fn n_models(&self) -> usize {
        self.n_models
    }

    pub(super) fn n_items(&self) -> usize {
        self.n_items
    }

    /// Copies those of `model` on the items `from .. from + out.len()`.
    pub(super) fn load(&self, model: usize, from: usize, out: &mut [T]) {
        let first = model * self.n_items + from;
        let of = first..first + out.len();
        match &self.cells {
            Cells::Binary { values, codes } => T::choose(&codes[of], *values, out),
            Cells::Coded { values, codes } => {
                for (o, &code) in out.iter_mut().zip(&codes[of]) {
                    *o = values[code as usize];
                }
            }
            Cells::Plain(scores) => out.copy_from_slice(&scores[of]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{MatrixBuilder, ResponseMatrix};
    use proptest::prelude::*;

    fn matrix(rows: &[Vec<f64>]) -> ResponseMatrix {
        let items = rows[0].len();
        let mut b = MatrixBuilder::new((0..items).map(|i| format!("i{i}")).collect());
        for (l, row) in rows.iter().enumerate() {
            b.push(format!("m{l}"), row);
        }
        b.finish()
    }

    proptest! {
        /// Few different scores (codes) or many (numbers), binarised or not, some models and columns in any order.
        #[test]
        fn what_is_loaded_is_what_the_view_gathers(
            seed in prop::collection::vec(prop_oneof![1 => Just(f64::NAN), 4 => 0.0..=1.0f64], 24 * 20),
            few: bool, binarised: bool, from in 0usize..10,
        ) {
            let few = |y: f64| if few { (y * 4.0).round() / 4.0 } else { y };
            let rows: Vec<Vec<f64>> = seed.chunks(20).map(|r| r.iter().map(|&y| few(y)).collect()).collect();
            let m = matrix(&rows);
            let mut view = Responses::new(&m, vec![5, 0, 23], vec![19, 3, 4, 5, 6, 0, 11, 12, 13, 2]);
            if binarised {
                view = view.binarised((0..10).map(|i| i as f64 / 10.0).collect());
            }
            let centred = Centred::<f64>::new(&view);
            for l in 0..3 {
                let (mut ours, mut theirs) = (vec![9.0; 10 - from], vec![9.0; 10 - from]);
                centred.load(l, from, &mut ours);
                view.gather(l, from, &mut theirs);
                for (a, b) in ours.iter().zip(&theirs) {
                    prop_assert!(*a == b - 0.5 || a.is_nan() && b.is_nan());
                }
            }
        }
    }
}
