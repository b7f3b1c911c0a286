//! The chosen items for other programs: a table, or what lm-evaluation-harness's `--samples` takes.

use serde_json::{Map, Value, json};

use crate::anchors::Selection;
use crate::data::Benchmark;
use crate::error::{Error, Result};
use crate::experiment::Fitted;

/// The chosen items as CSV: `scenario,selection,item,weight,cluster_size`, a line an item, weights in full precision.
/// `selections` holds, for each way of choosing, one selection a fitted scenario.
///
/// # Errors
/// [`Error::Io`] in name only: nothing is written outside memory.
pub fn anchors_csv(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Vec<Selection>],
) -> Result<String> {
    let failed = |e: csv::Error| Error::io(&benchmark.origin, "writing the table", e.into());
    let mut writer = csv::Writer::from_writer(Vec::new());
    let heading = ["scenario", "selection", "item", "weight", "cluster_size"];
    writer.write_record(heading).map_err(failed)?;
    for (s, f) in fitted.scenarios.iter().enumerate() {
        let scenario = &benchmark.scenarios[f.index];
        for selection in selections.iter().map(|kind| &kind[s]) {
            for (k, anchor) in selection.anchors.iter().enumerate() {
                let id = &benchmark.matrix.items()[scenario.columns[anchor.item]];
                let row = [
                    scenario.name.as_str(),
                    selection.kind.name(),
                    id,
                    &anchor.weight.to_string(),
                    &selection.cluster_size(k).to_string(),
                ];
                writer.write_record(row).map_err(failed)?;
            }
        }
    }
    let bytes = writer
        .into_inner()
        .map_err(|e| Error::io(&benchmark.origin, "writing the table", e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The chosen items as a JSON object `{task: [document indices]}`, as lm-evaluation-harness's `--samples` takes it. The task and
/// index are read from the item's id: `TASK/INDEX`, or `TASK/SUBJECT/INDEX` for the task `TASK_SUBJECT`, as the reader of
/// its logs names items. Indices are sorted; an item chosen in several ways stands once.
///
/// # Errors
/// An id whose last part is no index.
pub fn anchors_for_harness(
    benchmark: &Benchmark,
    fitted: &Fitted,
    selections: &[Vec<Selection>],
) -> Result<Value> {
    let mut tasks: Map<String, Value> = Map::new();
    for (s, f) in fitted.scenarios.iter().enumerate() {
        let scenario = &benchmark.scenarios[f.index];
        let mut found: Vec<(String, u64)> = Vec::new();
        for anchor in selections.iter().flat_map(|kind| &kind[s].anchors) {
            let id = &benchmark.matrix.items()[scenario.columns[anchor.item]];
            let (task, index) = task_and_index(id).ok_or_else(|| {
                Error::setting(
                    format!("item {id:?} names no task and document of lm-evaluation-harness"),
                    "ids must be TASK/INDEX or TASK/SUBJECT/INDEX, as its sample logs are read",
                )
            })?;
            found.push((task, index));
        }
        found.sort();
        found.dedup();
        for (task, index) in found {
            let list = tasks.entry(task).or_insert_with(|| json!([]));
            if let Value::Array(indices) = list {
                indices.push(json!(index));
            }
        }
    }
    Ok(Value::Object(tasks))
}

fn task_and_index(id: &str) -> Option<(String, u64)> {
    let (task, index) = id.rsplit_once('/')?;
    (!task.is_empty()).then_some(())?;
    Some((task.replace('/', "_"), index.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_task_and_document() {
        let of = |id| task_and_index(id);
        assert_eq!(of("gsm8k/12"), Some(("gsm8k".into(), 12)));
        assert_eq!(of("mmlu/anatomy/007"), Some(("mmlu_anatomy".into(), 7)));
        for bad in ["q1", "gsm8k/x", "/3", "a/-1"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
