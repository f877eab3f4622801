//! Numbers that look random and come again with the same seed.

/// A generator (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.next() % sides
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.roll(2) == 1
    }
}

/// A number from the environment, for the sizes of what can also be run larger.
pub(crate) fn number_from(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text}")),
        Err(_) => default,
    }
}
