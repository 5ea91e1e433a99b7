//! Profiles of disciplines: the default parameters of another implementation, each with its source.
//!
//! Source: Linux 6.12 and, for dualpi2, 6.18 (`net/sched`, `include/net`); iproute2 6.1 for what `tc` fills in.

use crate::{Limit, Port, QueueSpec};
use base::{Rate, Value};

/// A value, and its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name of the parameter; `limit` for the size of the buffer.
    pub name: &'static str,
    /// The value in the form of a scenario file.
    pub value: &'static str,
    /// File and function in the source.
    pub source: &'static str,
}

/// The parameters of one discipline.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Its name in scenario files.
    pub name: &'static str,
    /// Name of the discipline.
    pub discipline: &'static str,
    /// Version of the source.
    pub version: &'static str,
    /// Differences from the source that remain with these parameters.
    pub differs: &'static str,
    /// Every parameter of the discipline, and the buffer's size if the source sets one.
    pub settings: &'static [Setting],
}

/// The name of all present profiles.
pub const LINUX: &str = "linux";

const PIE: &str = "include/net/pie.h, pie_params_init";
const CODEL: &str = "include/net/codel_impl.h, codel_params_init";
const FQ_CODEL: &str = "net/sched/sch_fq_codel.c, fq_codel_init";
const SFQ: &str = "net/sched/sch_sfq.c, sfq_init";
const DUALPI2: &str = "net/sched/sch_dualpi2.c, dualpi2_reset_default";
const TC_RED: &str = "iproute2, tc/q_red.c, red_parse_opt";
const RED: &str = "include/net/red.h, red_action";
const NONE: &str = "no counterpart: as here";

macro_rules! settings {
    ($($name:ident = $value:literal, $source:expr;)+) => {
        &[$(Setting { name: stringify!($name), value: $value, source: $source },)+]
    };
}

/// All profiles.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: LINUX,
        discipline: "red",
        version: "6.12; iproute2 6.1",
        differs: "Linux has no limit of its own, and averages bytes. Where min_th is given max_th is three times that, as tc has it.",
        settings: settings! {
            min_th = "auto", TC_RED;
            max_th = "0.25 buffer", TC_RED;
            w_q = "auto", TC_RED;
            max_p = "0.02", TC_RED;
            gentle = "false", RED;
            count = "classic", "include/net/red.h, red_mark_probability";
            unit = "packets", "net/sched/sch_red.c, red_enqueue (p does not depend on the packet's size)";
            ecn = "false", TC_RED;
            least_backlog = "0", NONE;
            burst = "auto", TC_RED;
            avpkt = "auto", "given to tc by whoever configures it: the link's mean packet";
        },
    },
    Profile {
        name: LINUX,
        discipline: "pie",
        version: "6.12",
        differs: "",
        settings: settings! {
            limit = "1000 packets", PIE;
            target = "15 ms", PIE;
            t_update = "15 ms", PIE;
            alpha = "0.125", "include/net/pie.h, pie_params_init (2/16)";
            beta = "1.25", "include/net/pie.h, pie_params_init (20/16)";
            max_burst = "150 ms", "include/net/pie.h, pie_vars_init";
            ecn = "false", PIE;
            mark_ecnth = "0.1", "net/sched/sch_pie.c, pie_qdisc_enqueue";
            derandomize = "true", "net/sched/sch_pie.c, pie_drop_early";
            bytemode = "false", PIE;
            high_delay = "250 ms", "net/sched/sch_pie.c, pie_calculate_probability";
            decay_when_empty = "true", "net/sched/sch_pie.c, pie_calculate_probability";
        },
    },
    Profile {
        name: LINUX,
        discipline: "sfq",
        version: "6.12",
        differs: "Linux lets at most 127 packets wait in a bucket, and 128 buckets be in use.",
        settings: settings! {
            limit = "127 packets", SFQ;
            buckets = "1024", SFQ;
            quantum = "1514 B", "net/sched/sch_sfq.c, sfq_init (psched_mtu: Ethernet's 1500 and 14)";
            perturb = "0 s", SFQ;
        },
    },
    Profile {
        name: LINUX,
        discipline: "codel",
        version: "6.12",
        differs: "",
        settings: settings! {
            limit = "1000 packets", "net/sched/sch_codel.c, codel_init";
            target = "5 ms", CODEL;
            interval = "100 ms", CODEL;
            mtu = "1514 B", "net/sched/sch_codel.c, codel_init (psched_mtu: Ethernet's 1500 and 14)";
            ecn = "false", CODEL;
            ce_threshold = "0 s", CODEL;
        },
    },
    Profile {
        name: LINUX,
        discipline: "fq-codel",
        version: "6.12",
        differs: "Linux counts the memory of packets (truesize) against memory_limit, not their bytes.",
        settings: settings! {
            limit = "10240 packets", FQ_CODEL;
            flows = "1024", FQ_CODEL;
            quantum = "1514 B", "net/sched/sch_fq_codel.c, fq_codel_init (psched_mtu: Ethernet's 1500 and 14)";
            target = "5 ms", CODEL;
            interval = "100 ms", CODEL;
            mtu = "1514 B", FQ_CODEL;
            ecn = "true", FQ_CODEL;
            ce_threshold = "0 s", CODEL;
            ce_threshold_ect1 = "false", FQ_CODEL;
            drop_batch_size = "64", FQ_CODEL;
            memory_limit = "32 MiB", FQ_CODEL;
        },
    },
    Profile {
        name: LINUX,
        discipline: "dualpi2",
        version: "6.18",
        differs: "Linux marks by the step even where no packet is left behind; its memory_limit is not modelled.",
        settings: settings! {
            limit = "10000 packets", DUALPI2;
            target = "15 ms", DUALPI2;
            tupdate = "16 ms", DUALPI2;
            alpha = "0.16015625", "net/sched/sch_dualpi2.c, dualpi2_reset_default (41/256)";
            beta = "3.19921875", "net/sched/sch_dualpi2.c, dualpi2_reset_default (819/256)";
            coupling = "2", DUALPI2;
            step_threshold = "1 ms", DUALPI2;
            ramp = "0 s", "net/sched/sch_dualpi2.c, do_step_aqm";
            step_backlog = "0 packets", DUALPI2;
            scheduler = "weighted", "net/sched/sch_dualpi2.c, dequeue_packet";
            classic_share = "0.1", DUALPI2;
            time_shift = "30 ms", NONE;
            decide = "random", "net/sched/sch_dualpi2.c, dualpi2_roll";
        },
    },
];

/// Parameters that `tc` computes if another one is given: discipline, computed parameter, given parameter.
const UNLESS: [(&str, &str, &str); 1] = [("red", "max_th", "min_th")];

/// Words that `tc` requires even at their default.
const SAID: [&str; 2] = ["avpkt", "bandwidth"];

impl Profile {
    /// Profile `name` of `discipline`, or an error message.
    ///
    /// # Errors
    /// A message that says what would be right in place of `name`.
    pub fn named(name: &str, discipline: &str) -> Result<&'static Self, String> {
        if !PROFILES.iter().any(|profile| profile.name == name) {
            return Err(format!("unknown profile {name:?}; must be {LINUX:?}"));
        }
        PROFILES.iter().find(|profile| (profile.name, profile.discipline) == (name, discipline)).ok_or_else(|| {
            let known: Vec<_> = PROFILES.iter().filter(|p| p.name == name).map(|p| p.discipline).collect();
            let (last, others) = known.split_last().unwrap_or((&"", &[]));
            format!("{discipline} has no profile {name:?}; {} and {last} have one", others.join(", "))
        })
    }

    /// The size of the buffer in packets, if the source sets it.
    #[must_use]
    pub fn limit(&self) -> Option<u32> {
        let text = self.settings.iter().find(|setting| setting.name == "limit")?.value;
        text.split(' ').next()?.parse().ok()
    }

    /// The parameters, without those that a file gives (`given`) or that are computed from them.
    pub fn parameters<'a>(&'a self, given: &'a [&str]) -> impl Iterator<Item = (&'static str, Value)> + 'a {
        let left = |name: &str| {
            let by = |(discipline, open, other): &(&str, &str, &str)| {
                (*discipline, *open) == (self.discipline, name) && given.contains(other)
            };
            !given.contains(&name) && !UNLESS.iter().any(by)
        };
        let settings = self.settings.iter().filter(move |setting| setting.name != "limit" && left(setting.name));
        settings.map(|setting| (setting.name, setting.value()))
    }

    /// The discipline with these parameters.
    fn spec(&self) -> Option<QueueSpec> {
        let mut spec = QueueSpec::named(self.discipline)?;
        self.parameters(&[]).for_each(|(name, value)| drop(spec.set(name, &value)));
        Some(spec)
    }
}

impl Setting {
    fn value(&self) -> Value {
        match (self.value, self.value.parse()) {
            ("true" | "false", _) => Value::Bool(self.value == "true"),
            (_, Ok(number)) => Value::Number(number),
            (text, Err(_)) => Value::Text(text.into()),
        }
    }
}

/// Arguments `words` for `tc` of a resolved `spec` on `port`, without those equal to Linux's defaults.
pub(crate) fn terse(spec: &QueueSpec, words: &str, port: &Port) -> String {
    let profile = PROFILES.iter().find(|profile| profile.discipline == spec.card().name);
    let plain = profile.and_then(|profile| {
        let mut port = Port { limit: profile.limit().map_or(port.limit, Limit::Packets), ..*port };
        if ["codel", "fq-codel"].contains(&profile.discipline) {
            // On slow links their words for tc raise the target to a packet's service time; Linux itself does not. At
            // an unlimited rate the words have the plain target.
            port.rate = Rate(u64::MAX);
        }
        let mut plain = profile.spec()?;
        plain.resolve(&port).ok()?;
        Some((pairs(&plain.words(&port)?), profile.limit().is_none()))
    });
    let Some((plain, limited_by_hand)) = plain else { return words.to_owned() };
    let mut left = pairs(words);
    let (kind, rest) = (left.remove(0), left);
    // Values that tc computes from other words are right only if those words are left out too.
    let computed = limited_by_hand && !["min", "max"].iter().all(|name| same(&rest, &plain, name));
    let said = rest.into_iter().filter(|pair| {
        let name = pair.split(' ').next().unwrap_or_default();
        let needed = SAID.contains(&name) || (limited_by_hand && name == "limit");
        needed || (computed && ["min", "max", "burst"].contains(&name)) || !plain.contains(pair)
    });
    [kind].into_iter().chain(said).collect::<Vec<_>>().join(" ")
}

fn same(left: &[String], right: &[String], name: &str) -> bool {
    let find = |pairs: &[String]| pairs.iter().find(|pair| pair.split(' ').next() == Some(name)).cloned();
    find(left) == find(right)
}

/// Splits `words` into pairs of a word and its value, which begins with a digit.
fn pairs(words: &str) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match pairs.last_mut() {
            Some(last) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => pairs.push(word.to_owned()),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rate;

    fn port(limit: Limit) -> Port {
        Port::new(limit, Rate(100_000_000), 1500.0)
    }

    #[test]
    fn every_parameter_has_a_value_that_is_read_and_a_source() {
        for profile in PROFILES {
            let mut spec = QueueSpec::named(profile.discipline).unwrap();
            for (name, value) in profile.parameters(&[]) {
                assert_eq!(spec.set(name, &value), Some(Ok(())), "{} {name}", profile.discipline);
            }
            let mut named: Vec<_> = profile.settings.iter().map(|setting| setting.name).collect();
            named.retain(|name| *name != "limit");
            let rows: Vec<_> = spec.rows().iter().map(|row| row.name).collect();
            assert_eq!(named, rows, "{}", profile.discipline);
            assert!(profile.settings.iter().all(|setting| !setting.source.is_empty()));
        }
    }

    #[test]
    fn tc_needs_only_the_name_of_a_queue_with_linuxs_defaults() {
        for profile in PROFILES.iter().filter(|profile| profile.limit().is_some()) {
            let port = port(Limit::Packets(profile.limit().unwrap()));
            let mut spec = profile.spec().unwrap();
            spec.resolve(&port).unwrap();
            let kind = profile.discipline.replace('-', "_");
            assert_eq!(spec.tc(&port).unwrap(), kind);
        }
    }

    #[test]
    fn tc_gets_the_parameters_that_are_not_linuxs_defaults() {
        let port = port(Limit::Packets(100));
        for (discipline, name, value, words) in [
            ("pie", "target", Value::Text("20 ms".into()), "pie limit 100 target 20000us"),
            ("pie", "ecn", Value::Bool(true), "pie limit 100 ecn"),
            ("codel", "interval", Value::Text("30 ms".into()), "codel limit 100 interval 30000us"),
            ("fq-codel", "ecn", Value::Bool(false), "fq_codel limit 100 noecn"),
            ("sfq", "perturb", Value::Text("10 s".into()), "sfq limit 100 perturb 10"),
        ] {
            let mut spec = Profile::named(LINUX, discipline).unwrap().spec().unwrap();
            spec.set(name, &value).unwrap().unwrap();
            spec.resolve(&port).unwrap();
            assert_eq!(spec.tc(&port).unwrap(), words);
        }
    }

    #[test]
    fn red_of_linux_has_the_thresholds_and_the_weight_that_tc_computes() {
        let port = port(Limit::Bytes(base::Bytes(900_000)));
        let with = |given: &[(&'static str, &str)]| {
            let names: Vec<_> = given.iter().map(|entry| entry.0).collect();
            let mut spec = QueueSpec::named("red").unwrap();
            for (name, value) in Profile::named(LINUX, "red").unwrap().parameters(&names) {
                spec.set(name, &value).unwrap().unwrap();
            }
            for (name, value) in given {
                spec.set(name, &Value::Text((*value).into())).unwrap().unwrap();
            }
            spec.resolve(&port).unwrap();
            spec
        };
        let value = |spec: &QueueSpec, name| spec.values().into_iter().find(|entry| entry.0 == name).unwrap().1;
        let plain = with(&[]);
        // tc: max = 900000 / 4 = 225000 B = 150 packets, min = max / 3, burst = (2 min + max) / (3 avpkt) = 375000 / 4500 = 83.
        assert_eq!(value(&plain, "max_th"), Value::Text("150 packets".into()));
        assert_eq!(value(&plain, "min_th"), Value::Text("50 packets".into()));
        assert_eq!(value(&plain, "burst"), Value::Number(83.0));
        // tc_red_eval_ewma: at W = 1/64 (1 - (63/64)^83) / W = 46.7 >= 83 + 1 - 50 = 34; at 1/32 it is 29.7.
        assert_eq!(value(&plain, "w_q"), Value::Number(1.0 / 64.0));
        assert_eq!(plain.tc(&port).unwrap(), "red limit 900000 avpkt 1500 bandwidth 100000000bit");
        // With min alone tc takes three times min as max; with max alone, a third of max as min.
        assert_eq!(value(&with(&[("min_th", "20 packets")]), "max_th"), Value::Text("60 packets".into()));
        let half = with(&[("max_th", "0.5 buffer")]);
        assert_eq!(value(&half, "min_th"), Value::Text("100 packets".into()));
        assert!(half.tc(&port).unwrap().contains(" min 150000 max 450000 avpkt 1500 burst "));
    }

    #[test]
    fn an_unknown_profile_gives_an_error_of_one_line() {
        let says = |name, discipline| Profile::named(name, discipline).unwrap_err();
        assert_eq!(says("windows", "pie"), "unknown profile \"windows\"; must be \"linux\"");
        let known = "red, pie, sfq, codel, fq-codel and dualpi2 have one";
        assert_eq!(says("linux", "drr"), format!("drr has no profile \"linux\"; {known}"));
    }
}
