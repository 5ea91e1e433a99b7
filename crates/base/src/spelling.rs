//! The known word that a misspelt word probably means.
//!
//! Source: optimal string alignment (Damerau 1964), a distance for typing errors.

/// The known word that is one or a few typing errors away from `word`, if there is one.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Known words are short. The limit bounds the time, which is quadratic in the length.
    if word.len() > 64 {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(d, candidate)| {
            let letters = candidate.chars().count().min(lower.chars().count());
            // At least one letter must stay: "b" is not a misspelt "a".
            *d < letters.max(1) && *d <= (letters / 3).clamp(1, 3)
        })
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitution = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + substitution);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_word_that_was_meant() {
        let known = ["beta", "rate", "delay", "buffer", "highspeed", "sack"];
        for (typed, meant) in [("betta", "beta"), ("dealy", "delay"), ("SACK", "sack"), ("high-speed", "highspeed")] {
            assert_eq!(nearest(typed, known.into_iter()), Some(meant));
        }
        assert_eq!(nearest("colour", known.into_iter()), None);
        assert_eq!(nearest("b", ["a"].into_iter()), None);
        assert_eq!(distance("ca", "ac"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
