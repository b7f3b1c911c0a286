use rand::RngExt;

use super::*;
use crate::experiment::cases::{ITEMS, benchmark, few};
use crate::progress::Silent;
use crate::random::{Stream, rng};

/// Errors of 40 models over two seeds that are half-normal-like with scale `at(n)`, the same models at every n.
fn cell(ladder: &[usize], at: impl Fn(f64) -> f64) -> Cell {
    let seeds = (0..2).map(|k| {
        let mut random = rng(k, Stream::Simulate(0));
        let size: Vec<f64> = (0..40).map(|_| 2.0 * random.random::<f64>()).collect();
        let of = |&n: &usize| {
            let errors = size.iter().map(|s| s * at(n as f64)).collect::<Vec<f64>>();
            vec![errors; Estimator::ALL.len()]
        };
        Seed {
            errors: ladder.iter().map(of).collect(),
            items: ladder.to_vec(),
        }
    });
    Cell {
        scenario: Some(0),
        selection: SelectionKind::Random,
        seeds: seeds.collect(),
    }
}

fn goal(error: f64) -> Goal {
    Goal {
        error,
        measure: Measure::Mae,
        seeds: 2,
        most: 400,
    }
}

#[test]
fn a_row_counts_what_is_saved() {
    let ladder = ladder(400);
    let reached = cell(&ladder, |n| 0.2 / n.sqrt());
    let row = reached
        .row(0, &goal(0.02), &ladder, &[400], 1000, 0)
        .unwrap();
    let n = row.need.n.unwrap();
    assert!(row.range.0.unwrap() < n && n < row.range.1.unwrap());
    assert_eq!(row.items, Some(n));
    let (saved, share) = row.saved().unwrap();
    assert_eq!(saved + n, 1000);
    assert!((share - saved as f64 / 1000.0).abs() < 1e-12);
    let never = cell(&ladder, |n| 0.03 + 0.2 / n);
    let row = never.row(3, &goal(0.02), &ladder, &[400], 1000, 0).unwrap();
    assert_eq!((row.need.n, row.items, row.saved()), (None, None, None));
}

#[test]
fn of_methods_that_do_as_well_the_simpler_is_recommended() {
    let ladder = ladder(400);
    let cell = cell(&ladder, |n| 0.2 / n.sqrt());
    let row = |method: usize, n: Option<usize>| {
        let mut row = cell
            .row(method, &goal(0.02), &ladder, &[400], 1000, 0)
            .unwrap();
        row.need.n = n;
        row.range = (n, n.map(|n| n + n / 5));
        row
    };
    let plan = |rows| Plan {
        rows,
        ladder: Vec::new(),
        warnings: Vec::new(),
    };
    let close = plan(vec![row(0, Some(108)), row(2, Some(101)), row(6, Some(99))]);
    assert_eq!(close.recommended(Some(0)).unwrap().need.n, Some(108));
    let far = plan(vec![row(0, Some(120)), row(2, Some(101)), row(6, Some(99))]);
    assert_eq!(far.recommended(Some(0)).unwrap().need.n, Some(101));
    // What is safe counts: of like n the one whose range ends sooner, and one whose range has an end.
    let mut wide = row(0, Some(90));
    wide.range.1 = Some(180);
    let safe = plan(vec![wide.clone(), row(2, Some(101)), row(6, Some(99))]);
    assert_eq!(safe.recommended(Some(0)).unwrap().need.n, Some(101));
    wide.range.1 = None;
    let open = plan(vec![wide.clone(), row(6, Some(140))]);
    assert_eq!(open.recommended(Some(0)).unwrap().need.n, Some(140));
    assert_eq!(
        plan(vec![wide]).recommended(Some(0)).unwrap().need.n,
        Some(90)
    );
    let none = plan(vec![row(0, None), row(6, None)]);
    assert_eq!(none.recommended(Some(0)), None);
    assert!(none.nearest(Some(0)).is_some() && none.nearest(None).is_none());
}

#[test]
fn a_whole_plan_has_a_row_for_everything_and_the_same_bytes_again() {
    let b = benchmark();
    let goal = Goal {
        most: 20,
        ..goal(0.06)
    };
    let found = plan(&b, &few(), &goal, &Silent).unwrap();
    assert_eq!(found.rows.len(), 3 * 3 * 7);
    assert_eq!(found.ladder, [5, 7, 10, 14, 20]);
    assert_eq!(found, plan(&b, &few(), &goal, &Silent).unwrap());
    let all = |r: &PlanRow| {
        if r.scenario.is_some() {
            ITEMS
        } else {
            2 * ITEMS
        }
    };
    for r in &found.rows {
        assert_eq!(r.all, all(r));
        assert!(r.need.curve.windows(2).all(|w| w[0].0 < w[1].0));
        if let (Some(n), None) = (r.need.n, r.scenario) {
            assert_eq!(r.items, Some(2 * n));
        }
    }
    assert!(plan(&b, &few(), &Goal { error: 1.0, ..goal }, &Silent).is_err());
    // With all items every score is known.
    let whole = Goal {
        error: 0.001,
        most: 1000,
        ..goal
    };
    let settings = Settings {
        selections: vec![SelectionKind::Random],
        ..few()
    };
    let found = plan(&b, &settings, &whole, &Silent).unwrap();
    // Of the scenario whose items count equally; drawn items do in any case.
    let naive = &found.rows[7];
    assert_eq!(naive.scenario, Some(1));
    assert_eq!(
        (naive.estimator.name(), naive.need.n),
        ("naive", Some(ITEMS))
    );
}
