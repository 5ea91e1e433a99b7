//! Common part of the registered disciplines: their construction, and the enums that dispatch to them.

#[allow(clippy::wildcard_imports, clippy::allow_attributes, reason = "the registry's macro names every module")]
use crate::*;
use base::{Need, ParamError, Registered, Stream, Time, Value};

/// A discipline that scenarios can name. Its behaviour is an [`crate::Admission`] or a [`crate::QueueDiscipline`].
pub trait Rule: Registered + Sized {
    /// Sets the parameters that are left to the discipline (`"auto"`) on this port, so that they can be shown. Amounts are
    /// in packets already.
    ///
    /// # Errors
    /// If the port lacks something that the discipline needs.
    fn resolve(_params: &mut Self::Params, _port: &Port) -> Result<(), ParamError> {
        Ok(())
    }

    /// The signal that the discipline provides to the flows that cross it, from resolved parameters. Laws and keys of
    /// scenario files may need this signal.
    fn gives(_params: &Self::Params) -> Option<Need> {
        None
    }

    /// A discipline for `port`, from resolved parameters; `chance` is its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn new(params: &Self::Params, port: &Port, chance: Stream) -> Result<Self, ParamError>;

    /// Arguments of `tc qdisc replace dev DEV root` (or `parent`) for the same discipline in Linux, from resolved
    /// parameters; `None` if Linux does not have the discipline or this form of it.
    fn tc(_params: &Self::Params, _port: &Port) -> Option<String> {
        None
    }

    /// Probability that an arrival is dropped or marked if the discipline's average backlog is `average` packets, from
    /// resolved parameters; `None` for disciplines without such a curve.
    fn curve(_params: &Self::Params, _average: f64) -> Option<f64> {
        None
    }
}

each_queue! { admissions:
    /// Any of the admission rules.
    pub enum AnyAdmission: admission {}
}

each_queue! { disciplines:
    /// Any of the disciplines.
    pub enum AnyQueue: queue_discipline {
        /// First-in first-out behind an admission rule.
        Fifo(Fifo<AnyAdmission>),
    }
}

impl QueueSpec {
    /// Converts every amount into packets and sets the automatic values. A second call changes nothing.
    ///
    /// # Errors
    /// The first parameter that has no value on `port`.
    pub fn resolve(&mut self, port: &Port) -> Result<(), ParamError> {
        let scale = port.scale();
        // Amounts that the discipline sets are converted as well.
        each_queue!(self, |p, Kind| {
            p.resolve(&scale)?;
            <Kind as Rule>::resolve(p, port)?;
            p.resolve(&scale)?;
        });
        let open = self.values().into_iter().find(|(_, value)| *value == Value::Text("auto".into()));
        open.map_or(Ok(()), |(name, _)| Err(ParamError::new(name, base::amount::FORM)))
    }

    /// The signal that the discipline provides to flows: [`Need::Marks`], [`Need::XcpRouter`] or none. The
    /// specification must be resolved.
    #[must_use]
    pub fn gives(&self) -> Option<Need> {
        each_queue!(self, |p, Kind| <Kind as Rule>::gives(p))
    }

    /// Whether the discipline may manage a buffer in shared memory: it must decide on arrival, and must not depend on
    /// how often its own buffer was full.
    #[must_use]
    pub fn can_share_memory(&self) -> bool {
        let on_arrival = each_queue!(self, |_p, Kind| admissions: true, disciplines: false,);
        on_arrival && !matches!(self, Self::Blue(_))
    }

    /// The discipline for `port`, with its own random stream.
    ///
    /// # Errors
    /// The first parameter out of range.
    pub fn build(&self, port: &Port, chance: Stream) -> Result<AnyQueue, ParamError> {
        let mut resolved = self.clone();
        resolved.resolve(port)?;
        each_queue!(&resolved, |p, Kind|
            admissions: Ok(Fifo::new(AnyAdmission::from(<Kind as Rule>::new(p, port, chance)?)).into()),
            disciplines: Ok(<Kind as Rule>::new(p, port, chance)?.into()),
        )
    }

    /// Arguments of `tc qdisc` for the same discipline on Linux, without defaults. `None` if Linux does not have the
    /// discipline or this form of it, and for a buffer without room for a packet: with `limit 0` Linux drops everything or
    /// uses its default. The specification must be resolved.
    #[must_use]
    pub fn tc(&self, port: &Port) -> Option<String> {
        let has_room = match port.limit {
            Limit::Packets(n) => n > 0,
            Limit::Bytes(n) => n.0 as f64 >= port.packet,
            Limit::Unlimited => true,
        };
        if has_room { Some(profile::terse(self, &self.words(port)?, port)) } else { None }
    }

    /// The discipline and all its parameters in the words of `tc`.
    pub(crate) fn words(&self, port: &Port) -> Option<String> {
        each_queue!(self, |p, Kind| <Kind as Rule>::tc(p, port))
    }

    /// Probability of a drop or mark at an average of `average` packets; `None` for disciplines without such a
    /// curve. The specification must be resolved.
    #[must_use]
    pub fn curve(&self, average: f64) -> Option<f64> {
        each_queue!(self, |p, Kind| <Kind as Rule>::curve(p, average))
    }
}
