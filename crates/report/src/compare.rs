//! Two sides of runs, compared.

use record::compare::{Comparison, Effect};
use serde_json::Value;

use crate::columns::columns;

/// Characters of a fact that are shown; the page and the JSON have it whole.
const SHOWN: usize = 60;

/// The comparison as text: the answer, every figure, then in what the sides were made differently.
#[must_use]
pub fn compare_table(comparison: &Comparison) -> String {
    let mut parts = vec![sides(comparison)];
    parts.push(format!("{}\n", conclusion(comparison)));
    let rows = all(comparison).map(figures).collect();
    parts.push(columns(&["<figure", "base", "new", "ratio", "95 % interval", "<"], rows));
    if !comparison.differences.is_empty() {
        let row = |d: &record::compare::Difference| vec![d.what.clone(), shown(&d.base), shown(&d.new)];
        let rows = comparison.differences.iter().map(row).collect();
        parts.push(columns(&["<made differently", "<base", "<new"], rows));
    }
    if !comparison.cautions.is_empty() {
        parts.push(comparison.cautions.iter().map(|caution| format!("Note: {caution}\n")).collect());
    }
    parts.push(format!("{}\n", comparison.note));
    parts.join("\n")
}

/// A fact, cut where it is too long for a line.
fn shown(fact: &str) -> String {
    let fact = or_dash(fact);
    match fact.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}...", &fact[..at]),
        None => fact,
    }
}

/// The comparison as Markdown, for a review or a chat.
#[must_use]
pub fn compare_markdown(comparison: &Comparison) -> String {
    let mut text = format!("**{}**\n", conclusion(comparison));
    for objection in &comparison.objections {
        text.push_str(&format!("\nCompared by force: {objection}\n"));
    }
    text.push_str("\n| | base | new | ratio | 95 % interval | |\n|---|---:|---:|---:|---:|---|\n");
    for effect in all(comparison) {
        text.push_str(&format!("| {} |\n", figures(effect).join(" | ")));
    }
    if !comparison.differences.is_empty() {
        text.push_str("\n| made differently | base | new |\n|---|---|---|\n");
        for d in &comparison.differences {
            let cells = [&d.what, &d.base, &d.new].map(|text| text.replace('|', "\\|").replace('\n', " "));
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
    }
    comparison.cautions.iter().for_each(|caution| text.push_str(&format!("\nNote: {caution}\n")));
    text
}

/// The comparison as JSON.
#[must_use]
pub fn compare_json(comparison: &Comparison) -> Value {
    let mut document = serde_json::to_value(comparison).unwrap_or_default();
    document["conclusion"] = conclusion(comparison).into();
    document["decisive"]["words"] = words(&comparison.decisive).into();
    document
}

pub(crate) fn all(comparison: &Comparison) -> impl Iterator<Item = &Effect> {
    std::iter::once(&comparison.decisive).chain(&comparison.effects)
}

fn sides(comparison: &Comparison) -> String {
    let mut text = format!("Base: {}\nNew:  {}\n", comparison.base.join(", "), comparison.new.join(", "));
    for objection in &comparison.objections {
        text.push_str(&format!("COMPARED BY FORCE: {objection}\n"));
    }
    text
}

/// The answer in a sentence.
pub(crate) fn conclusion(comparison: &Comparison) -> String {
    let effect = &comparison.decisive;
    let Some([low, high]) = effect.interval else {
        return format!(
            "{}: {}; the runs are too short, or too few, to tell whether that is chance",
            effect.name,
            words(effect)
        );
    };
    let interval = format!("95 % interval {} to {}", percent(low), percent(high));
    if effect.significant {
        let better = (effect.ratio > 1.0) == effect.more_is_better;
        let verdict = if better { "better" } else { "worse" };
        return format!("New is {verdict}: {} {}, {interval}", words(effect), effect.name);
    }
    format!("No difference can be told in {}: {}, {interval}", effect.name, words(effect))
}

/// A ratio in words that can't be mistaken: `4.45 times, +345 %`.
pub(crate) fn words(effect: &Effect) -> String {
    format!("{} times, {}", digits(effect.ratio, 2), percent(effect.ratio))
}

/// A figure with so many decimals, or with as many more as two digits of it need.
pub(crate) fn digits(value: f64, decimals: usize) -> String {
    let needed = if value > 0.0 { 1 - value.log10().floor() as i32 } else { 0 };
    format!("{value:.0$}", decimals.max(usize::try_from(needed).unwrap_or(0)))
}

/// How chance is kept from showing up where so much is compared.
pub(crate) const HOLM: &str = "The first figure decides. Of the others there are so many that by chance alone one in twenty would seem to differ: a difference is called better or worse only if it stands out so far that all of them together leave chance no more than one in twenty (Holm's correction). An interval is that of its figure alone, so one that lies clear of no change may still stand without a word.";

fn percent(ratio: f64) -> String {
    let change = (ratio - 1.0) * 100.0;
    if change.abs() >= 100.0 { format!("{change:+.0} %") } else { format!("{change:+.1} %") }
}

pub(crate) fn figures(effect: &Effect) -> Vec<String> {
    let figure = |value: f64| if value < 100.0 { digits(value, 2) } else { format!("{value:.0}") };
    let interval =
        effect.interval.map_or("-".to_owned(), |[low, high]| format!("{} to {}", percent(low), percent(high)));
    let better = (effect.ratio > 1.0) == effect.more_is_better;
    let said = match (effect.significant, better) {
        (true, true) => "better",
        (true, false) => "worse",
        (false, _) if effect.interval.is_none() => "can't be judged",
        (false, _) => "",
    };
    let ratio = digits(effect.ratio, 3);
    vec![effect.name.clone(), figure(effect.base.value), figure(effect.new.value), ratio, interval, said.to_owned()]
}

fn or_dash(value: &str) -> String {
    if value.is_empty() { "-".to_owned() } else { value.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn small_figures_keep_their_digits() {
        let said = [4.449, 0.97, 0.1, 0.0412, 0.004, 0.000_012_3, 0.0].map(|value| digits(value, 2));
        assert_eq!(said, ["4.45", "0.97", "0.10", "0.041", "0.0040", "0.000012", "0.00"]);
    }
}
