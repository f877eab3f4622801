//! The store.

use super::{Check, Verdict};
use crate::context::Context;
use crate::error::UserError;
use crate::store;
use crate::store::Store;

pub(super) fn check(context: &Context) -> Check {
    let folder = match context.state_folder() {
        Ok(folder) => folder,
        Err(error) => {
            return Check::new("store", Verdict::Fail, format!("{error:#}")).remedy("set HOME");
        }
    };
    let looked = || -> Result<String, store::Error> {
        let store = Store::open_to_read(&folder)?;
        store.quick_check()?;
        let (version, count) = (store.version()?, store.all()?.len());
        let sessions = if count == 1 { "session" } else { "sessions" };
        Ok(format!("version {version}, {count} {sessions}"))
    };
    let path = store::path(&folder).display().to_string();
    match looked() {
        Ok(detail) => Check::new("store", Verdict::Ok, format!("{path}, {detail}")),
        Err(store::Error::Absent) => Check::new("store", Verdict::Ok, format!("{path}, none yet")),
        Err(error) => {
            let error = store::explain(&error, &folder);
            let remedy = error.downcast_ref::<UserError>().and_then(|error| error.remedy());
            Check::new("store", Verdict::Fail, error.to_string()).remedy(remedy.unwrap_or_default())
        }
    }
}
