// Reno's senders of ns-2 before July 2003, as a module for ns-2 2.35 ("Agent/TCP/EraReno").
//
// Source: ns-2's change log of 28 July 2003 (exitFastRetrans_). Since then a sender remembers that it has left fast recovery, and
// with bugFix_ a second loss of the same window waits for the timer; before, it was retransmitted fast, with a cut of its own.
#include "tcp.h"

class EraReno : public virtual RenoTcpAgent {
  public:
	virtual void dupack_action()
	{
		if (last_cwnd_action_ == CWND_ACTION_EXITED)
			last_cwnd_action_ = CWND_ACTION_DUPACK;
		RenoTcpAgent::dupack_action();
	}
};

static class EraRenoClass : public TclClass {
  public:
	EraRenoClass() : TclClass("Agent/TCP/EraReno") {}
	TclObject *create(int, const char *const *) { return new EraReno(); }
} era_reno;

extern "C" int Era_Init(Tcl_Interp *) { return 0; }
