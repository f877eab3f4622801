//! Landlock's scopes: no abstract unix sockets and no signals outside of the sandbox. With a shared
//! network the host's abstract sockets, D-Bus and X among them, can be reached otherwise.

use landlock::{CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetStatus, Scope};

/// How far the kernel went along.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Scoped {
    Fully,
    /// The kernel is older than Linux 6.12, or has Landlock off.
    No,
}

/// Scopes this thread and everything that it starts. What the kernel can't do is left out.
pub(crate) fn enter() -> anyhow::Result<Scoped> {
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?
        .create()?
        .restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Scoped::Fully,
        RulesetStatus::PartiallyEnforced | RulesetStatus::NotEnforced => Scoped::No,
    })
}

/// Whether the kernel can do it, without doing it: for `doctor`.
pub(crate) fn is_available() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::AbstractUnixSocket | Scope::Signal)
        .and_then(Ruleset::create)
        .is_ok()
}
