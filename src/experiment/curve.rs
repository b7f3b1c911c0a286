//! An error against n, made smooth, and the n where it reaches what is wanted.

/// Where a rise at the end of a curve is so large, relative to its lowest point, it is no accident.
const RISE: f64 = 1.25;

/// The non-increasing values with the least squared distance from these (pool adjacent violators; Barlow et al. 1972).
pub(super) fn falling(values: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::with_capacity(values.len());
    for &v in values {
        let (mut mean, mut count) = (v, 1);
        while let Some(&(before, of)) = pools.last().filter(|p| p.0 < mean) {
            mean = (mean * count as f64 + before * of as f64) / (count + of) as f64;
            count += of;
            pools.pop();
        }
        pools.push((mean, count));
    }
    let spread = pools.iter().map(|&(mean, n)| std::iter::repeat_n(mean, n));
    spread.flatten().collect()
}

/// An error curve over rising n without its noise: non-increasing, for more items do not hurt. Where they plainly do (p-IRT
/// with `--seen anchor` near all items), falling to a lowest point and rising behind it: of all such curves the one with the
/// least squared distance, taken only where it ends at 1.25 times its lowest point or more.
pub(super) fn smooth(values: &[f64]) -> Vec<f64> {
    let monotone = falling(values);
    let distance =
        |fit: &[f64]| -> f64 { fit.iter().zip(values).map(|(f, v)| (f - v).powi(2)).sum() };
    let mut best = (distance(&monotone), monotone);
    if best.0 == 0.0 {
        return best.1;
    }
    for lowest in 1..values.len() {
        let mut fit = falling(&values[..lowest]);
        let turned: Vec<f64> = values[lowest..].iter().rev().copied().collect();
        fit.extend(falling(&turned).into_iter().rev());
        let (low, end) = (
            fit.iter().copied().fold(f64::INFINITY, f64::min),
            fit[fit.len() - 1],
        );
        let off = distance(&fit);
        if off < best.0 && end >= RISE * low {
            best = (off, fit);
        }
    }
    best.1
}

/// The smallest n at which a smooth curve is at most `wanted`: linear in log n between neighbours, which is on the safe side
/// of the power laws that errors follow. The first n where the curve begins there already; `None` where it never gets there.
/// `ns` rise, one a value.
pub(super) fn crossing(ns: &[f64], curve: &[f64], wanted: f64) -> Option<f64> {
    let at = curve.iter().position(|e| *e <= wanted)?;
    let Some(before) = at.checked_sub(1) else {
        return Some(ns[0]);
    };
    let share = (curve[before] - wanted) / (curve[before] - curve[at]);
    let (from, to) = (ns[before].ln(), ns[at].ln());
    Some((from + share * (to - from)).exp())
}

/// A geometric ladder of n: 5, then each about 1.41 times the one before, up to `most` which is always the last.
pub(super) fn ladder(most: usize) -> Vec<usize> {
    let mut rungs: Vec<usize> = (0..)
        .map(|k| (5.0 * 2f64.powf(f64::from(k) / 2.0)).round() as usize)
        .take_while(|&n| n < most)
        .collect();
    // A last step of less than a seventh tells nothing.
    rungs.retain(|&n| n * 8 <= most * 7);
    rungs.push(most);
    rungs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pools_and_keeps() {
        assert_eq!(falling(&[3.0, 1.0, 2.0, 0.5]), [3.0, 1.5, 1.5, 0.5]);
        assert_eq!(falling(&[1.0, 2.0, 3.0]), [2.0; 3]);
        assert_eq!(falling(&[]), [0.0; 0]);
        // A dip that is only noise is pooled away ...
        assert_eq!(smooth(&[5.0, 1.9, 2.1, 2.0]), [5.0, 2.0, 2.0, 2.0]);
        // ... a rise that is none is kept, and the n before it found.
        let p_irt = [5.0, 3.0, 1.8, 2.0, 3.0, 4.5];
        assert_eq!(smooth(&p_irt), p_irt);
        let ns = [10.0, 20.0, 40.0, 80.0, 160.0, 320.0];
        let n = crossing(&ns, &smooth(&p_irt), 2.0).unwrap();
        assert!(n > 20.0 && n < 40.0);
    }

    #[test]
    fn finds_the_n_of_a_power_law() {
        let ns: Vec<f64> = ladder(1000).iter().map(|&n| n as f64).collect();
        let errors: Vec<f64> = ns.iter().map(|n| 0.3 / n.sqrt()).collect();
        for wanted in [0.1, 0.03, 0.02, 0.012] {
            let exact = (0.3f64 / wanted).powi(2);
            let n = crossing(&ns, &smooth(&errors), wanted).unwrap();
            assert!(
                n >= exact * 0.999 && n < exact * 1.02,
                "{wanted}: {n} for {exact}"
            );
        }
        assert_eq!(crossing(&ns, &errors, 0.5), Some(5.0));
        assert_eq!(crossing(&ns, &errors, 0.001), None);
    }

    #[test]
    fn ladders_end_where_they_should() {
        assert_eq!(ladder(100), [5, 7, 10, 14, 20, 28, 40, 57, 80, 100]);
        assert_eq!(ladder(60), [5, 7, 10, 14, 20, 28, 40, 60]);
        assert_eq!(ladder(3), [3]);
    }

    proptest! {
        #[test]
        fn the_smooth_is_monotone_and_no_worse_than_any_constant(v in prop::collection::vec(0.0..1.0f64, 1..20)) {
            let f = falling(&v);
            prop_assert!(f.windows(2).all(|w| w[0] >= w[1]));
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            let off = |g: &dyn Fn(usize) -> f64| v.iter().enumerate().map(|(i, x)| (g(i) - x).powi(2)).sum::<f64>();
            prop_assert!(off(&|i| f[i]) <= off(&|_| mean) + 1e-12);
            prop_assert!((f.iter().sum::<f64>() - v.iter().sum::<f64>()).abs() < 1e-9);
            prop_assert!(off(&|i| smooth(&v)[i]) <= off(&|i| f[i]) + 1e-12);
            let mut sorted = v.clone();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(falling(&sorted), sorted);
        }
    }
}
