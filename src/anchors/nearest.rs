//! The two nearest centres of a point, from products with all centres: the inner loop of Lloyd's rounds.

use multiversion::multiversion;

/// Centres compared at once.
const LANES: usize = 8;

/// Of the squared distances less the point's own norm, `norms[c] - 2 products[c]`, the smallest with its centre (the first of
/// equals) and the second smallest; infinite where there is none.
///
/// # Panics
/// When the slices differ in length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn two_nearest(products: &[f64], norms: &[f64]) -> (usize, f64, f64) {
    assert_eq!(products.len(), norms.len());
    let mut best = [f64::INFINITY; LANES];
    let mut second = [f64::INFINITY; LANES];
    // Whole numbers as floats stay in the same registers.
    let mut which = [0.0f64; LANES];
    let whole = products.len() / LANES * LANES;
    let groups = products[..whole].chunks_exact(LANES);
    let mut first = 0.0;
    for (product, norm) in groups.zip(norms[..whole].chunks_exact(LANES)) {
        for r in 0..LANES {
            let d = norm[r] - 2.0 * product[r];
            let nearer = d < best[r];
            let behind = if nearer { best[r] } else { d };
            second[r] = if behind < second[r] {
                behind
            } else {
                second[r]
            };
            which[r] = if nearer { first } else { which[r] };
            best[r] = if nearer { d } else { best[r] };
        }
        first += LANES as f64;
    }
    let (mut label, mut least, mut next) = (0, f64::INFINITY, f64::INFINITY);
    let mut take = |c: usize, d: f64| {
        if d < least || (d == least && c < label) {
            (next, least, label) = (least, d, c);
        } else if d < next {
            next = d;
        }
    };
    for r in 0..LANES.min(whole) {
        take(which[r] as usize + r, best[r]);
    }
    for c in whole..products.len() {
        take(c, norms[c] - 2.0 * products[c]);
    }
    for d in second {
        next = if d < next { d } else { next };
    }
    (label, least, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_those_of_a_plain_search(
            // Few values, so that there are equals.
            pairs in prop::collection::vec((-4i32..4, 0i32..6), 1..60),
        ) {
            let products: Vec<f64> = pairs.iter().map(|p| f64::from(p.0)).collect();
            let norms: Vec<f64> = pairs.iter().map(|p| f64::from(p.1)).collect();
            let (mut best, mut second, mut label) = (f64::INFINITY, f64::INFINITY, 0);
            for (c, (product, norm)) in products.iter().zip(&norms).enumerate() {
                let d = norm - 2.0 * product;
                if d < best {
                    (second, best, label) = (best, d, c);
                } else if d < second {
                    second = d;
                }
            }
            prop_assert_eq!(two_nearest(&products, &norms), (label, best, second));
        }
    }
}
