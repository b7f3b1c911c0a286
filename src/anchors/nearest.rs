//! The two nearest centres of a point, from products with all centres: the inner loop of Lloyd's rounds.

use multiversion::multiversion;

/// Centres compared at once.
const LANES: usize = 16;

/// Of the squared distances less the point's own norm, `norms[c] - 2 products[c]`, the smallest with its centre (the first of
/// equals) and the second smallest; infinite where there is none.
///
/// # Panics
/// When the slices differ in length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn two_nearest(products: &[f32], norms: &[f32]) -> (usize, f32, f32) {
    assert_eq!(products.len(), norms.len());
    let mut best = [f32::INFINITY; LANES];
    let mut second = [f32::INFINITY; LANES];
    // Whole numbers as floats stay in the same registers.
    let mut which = [0.0f32; LANES];
    let mut here: [f32; LANES] = std::array::from_fn(|r| r as f32);
    let mut group = |products: &[f32], norms: &[f32]| {
        for r in 0..LANES {
            let d = norms[r] - 2.0 * products[r];
            let nearer = d < best[r];
            let behind = if nearer { best[r] } else { d };
            second[r] = if behind < second[r] {
                behind
            } else {
                second[r]
            };
            which[r] = if nearer { here[r] } else { which[r] };
            best[r] = if nearer { d } else { best[r] };
            here[r] += LANES as f32;
        }
    };
    let (products, norms) = (products.chunks_exact(LANES), norms.chunks_exact(LANES));
    let rest = (products.remainder(), norms.remainder());
    for (products, norms) in products.zip(norms) {
        group(products, norms);
    }
    if !rest.0.is_empty() {
        // Beyond the last centre there are only infinitely far ones.
        let (mut products, mut norms) = ([0.0; LANES], [f32::INFINITY; LANES]);
        products[..rest.0.len()].copy_from_slice(rest.0);
        norms[..rest.1.len()].copy_from_slice(rest.1);
        group(&products, &norms);
    }
    // Halves against each other until one lane is left, without a branch.
    let mut half = LANES / 2;
    while half > 0 {
        for r in 0..half {
            let (ours, theirs) = (best[r], best[r + half]);
            let first = (ours < theirs) | ((ours == theirs) & (which[r] < which[r + half]));
            let behind = if first { theirs } else { ours };
            best[r] = if first { ours } else { theirs };
            which[r] = if first { which[r] } else { which[r + half] };
            let next = if second[r] < second[r + half] {
                second[r]
            } else {
                second[r + half]
            };
            second[r] = if next < behind { next } else { behind };
        }
        half /= 2;
    }
    (which[0] as usize, best[0], second[0])
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
            let products: Vec<f32> = pairs.iter().map(|p| p.0 as f32).collect();
            let norms: Vec<f32> = pairs.iter().map(|p| p.1 as f32).collect();
            let (mut best, mut second, mut label) = (f32::INFINITY, f32::INFINITY, 0);
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
