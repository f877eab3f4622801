//! Times of change, as file systems keep them.

/// Seconds and nanoseconds.
pub(super) type Time = (i64, i64);

/// Whether what was `changed` then may have been so `since` then or later: some file systems keep whole seconds, or
/// every other one (ext3, FAT), and so an earlier time.
pub(super) fn is_since(changed: Time, since: Time) -> bool {
    const COARSEST: i64 = 2;
    changed >= since || (changed.1 == 0 && changed.0 + COARSEST > since.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_without_nanoseconds_may_mean_a_later_one() {
        let since = (13, 500);
        for (changed, counts) in [
            ((13, 500), true),
            ((14, 0), true),
            ((13, 499), false),
            ((12, 1), false),
            ((13, 0), true),
            ((12, 0), true),
            ((11, 0), false),
        ] {
            assert_eq!(is_since(changed, since), counts, "{changed:?}");
        }
    }
}
