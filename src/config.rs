//! The configuration: what a person has a new session begin with, in general, below a folder, or by a name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, de};

use crate::error::UserError;
use crate::escape::for_terminal;
use crate::harness;
use crate::harness::Harness;
use crate::sandbox::environment::refused_extra;
use crate::session::FsAccess;

/// What the file says.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    new: Defaults,
    #[serde(default)]
    project: BTreeMap<Place, Defaults>,
    #[serde(default)]
    profile: BTreeMap<String, Defaults>,
}

/// What a session begins with where the command line does not say otherwise. Each key may be left out.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Defaults {
    harness: Option<HarnessId>,
    pub(crate) sandbox: Option<bool>,
    pub(crate) fs: Option<FsAccess>,
    /// Whether the host's network is shared.
    #[serde(default, deserialize_with = "on_or_off")]
    pub(crate) net: Option<bool>,
    bind: Option<Vec<Place>>,
    ro_bind: Option<Vec<Place>>,
    env: Option<Vec<EnvName>>,
    #[serde(default)]
    arguments: BTreeMap<HarnessId, Vec<String>>,
}

impl Config {
    /// What `text` says; else the place in it and what is wrong there.
    pub(crate) fn parse(text: &str) -> Result<Self, (usize, String)> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span: Range<usize>| span.start);
            let before = text.get(..start).unwrap_or(text);
            (1 + before.matches('\n').count(), explained(error.message()))
        })
    }

    /// What holds in `folder`, canonical, under `profile`: of the profile, then of the nearest project, then of all.
    /// `real` makes what a person writes for a folder canonical.
    pub(crate) fn defaults(
        &self,
        folder: &Path,
        profile: Option<&str>,
        real: &dyn Fn(&str) -> PathBuf,
    ) -> Result<Defaults, UserError> {
        let named = profile.map(|name| self.profile(name)).transpose()?;
        let projects = self.project.iter().map(|(place, defaults)| (real(&place.0), defaults));
        let mut around: Vec<_> = projects.filter(|(place, _)| folder.starts_with(place)).collect();
        around.sort_by_key(|(place, _)| place.components().count());
        if let Some(pair) = around.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let place = for_terminal(&pair[0].0);
            return Err(UserError::new(format!("two projects of the configuration are `{place}`"))
                .hint("make one of them"));
        }
        let nearer = around.into_iter().rev().map(|(_, defaults)| defaults);
        let all = named.into_iter().chain(nearer).chain([&self.new]);
        Ok(all.cloned().fold(Defaults::default(), Defaults::or))
    }

    fn profile(&self, name: &str) -> Result<&Defaults, UserError> {
        self.profile.get(name).ok_or_else(|| {
            let known = self.profiles().collect::<Vec<_>>();
            UserError::usage(format!("there is no profile `{}`", for_terminal(name)))
                .hint(instead(name, &known).unwrap_or_else(|| "the configuration has none".into()))
        })
    }

    /// The names of all profiles.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &str> {
        self.profile.keys().map(String::as_str)
    }

    /// The folders of all projects, as they are written.
    pub(crate) fn projects(&self) -> impl Iterator<Item = &str> {
        self.project.keys().map(|place| place.0.as_str())
    }

    /// What holds everywhere, in the words of the file.
    pub(crate) fn in_words(&self) -> Vec<String> {
        let Defaults { harness, sandbox, fs, net, bind, ro_bind, env, arguments } = &self.new;
        let on = |net: &bool| if *net { "on" } else { "off" };
        let mut said = Vec::new();
        said.extend(harness.as_ref().map(|id| format!("harness {}", id.0)));
        said.extend(sandbox.map(|sandbox| format!("sandbox {sandbox}")));
        said.extend(fs.map(|fs| format!("fs {fs}")));
        said.extend(net.as_ref().map(|net| format!("net {}", on(net))));
        said.extend(bind.iter().flatten().map(|place| format!("bind {}", place.0)));
        said.extend(ro_bind.iter().flatten().map(|place| format!("ro-bind {}", place.0)));
        said.extend(env.iter().flatten().map(|name| format!("env {}", name.0)));
        said.extend(arguments.keys().map(|id| format!("arguments of {}", id.0)));
        said
    }
}

impl Defaults {
    /// Where it does not say, what `other` says.
    fn or(self, other: Self) -> Self {
        let mut arguments = other.arguments;
        arguments.extend(self.arguments);
        Self {
            harness: self.harness.or(other.harness),
            sandbox: self.sandbox.or(other.sandbox),
            fs: self.fs.or(other.fs),
            net: self.net.or(other.net),
            bind: self.bind.or(other.bind),
            ro_bind: self.ro_bind.or(other.ro_bind),
            env: self.env.or(other.env),
            arguments,
        }
    }

    pub(crate) fn harness(&self) -> Option<&'static Harness> {
        self.harness.as_ref().and_then(|id| harness::find(id.0))
    }

    /// What a sandbox shows besides the project, writable, as it is written.
    pub(crate) fn bind(&self) -> impl Iterator<Item = &str> {
        self.bind.iter().flatten().map(|place| place.0.as_str())
    }

    /// The same, read-only.
    pub(crate) fn ro_bind(&self) -> impl Iterator<Item = &str> {
        self.ro_bind.iter().flatten().map(|place| place.0.as_str())
    }

    /// The names of variables that are passed besides the allowlist.
    pub(crate) fn env(&self) -> impl Iterator<Item = &str> {
        self.env.iter().flatten().map(|name| name.0.as_str())
    }

    pub(crate) fn arguments_of(&self, harness: &Harness) -> Vec<OsString> {
        let words = self.arguments.get(&HarnessId(harness.id)).into_iter().flatten();
        words.map(OsString::from).collect()
    }
}

/// A harness of the registry.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct HarnessId(&'static str);

impl<'de> Deserialize<'de> for HarnessId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let known = harness::ids();
        known.iter().find(|id| **id == name).map(|id| Self(id)).ok_or_else(|| {
            let other = instead(&name, &known).unwrap_or_default();
            de::Error::custom(format!("there is no harness `{name}`: {other}"))
        })
    }
}

/// The name of a variable that may be passed inside.
#[derive(Clone, Debug, PartialEq)]
struct EnvName(String);

impl<'de> Deserialize<'de> for EnvName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        match refused_extra(&name) {
            None => Ok(Self(name)),
            Some(reason) => Err(de::Error::custom(format!("`{name}`: {reason}"))),
        }
    }
}

/// A path that means the same wherever it is read: absolute, or in the home folder.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Place(String);

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let path = String::deserialize(from)?;
        match path.starts_with('/') || path == "~" || path.starts_with("~/") {
            true => Ok(Self(path)),
            false => Err(de::Error::custom(format!("`{path}` does not begin with `/` or `~/`"))),
        }
    }
}

fn on_or_off<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    match String::deserialize(from)?.as_str() {
        "on" => Ok(Some(true)),
        "off" => Ok(Some(false)),
        other => Err(de::Error::unknown_variant(other, &["on", "off"])),
    }
}

/// What the parser says, with the nearest of the names that it expected.
fn explained(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let what = ["unknown field", "unknown variant"].iter().find(|what| message.starts_with(**what));
    match (what, quoted.next()) {
        (Some(what), Some(name)) => {
            let what = if what.ends_with("field") { "key" } else { "value" };
            let known: Vec<&str> = quoted.collect();
            format!("unknown {what} `{name}`: {}", instead(name, &known).unwrap_or_default())
        }
        _ => message.trim_end().replace('\n', ", "),
    }
}

/// What `name` was perhaps meant to be, or what there is.
fn instead(name: &str, known: &[&str]) -> Option<String> {
    const CLOSE: f64 = 0.6;
    let scored =
        known.iter().map(|other| (strsim::normalized_damerau_levenshtein(name, other), other));
    let nearest = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    match nearest {
        Some((likeness, other)) if likeness >= CLOSE => Some(format!("did you mean `{other}`?")),
        Some(_) => Some(format!("there are {}", known.join(", "))),
        None => None,
    }
}

#[cfg(test)]
mod tests;
