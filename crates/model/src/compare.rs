//! What conditions on tags and conditions on values share: comparisons, and AND and OR of three truths.

use std::cmp::Ordering;

/// How two values are compared: texts by bytes, unsigned; numbers as IEEE 754 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// equal
    Eq,
    /// not equal
    Ne,
    /// less
    Lt,
    /// less or equal
    Le,
    /// greater
    Gt,
    /// greater or equal
    Ge,
}

impl CompareOp {
    /// Whether a comparison with this outcome holds; `None` is the outcome of NaN.
    pub const fn holds_for(self, ordering: Option<Ordering>) -> bool {
        matches!(
            (self, ordering),
            (Self::Eq | Self::Le | Self::Ge, Some(Ordering::Equal))
                | (Self::Lt | Self::Le | Self::Ne, Some(Ordering::Less))
                | (Self::Gt | Self::Ge | Self::Ne, Some(Ordering::Greater))
                | (Self::Ne, None)
        )
    }
}

/// AND is decided by the first false, OR by the first true; otherwise an unknown member makes the whole unknown.
pub(crate) fn decided<M>(members: &[M], deciding: bool, truth: impl Fn(&M) -> Option<bool>) -> Option<bool> {
    let mut outcome = Some(!deciding);
    for member in members {
        match truth(member) {
            Some(truth) if truth == deciding => return Some(deciding),
            Some(_) => {}
            None => outcome = None,
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_hold_as_their_names_say() {
        let orderings = [Some(Ordering::Less), Some(Ordering::Equal), Some(Ordering::Greater), None];
        let check = |op: CompareOp, expected: [bool; 4]| assert_eq!(orderings.map(|outcome| op.holds_for(outcome)), expected);
        check(CompareOp::Eq, [false, true, false, false]);
        check(CompareOp::Ne, [true, false, true, true]);
        check(CompareOp::Lt, [true, false, false, false]);
        check(CompareOp::Le, [true, true, false, false]);
        check(CompareOp::Gt, [false, false, true, false]);
        check(CompareOp::Ge, [false, true, true, false]);
    }
}
