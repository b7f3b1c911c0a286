//! A settings file: the screen as it is, so that a talk starts at exactly this one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use tinyscope::anchors::{Edits, SelectionKind};
use tinyscope::data::read::{ReadOptions, demo_name};
use tinyscope::estimate::Estimator;
use tinyscope::experiment::{Lambda, Scope as Theta};

use super::glyphs::Marker;
use super::state::{
    AllEdits, Axes, ColourBy, Cost, Cursor, ItemSort, Layers, Lower, Scope, Setting, Sort, State,
    TARGET, ViewName, Zoom,
};
use super::study::{Choice, Study};
use super::theme::{Theme, ThemeName};

/// Version of the format.
const VERSION: u32 = 1;

/// Everything a screen needs to be shown again. Items, models and scenarios are named, so that a
/// settings file serves a newer version of the same data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    /// Version of the format.
    pub(crate) tinyscope: u32,
    /// The benchmark: a path (relative to this file) or demo:NAME.
    pub(crate) data: PathBuf,
    /// What the fits depend on.
    pub(crate) fit: SavedFit,
    /// The view.
    view: ViewName,
    /// The setting.
    setting: SavedSetting,
    /// The pinned setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pin: Option<SavedSetting>,
    /// How it looks.
    look: SavedLook,
    /// The file with the answers of the user's own model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) me: Option<PathBuf>,
}

/// What the fits depend on, as the command line writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedFit {
    /// iid, date, org, top or file:PATH.
    pub(crate) split: String,
    /// Seed of the first fit, of the band and of everything that names no other.
    pub(crate) seed: u64,
    /// Candidates for D.
    pub(crate) dims: Vec<usize>,
    /// posterior or ml.
    pub(crate) ability: String,
    /// anchor or balance.
    pub(crate) seen: String,
    /// raw or binary.
    pub(crate) responses: String,
    /// The file whose item parameters stand for a fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parameters: Option<PathBuf>,
    /// Its convention, fork or upstream, where that had to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) convention: Option<String>,
    /// How the files are read.
    #[serde(default)]
    pub(crate) reading: ReadOptions,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedSetting {
    /// A scenario by name; the mean over all where absent.
    scenario: Option<String>,
    n: usize,
    selection: String,
    estimator: String,
    /// The paper's where absent.
    lambda: Option<f64>,
    theta: String,
    seed: u64,
    /// Items kept out or always in, by scenario and id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    edits: BTreeMap<String, SavedEdits>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedEdits {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    excluded: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    forced: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedLook {
    theme: String,
    marker: String,
    slide: Option<usize>,
    list_open: Option<bool>,
    inspector_open: Option<bool>,
    colour_by: ColourBy,
    axes: Axes,
    cursor: Cursor,
    layers: Layers,
    zoom: Zoom,
    sort: Sort,
    ranking: bool,
    /// Older files do not say it.
    #[serde(default = "shown")]
    bars: bool,
    item_sort: ItemSort,
    item_filter: String,
    model_filter: String,
    lower: Lower,
    log_n: bool,
    #[serde(default = "target")]
    target: f64,
    cost: Option<Cost>,
    item: Option<String>,
    part: Option<String>,
    model: Option<String>,
}

fn shown() -> bool {
    true
}

fn target() -> f64 {
    TARGET
}

impl Saved {
    /// The screen as it is; `None` while nothing is open.
    pub(crate) fn of(state: &State) -> Option<Saved> {
        let (study, source) = (state.study.as_ref()?, state.source.as_ref()?);
        let settings = &study.settings;
        let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let item = state.scenario().zip(state.item);
        let part = state.scenario().zip(state.part);
        Some(Saved {
            tinyscope: VERSION,
            data: match source.demo_name() {
                Some(_) => source.0.clone(),
                None => whole(&source.0),
            },
            fit: SavedFit {
                split: settings.split.to_string(),
                seed: settings.seed,
                dims: settings.dims.clone(),
                ability: settings.ability.name().into(),
                seen: settings.seen.name().into(),
                responses: settings.responses.name().into(),
                parameters: settings.parameters.as_ref().map(|p| whole(&p.path)),
                convention: settings
                    .parameters
                    .as_ref()
                    .and_then(|p| Some(p.convention?.name().to_owned())),
                reading: ReadOptions {
                    also: state.reading.also.iter().map(|path| whole(path)).collect(),
                    ..state.reading.clone()
                },
            },
            view: state.view,
            setting: saved_setting(study, &state.setting),
            pin: state.pin.as_ref().map(|pin| saved_setting(study, pin)),
            look: SavedLook {
                theme: state.look.theme.name.label().into(),
                marker: state.look.marker.label().into(),
                slide: state.look.slide,
                list_open: state.look.list_open,
                inspector_open: state.look.inspector_open,
                colour_by: state.colour_by,
                axes: state.axes,
                cursor: state.cursor,
                layers: state.layers,
                zoom: state.zoom,
                sort: state.sort,
                ranking: state.ranking,
                bars: state.bars,
                item_sort: state.item_sort,
                item_filter: state.item_filter.clone(),
                model_filter: state.model_filter.clone(),
                lower: state.lower,
                log_n: state.log_n,
                target: state.target,
                cost: state.cost.clone(),
                item: item.map(|(s, i)| study.item_id(s, i).to_owned()),
                part: part.and_then(|(s, p)| {
                    let parts = &study.scenario(s).subscenarios;
                    parts.get(p).map(|p| p.name.clone())
                }),
                model: state.model.map(|m| study.model(m).to_owned()),
            },
            me: state.mine.as_ref().map(|mine| whole(&mine.file)),
        })
    }

    /// As JSON, with a line feed.
    pub(crate) fn text(&self) -> Result<String, String> {
        serde_json::to_string_pretty(self)
            .map(|text| text + "\n")
            .map_err(|e| e.to_string())
    }

    /// Reads a settings file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// A message that names the file and the place.
    pub(crate) fn read(file: &Path) -> Result<Saved, String> {
        let named = |why: String| format!("{}: {why}", file.display());
        if !file.exists() {
            return Err(named(
                "no such file; the explorer writes settings with w, f".into(),
            ));
        }
        let text = std::fs::read_to_string(file).map_err(|e| named(e.to_string()))?;
        let mut saved: Saved = serde_json::from_str(&text)
            .map_err(|e| named(format!("not a settings file: {e}; write one with w, f")))?;
        if saved.tinyscope != VERSION {
            let why = format!(
                "settings of format {}, this reads {VERSION}",
                saved.tinyscope
            );
            return Err(named(why));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        if demo_name(&saved.data).is_none() {
            saved.data = folder.join(&saved.data);
        }
        for also in &mut saved.fit.reading.also {
            if demo_name(also).is_none() {
                *also = folder.join(&*also);
            }
        }
        saved.fit.parameters = saved.fit.parameters.map(|path| folder.join(path));
        saved.me = saved.me.map(|me| folder.join(me));
        Ok(saved)
    }

    /// The same on another view.
    pub(crate) fn with_view(mut self, view: ViewName) -> Saved {
        self.view = view;
        self.look.slide = None;
        self
    }

    /// The theme, where it is one of ours.
    pub(crate) fn theme(&self) -> Option<ThemeName> {
        ThemeName::ALL
            .iter()
            .copied()
            .find(|t| t.label() == self.look.theme)
    }

    /// Puts the screen back once its benchmark is open; what is no longer there is said.
    pub(crate) fn restore(self, state: &mut State) {
        let Some(study) = state.study.clone() else {
            return;
        };
        let mut missing = Vec::new();
        let look = &self.look;
        if let Some(setting) = restored(&study, &self.setting, &mut missing) {
            if !setting.edits.is_empty() {
                // One undo takes all of them back.
                state.undo = vec![AllEdits::default()];
            }
            state.setting = setting;
        }
        state.pin = self
            .pin
            .as_ref()
            .and_then(|pin| restored(&study, pin, &mut missing));
        state.setting.n = state.setting.n.clamp(1, state.largest_n());
        state.view = self.view;
        state.look.slide = look.slide;
        (state.look.list_open, state.look.inspector_open) = (look.list_open, look.inspector_open);
        if let Some(marker) = Marker::ALL
            .iter()
            .copied()
            .find(|m| m.label() == look.marker)
        {
            state.look.marker = marker;
        }
        if let Some(theme) = self.theme().filter(|_| !state.theme_is_chosen) {
            let theme = Theme::new(theme);
            state.look.theme = if state.look.indexed {
                theme.indexed()
            } else {
                theme
            };
        }
        state.colour_by = look.colour_by;
        state.axes = look.axes;
        state.cursor = look.cursor;
        state.layers = look.layers;
        // Inside its bounds, whatever the file says.
        state.zoom = look.zoom.bounded();
        (state.sort, state.ranking) = (look.sort, look.ranking);
        state.bars = look.bars;
        state.item_sort = look.item_sort;
        state.item_filter = look.item_filter.clone();
        state.model_filter = look.model_filter.clone();
        (state.lower, state.log_n) = (look.lower, look.log_n);
        if look.target > 0.0 && look.target < 1.0 {
            state.target = look.target;
        }
        state.cost = look.cost.clone();
        let models = study.benchmark.matrix.models();
        if let Some(name) = &look.model {
            state.model = models.iter().position(|m| m == name);
            if state.model.is_none() {
                missing.push(format!("model {name}"));
            }
        }
        if let Some(s) = state.scenario() {
            let items = study.scenario(s).n_items();
            if let Some(id) = &look.item {
                state.item = (0..items).find(|&i| study.item_id(s, i) == id);
                if state.item.is_none() {
                    missing.push(format!("item {id}"));
                }
            }
            let parts = &study.scenario(s).subscenarios;
            state.part = look
                .part
                .as_ref()
                .and_then(|p| parts.iter().position(|q| q.name == *p));
        }
        if !missing.is_empty() {
            missing.truncate(4);
            state.message = Some(format!("not in this data any more: {}", missing.join(", ")));
        }
    }
}

fn saved_setting(study: &Study, setting: &Setting) -> SavedSetting {
    let edits = setting.edits.iter().map(|(&s, edits)| {
        let ids = |items: &std::collections::BTreeSet<usize>| {
            items
                .iter()
                .map(|&i| study.item_id(s, i).to_owned())
                .collect()
        };
        let saved = SavedEdits {
            excluded: ids(&edits.excluded),
            forced: ids(&edits.forced),
        };
        (study.scenario(s).name.clone(), saved)
    });
    SavedSetting {
        scenario: match setting.scope {
            Scope::One(s) => Some(study.scenario(s).name.clone()),
            Scope::Overall => None,
        },
        n: setting.n,
        selection: setting.selection.name().into(),
        estimator: setting.estimator.name().into(),
        lambda: match setting.lambda {
            Lambda::Auto => None,
            Lambda::Fixed(x) => Some(x),
        },
        theta: setting.theta.name().into(),
        seed: setting.seed,
        edits: edits.collect(),
    }
}

/// A setting on this data; names that it does not know are listed.
fn restored(study: &Study, saved: &SavedSetting, missing: &mut Vec<String>) -> Option<Setting> {
    let scenario = |name: &str| study.benchmark.scenario_index(name);
    let scope = match &saved.scenario {
        None => Scope::Overall,
        Some(name) => match scenario(name) {
            Some(s) => Scope::One(s),
            None => {
                missing.push(format!("scenario {name}"));
                return None;
            }
        },
    };
    let scope = if scope == Scope::Overall && study.scenarios() < 2 {
        Scope::One(0)
    } else {
        scope
    };
    let mut all = BTreeMap::new();
    for (name, edits) in &saved.edits {
        let Some(s) = scenario(name) else {
            missing.push(format!("scenario {name}"));
            continue;
        };
        let mut found = Edits::default();
        let items = study.scenario(s).n_items();
        for (ids, force) in [(&edits.excluded, false), (&edits.forced, true)] {
            for id in ids {
                match (0..items).find(|&i| study.item_id(s, i) == id) {
                    Some(item) if force => found.force(item),
                    Some(item) => found.exclude(item),
                    None => missing.push(format!("item {id}")),
                }
            }
        }
        if !found.is_empty() {
            all.insert(s, Arc::new(found));
        }
    }
    Some(Setting {
        scope,
        n: saved.n.max(1),
        selection: SelectionKind::from_name(&saved.selection).unwrap_or(SelectionKind::AnchorsIrt),
        estimator: Estimator::ALL
            .into_iter()
            .find(|e| e.name() == saved.estimator)
            .unwrap_or(Estimator::GpIrt),
        lambda: saved
            .lambda
            .filter(|x| (0.0..=1.0).contains(x))
            .map_or(Lambda::Auto, Lambda::Fixed),
        theta: if saved.theta == Theta::Joint.name() {
            Theta::Joint
        } else {
            Theta::Scenario
        },
        seed: saved.seed,
        edits: AllEdits::new(all),
    })
}
