//! BM25: how much an occurrence of a word says about a text among others.

/// Term saturation (k1): how soon further occurrences stop mattering.
const SATURATION: f64 = 1.2;

/// Statistics of a list of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bm25 {
    texts: f64,
    average_length: f64,
    length_normalization: f64,
}

impl Bm25 {
    /// Counts texts by their lengths. `length_normalization` (b) is 0 if length does not matter, and 1 if a text
    /// twice as long needs twice the occurrences.
    pub(crate) fn of(lengths: &[f64], length_normalization: f64) -> Self {
        let texts = lengths.len() as f64;
        Self {
            texts,
            average_length: (lengths.iter().sum::<f64>() / texts.max(1.0)).max(1.0),
            length_normalization,
        }
    }

    /// Returns the inverse document frequency of a word that occurs in `containing` texts.
    pub(crate) fn rarity(&self, containing: usize) -> f64 {
        let containing = containing as f64;
        (1.0 + (self.texts - containing + 0.5) / (containing + 0.5)).ln()
    }

    /// Returns the part of the score that does not depend on the rarity of the word. `weight` is the weighted number
    /// of its occurrences in a text of this length.
    pub(crate) fn saturated(&self, weight: f64, length: f64) -> f64 {
        let length =
            1.0 - self.length_normalization + self.length_normalization * length / self.average_length;
        weight * (SATURATION + 1.0) / (weight + SATURATION * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_frequent_words_and_short_texts_score_higher() {
        let bm25 = Bm25::of(&[10.0, 20.0, 30.0], 0.75);
        assert!(bm25.rarity(1) > bm25.rarity(2) && bm25.rarity(3) > 0.0);
        assert!(bm25.saturated(2.0, 20.0) > bm25.saturated(1.0, 20.0));
        assert!(bm25.saturated(1.0, 10.0) > bm25.saturated(1.0, 30.0));
        assert!(bm25.saturated(1000.0, 20.0) < SATURATION + 1.0);
        assert_eq!(bm25.saturated(0.0, 20.0), 0.0);
        assert_eq!(Bm25::of(&[], 0.5).rarity(0), 2.0_f64.ln());
    }
}
