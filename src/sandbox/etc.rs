//! What of /etc is shown in every sandbox, as tables. A file is copied; a folder that is more than a few files costs a
//! start a tenth of a millisecond, since bubblewrap reads all mounts at each: so only what something fails without.

/// The curated part of /etc. Not /etc/ssh: its files, owned by root, show as nobody's inside, and ssh
/// refuses them; without the folder it uses its defaults.
pub(crate) const ETC: &[&str] = &[
    "passwd",
    "group",
    "nsswitch.conf",
    "hosts",
    "host.conf",
    "gai.conf",
    "services",
    "protocols",
    "localtime",
    "timezone",
    "zoneinfo",
    "machine-id",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ssl",
    "pki",
    "crypto-policies",
    "alternatives",
    "gitconfig",
    "terminfo",
    "inputrc",
    "bash.bashrc",
    "bashrc",
    "profile",
    "profile.d",
    "mime.types",
    "manpath.config",
    "man_db.conf",
    "locale.conf",
    "os-release",
    "lsb-release",
    "debian_version",
    "redhat-release",
    "system-release",
    "alpine-release",
    "arch-release",
    "fonts",
];

/// What languages and programs are configured by, for links in /usr lead there: what others may read, and no file
/// with a password in it.
pub(crate) const ETC_PROGRAMS: &[&str] = &[
    "vim",
    "java",
    "jvm-common",
    "maven",
    "ant",
    "gradle",
    "groovy",
    "scala",
    "php",
    "php.ini",
    "php.d",
    "perl",
    "R",
    "julia",
    "octave.conf",
    "dotnet",
    "mono",
    "lua",
    "odbcinst.ini",
    "texmf",
    "pip.conf",
    "npmrc",
];

/// Beginnings of more names in /etc: a version stands behind.
pub(crate) const ETC_PREFIXES: &[&str] =
    &["java-", "python2", "python3", "ruby", "php7", "php8", "ImageMagick-", "lua5"];
