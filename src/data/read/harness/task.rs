//! Names of tasks: which are parts of one scenario.

/// MMLU's subjects, as the harness spells them.
const MMLU: &str = "abstract_algebra anatomy astronomy business_ethics clinical_knowledge college_biology \
college_chemistry college_computer_science college_mathematics college_medicine college_physics computer_security \
conceptual_physics econometrics electrical_engineering elementary_mathematics formal_logic global_facts \
high_school_biology high_school_chemistry high_school_computer_science high_school_european_history \
high_school_geography high_school_government_and_politics high_school_macroeconomics high_school_mathematics \
high_school_microeconomics high_school_physics high_school_psychology high_school_statistics high_school_us_history \
high_school_world_history human_aging human_sexuality international_law jurisprudence logical_fallacies \
machine_learning management marketing medical_genetics miscellaneous moral_disputes moral_scenarios nutrition \
philosophy prehistory professional_accounting professional_law professional_medicine professional_psychology \
public_relations security_studies sociology us_foreign_policy virology world_religions";

/// Scenario and sub-scenario of a task: `mmlu_anatomy` is `anatomy` of `mmlu` (and so for MMLU's variants and the older
/// `hendrycksTest-anatomy`), `mmlu_pro_law` is `law` of `mmlu_pro`; any other task is a scenario of its own, with one
/// sub-scenario `all`.
pub(super) fn scenario(task: &str) -> (String, String) {
    if let Some(subject) = task.strip_prefix("mmlu_pro_") {
        return ("mmlu_pro".into(), subject.into());
    }
    if task.starts_with("mmlu") || task.starts_with("hendrycksTest") {
        let (plain, variant) = match task.strip_suffix("_generative") {
            Some(plain) => (plain, "_generative"),
            None => (task, ""),
        };
        for subject in MMLU.split_whitespace() {
            let Some(prefix) = plain.strip_suffix(subject) else {
                continue;
            };
            if let Some(prefix) = prefix.strip_suffix(['_', '-']) {
                return (format!("{prefix}{variant}"), subject.into());
            }
        }
    }
    (task.to_owned(), "all".into())
}

/// Filters of which the first that is there counts by default.
pub(super) const FILTERS: &[&str] = &["strict-match", "none"];

/// Metrics of which the first that is there counts by default, as leaderboards report the task.
pub(super) fn metrics(scenario: &str) -> &'static [&'static str] {
    const PLAIN: &[&str] = &[
        "acc",
        "mc2",
        "acc_norm",
        "exact_match",
        "pass@1",
        "pass_at_1",
        "f1",
    ];
    const NORMED: &[&str] = &[
        "acc_norm",
        "exact_match",
        "prompt_level_strict_acc",
        "acc",
        "mc2",
        "pass@1",
        "pass_at_1",
        "em",
        "f1",
    ];
    let plain = ["mmlu", "hendrycksTest", "winogrande", "truthfulqa"];
    if plain.iter().any(|p| scenario.starts_with(p)) {
        PLAIN
    } else {
        NORMED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_parts_and_other_tasks_are_whole() {
        for (task, name, sub) in [
            ("mmlu_anatomy", "mmlu", "anatomy"),
            ("mmlu_anatomy_generative", "mmlu_generative", "anatomy"),
            (
                "hendrycksTest-world_religions",
                "hendrycksTest",
                "world_religions",
            ),
            (
                "mmlu_flan_cot_zeroshot_virology",
                "mmlu_flan_cot_zeroshot",
                "virology",
            ),
            ("mmlu_pro_law", "mmlu_pro", "law"),
            ("mmlu_pro", "mmlu_pro", "all"),
            ("arc_challenge", "arc_challenge", "all"),
        ] {
            assert_eq!(scenario(task), (name.into(), sub.into()), "{task}");
        }
    }
}
