//! Regular expressions on tags, by the crate `regex` (feature `regexp`).

use std::fmt;

use crate::{Error, ErrorKind, Result};

/// A regular expression in the syntax of the crate `regex`. It is found anywhere in a text unless it says `^` and `$`.
///
/// Without the feature `regexp` there is none: [`new`](Self::new) says so.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    #[cfg(feature = "regexp")]
    regex: regex::Regex,
    #[cfg(not(feature = "regexp"))]
    regex: std::convert::Infallible,
}

/// Bytes that a compiled expression may take, and its cache once more: `(a{1000}){1000}` is refused, not built.
#[cfg(feature = "regexp")]
const SIZE_MAX: usize = 1 << 20;

impl Pattern {
    /// Compiles an expression.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`] for one that is wrong or takes more than 1 MiB, [`ErrorKind::Unsupported`] without the feature.
    #[cfg(feature = "regexp")]
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let compiled = regex::RegexBuilder::new(&text).size_limit(SIZE_MAX).dfa_size_limit(SIZE_MAX).build();
        let regex = compiled.map_err(|error| {
            // An expression that is wrong is drawn over several lines; the last says why.
            let said = error.to_string();
            let why = said.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
            Error::new(ErrorKind::InvalidArgument, format!("regular expression {text}: {why}"))
        })?;
        Ok(Self { text, regex })
    }

    /// Says that this build has no regular expressions.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "regexp"))]
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let message = format!("regular expression {}: this build lacks the feature regexp", text.into());
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True when it is found in the text.
    pub fn is_match(&self, text: &str) -> bool {
        #[cfg(feature = "regexp")]
        return self.regex.is_match(text);
        #[cfg(not(feature = "regexp"))]
        {
            let _ = text;
            match self.regex {}
        }
    }
}

/// Expressions are equal when they are written alike.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "regexp")]
    #[test]
    fn it_is_found_anywhere_unless_it_says_where() {
        let finds = |pattern: &str, text| Pattern::new(pattern).unwrap().is_match(text);
        assert!(finds("b+", "abba") && finds("^a.*a$", "abba") && finds("", ""));
        assert!(!finds("^b", "abba") && !finds("B", "abba"));
        assert_eq!(Pattern::new("a|b").unwrap(), Pattern::new("a|b").unwrap());
        assert_ne!(Pattern::new("a|b").unwrap(), Pattern::new("b|a").unwrap());
    }

    #[cfg(feature = "regexp")]
    #[test]
    fn what_is_wrong_or_too_large_is_refused() {
        for (text, why) in [("(", "unclosed group"), ("((a{1000}){1000}){1000}", "exceeds size limit")] {
            let error = Pattern::new(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[cfg(not(feature = "regexp"))]
    #[test]
    fn a_build_without_them_says_so() {
        assert_eq!(Pattern::new("a").unwrap_err().kind(), ErrorKind::Unsupported);
    }
}
