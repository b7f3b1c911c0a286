//! Axes: from where to where, linear or logarithmic, with round ticks.

/// How tick values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Shares as percent.
    Percent,
    /// Plain numbers.
    Number,
    /// No tick labels: only the shape matters.
    Bare,
}

/// One axis.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// Value at the left or lower end.
    pub(crate) low: f64,
    /// Value at the right or upper end.
    pub(crate) high: f64,
    /// What it shows.
    pub(crate) label: String,
    /// How ticks are written.
    pub(crate) unit: Unit,
    /// Equal steps are equal factors; both ends are then above 0.
    pub(crate) log: bool,
}

impl Axis {
    /// A logarithmic axis over the positive part of `values` with a margin.
    pub(crate) fn log(
        values: impl IntoIterator<Item = f64>,
        label: impl Into<String>,
        unit: Unit,
    ) -> Axis {
        let logs = values.into_iter().filter(|v| *v > 0.0).map(f64::ln);
        let axis = Axis::around(logs, label, unit);
        Axis {
            low: axis.low.exp(),
            high: axis.high.exp(),
            log: true,
            ..axis
        }
    }

    /// An axis over the finite part of `values` with a margin; never of zero length.
    pub(crate) fn around(
        values: impl IntoIterator<Item = f64>,
        label: impl Into<String>,
        unit: Unit,
    ) -> Axis {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.into_iter().filter(|v| v.is_finite()) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let margin = if high > low {
            0.04 * (high - low)
        } else {
            0.5f64.max(high.abs() * 0.1)
        };
        Axis {
            low: low - margin,
            high: high + margin,
            label: label.into(),
            unit,
            log: false,
        }
    }

    /// Where a value stands between the ends, 0 to 1 inside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The value at a share of the axis.
    pub(crate) fn value(&self, share: f64) -> f64 {
        if self.log {
            self.low * (self.high / self.low).powf(share)
        } else {
            self.low + share * (self.high - self.low)
        }
    }

    /// Round values inside the axis, about `wanted` of them.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        let span = self.high - self.low;
        if !(span.is_finite() && span > 0.0) || wanted == 0 {
            return Vec::new();
        }
        if self.log {
            let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let round = powers
                .flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(p)))
                .filter(|v| (self.low..=self.high).contains(v));
            return round.take(64).collect();
        }
        let raw = span / wanted as f64;
        let power = 10f64.powf(raw.log10().floor());
        // The round step nearest to the wished one on a logarithmic scale.
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .min_by(|p, q| (p / raw).ln().abs().total_cmp(&(q / raw).ln().abs()))
            .unwrap_or(power);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        // Multiples of the step, not running sums: no .30000000000000004 in a label.
        (first..=last).take(64).map(|k| k as f64 * step).collect()
    }

    /// A tick in the axis's unit, with the digits that its step needs.
    pub(super) fn write(&self, value: f64, step: f64) -> String {
        let step = if self.log { value.min(1.0) } else { step };
        let scaled = if self.unit == Unit::Percent {
            value * 100.0
        } else {
            value
        };
        let step = if self.unit == Unit::Percent {
            step * 100.0
        } else {
            step
        };
        let digits = (-(step.abs().max(1e-9).log10() + 1e-9).floor()).clamp(0.0, 4.0) as usize;
        let text = format!("{scaled:.digits$}");
        if text
            .trim_start_matches('-')
            .chars()
            .all(|c| c == '0' || c == '.')
        {
            text.trim_start_matches('-').to_string()
        } else {
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis {
            low: 0.137,
            high: 0.962,
            label: String::new(),
            unit: Unit::Percent,
            log: false,
        };
        let ticks = axis.ticks(5);
        assert_eq!(
            ticks
                .iter()
                .map(|&t| axis.write(t, 0.2))
                .collect::<Vec<_>>(),
            ["20", "40", "60", "80"]
        );
    }

    #[test]
    fn small_steps_keep_their_digits() {
        let axis = Axis {
            low: -0.01,
            high: 0.051,
            label: String::new(),
            unit: Unit::Percent,
            log: false,
        };
        assert_eq!(axis.write(-0.0, 0.005), "0.0");
        assert_eq!(axis.write(0.025, 0.005), "2.5");
    }

    #[test]
    fn logarithmic_ticks_are_one_two_five() {
        let axis = Axis::log([10.0, 200.0], "n", Unit::Number);
        let ticks: Vec<String> = axis.ticks(5).iter().map(|&t| axis.write(t, 1.0)).collect();
        assert_eq!(ticks, ["10", "20", "50", "100", "200"]);
        assert!((axis.value(axis.share(40.0)) - 40.0).abs() < 1e-9);
        let none = Axis::log([0.0, -1.0], "n", Unit::Number);
        assert!(none.low > 0.0 && none.high > none.low);
    }

    #[test]
    fn constant_empty_and_broken_data_still_make_an_axis() {
        for values in [vec![], vec![0.3, 0.3], vec![f64::NAN, f64::INFINITY]] {
            let axis = Axis::around(values, "", Unit::Number);
            assert!(axis.high > axis.low && axis.low.is_finite());
        }
    }
}
