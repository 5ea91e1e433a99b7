//! The laws there are here, with the version of the crate that each comes from.
//!
//! Source: none.

use crate::inside::{ElephanFactory, UnpacedFactory};
use crate::network::{Epoch, Flow};
use crate::script::{self, DATAGRAM, MOST_SEGMENTS, Scripted};
use crate::simulate::{Choice, Outcome, as_it_is, in_elephan, simulate};
use crate::stack::Setup;
use crate::{noq, quinn, s2n};
use law::{CongestionControl, Either};
use scenario::{Group, Scenario};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The versions that were compiled.
const LOCK: &str = include_str!("../Cargo.lock");

/// A law of this adapter.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The stack whose connection it runs in, and the controller's name there.
    pub name: &'static str,
    /// Title in words.
    pub title: &'static str,
    /// The crate that it comes from.
    pub package: &'static str,
    /// Specification it follows, by its own documentation.
    pub source: &'static str,
    /// Differences from what the crate's own users get.
    pub differs: &'static str,
}

const IN_THE_CLEAR: &str = "The handshake is in the clear, the size of datagrams is given.";

/// All laws.
pub const LAWS: &[Law] = &[
    Law {
        name: "quinn/cubic",
        title: "CUBIC of quinn, in its connection",
        package: "quinn-proto",
        source: "RFC 8312",
        differs: IN_THE_CLEAR,
    },
    Law {
        name: "quinn/reno",
        title: "NewReno of quinn, in its connection",
        package: "quinn-proto",
        source: "RFC 9002",
        differs: IN_THE_CLEAR,
    },
    Law {
        name: "quinn/bbr",
        title: "BBR of quinn (experimental), in its connection",
        package: "quinn-proto",
        source: "BBR version 1, after quiche of Google",
        differs: "The handshake is in the clear. It draws its phase from the system: runs of several flows differ.",
    },
    Law {
        name: "noq/cubic",
        title: "CUBIC of noq, in its connection",
        package: "noq-proto",
        source: "RFC 8312",
        differs: IN_THE_CLEAR,
    },
    Law {
        name: "noq/reno",
        title: "NewReno of noq, in its connection",
        package: "noq-proto",
        source: "RFC 9002",
        differs: IN_THE_CLEAR,
    },
    Law {
        name: "noq/bbr",
        title: "BBR version 3 of noq, in its connection",
        package: "noq-proto",
        source: "draft-ietf-ccwg-bbr-05",
        differs: "The handshake is in the clear. It draws when to probe from the system: runs differ.",
    },
    Law {
        name: "noq/elephan",
        title: "The scenario's own window law, in noq's connection",
        package: "noq-proto",
        source: "elephan",
        differs: "For laws that need no delivery rates.",
    },
    Law {
        name: "elephan",
        title: "The scenario as it is, in elephan's sender",
        package: "elephan-quic",
        source: "elephan",
        differs: "",
    },
    Law {
        name: "s2n/cubic",
        title: "CUBIC of s2n-quic, in elephan's sender",
        package: "s2n-quic-core",
        source: "RFC 8312, with hybrid slow start",
        differs: "What left is reported with the next ACK; a timeout is persistent congestion.",
    },
    Law {
        name: "s2n/bbr",
        title: "BBR version 2 of s2n-quic, in elephan's sender",
        package: "s2n-quic-core",
        source: "draft-cardwell-iccrg-bbr-congestion-control-02",
        differs: "What left is reported with the next ACK; a timeout is persistent congestion.",
    },
];

impl Law {
    /// The law of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        LAWS.iter().find(|law| law.name == name)
    }

    /// The version of its crate.
    #[must_use]
    pub fn version(&self) -> &'static str {
        version(self.package)
    }

    /// Runs one replication of `scenario` with it.
    ///
    /// # Errors
    /// One line: the place, and what would be right.
    pub fn run(&self, scenario: &Scenario, replication: u32, choice: &Choice) -> Result<Outcome, String> {
        let (stack, controller) = self.name.split_once('/').unwrap_or((self.name, ""));
        match (stack, controller) {
            ("quinn", _) if choice.unpaced => {
                Err("--unpaced: the pace of quinn cannot be switched off; noq's can".into())
            }
            ("quinn", _) => {
                simulate(scenario, replication, choice, |setup, epoch, _| quinn_flow(setup, epoch, controller))
            }
            ("noq", "elephan") => {
                let fits = |group: &Group| {
                    let built = group.control.law.build(&group.control.slow_start, 10.0, f64::INFINITY);
                    built.is_ok_and(|control| !control.needs().deliveries)
                };
                if let Some(i) = scenario.groups.iter().position(|group| !fits(group)) {
                    return Err(format!(
                        "flows[{i}].control: must be a law that needs no delivery rates, such as cubic"
                    ));
                }
                simulate(scenario, replication, choice, |setup, epoch, group| {
                    let (law, start) = (&group.control.law, &group.control.slow_start);
                    // The initial window of RFC 9002, Section 7.2.
                    let control = law.build(start, 10.0, f64::INFINITY).expect("checked when the scenario was read");
                    noq::flow(setup, epoch, paced(choice, Arc::new(ElephanFactory { control, epoch })))
                })
            }
            ("noq", _) => simulate(scenario, replication, choice, |setup, epoch, _| {
                let factory = noq::controller(controller).expect("in the list");
                noq::flow(setup, epoch, paced(choice, factory))
            }),
            _ if *choice != Choice::default() => {
                Err(format!("--law: {} runs in elephan's sender, where `tcp` of the scenario says the rest", self.name))
            }
            ("elephan", _) => as_it_is(scenario, replication),
            (_, name) => in_elephan(scenario, replication, |datagram, stream| match name {
                "cubic" => Either::First(s2n::Cubic::cubic(datagram, stream)),
                _ => Either::Second(s2n::Bbr::bbr(datagram, stream)),
            }),
        }
    }

    /// A sender that a script drives; `None` for a law that needs a scenario.
    #[must_use]
    pub fn scripted(&self) -> Option<Box<dyn Scripted>> {
        let (stack, controller) = self.name.split_once('/')?;
        let setup = Setup {
            datagram: DATAGRAM,
            offload: Choice::default().offload,
            ack_every: None,
            send_window: u64::from(MOST_SEGMENTS) * u64::from(DATAGRAM),
            streams: Some(MOST_SEGMENTS),
            stream: (1, 0, 0),
        };
        match stack {
            "quinn" => Some(quinn::scripted(&setup, Epoch::new(), quinn::controller(controller)?)),
            "noq" => Some(noq::scripted(&setup, Epoch::new(), Arc::new(UnpacedFactory(noq::controller(controller)?)))),
            _ => Some(script::s2n(controller)),
        }
    }

    /// Card in the form of `elephan list laws`.
    #[must_use]
    pub fn card(&self) -> Json {
        let Self { name, title, package, source, differs } = self;
        json!({
            "name": name,
            "title": title,
            "package": package,
            "version": self.version(),
            "source": source,
            "differs": differs,
        })
    }
}

fn quinn_flow(setup: &Setup, epoch: Epoch, controller: &str) -> Box<dyn Flow> {
    quinn::flow(setup, epoch, quinn::controller(controller).expect("in the list"))
}

type NoqFactory = Arc<dyn noq_proto::congestion::ControllerFactory + Send + Sync>;

fn paced(choice: &Choice, factory: NoqFactory) -> NoqFactory {
    if choice.unpaced { Arc::new(UnpacedFactory(factory)) } else { factory }
}

/// The version of a crate that was compiled.
#[must_use]
pub fn version(package: &str) -> &'static str {
    let head = format!("name = \"{package}\"\nversion = \"");
    LOCK.split(&head).nth(1).and_then(|rest| rest.split('"').next()).expect("in the lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_manifest() {
        let manifest = include_str!("../Cargo.toml");
        for package in ["quinn-proto", "noq-proto", "s2n-quic-core"] {
            assert!(
                manifest
                    .lines()
                    .any(|line| line.starts_with(package) && line.contains(&format!("\"={}\"", version(package))))
            );
        }
    }
}
