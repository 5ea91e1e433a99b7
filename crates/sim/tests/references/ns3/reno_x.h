// What the programs of this folder have in common: Reno without growth by the ACK that ends a recovery.

#pragma once

#include "ns3/tcp-linux-reno.h"

namespace ns3
{

// Reno of RFC 6582: the ACK that ends a recovery deflates the window and does not grow it.
class TcpRenoX : public TcpLinuxReno
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("elephan::TcpRenoX").SetParent<TcpLinuxReno>().AddConstructor<TcpRenoX>();
        return tid;
    }

    TcpRenoX() = default;

    TcpRenoX(const TcpRenoX& other)
        : TcpLinuxReno(other)
    {
    }

    std::string GetName() const override
    {
        return "TcpRenoX";
    }

    void CongestionStateSet(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCongState_t state) override
    {
        m_ends = state == TcpSocketState::CA_OPEN && tcb->m_congState == TcpSocketState::CA_RECOVERY;
    }

    void IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segments) override
    {
        if (!m_ends)
        {
            TcpLinuxReno::IncreaseWindow(tcb, segments);
        }
        m_ends = false;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<TcpRenoX>(this);
    }

  private:
    bool m_ends{false};
};

NS_OBJECT_ENSURE_REGISTERED(TcpRenoX);

} // namespace ns3
