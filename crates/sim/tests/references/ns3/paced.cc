// Bulk TCP flows over one drop-tail link in ns-3, paced or not: what the numbers of ns3_paced.rs were made with.
//
//   g++ -O1 -std=c++17 paced.cc -o paced -Wl,--allow-shlib-undefined -lns3-core -lns3-network -lns3-internet
//   (and -lns3-point-to-point -lns3-applications -lns3-traffic-control)
//   ./paced --flows=5 --mbps=40 --rttFrom=30 --rttTo=50 --buffer=10 --until=50 --warmup=10 --law=X --paced=1 --seed=1
//
// Prints one line of JSON, all of it between warm-up and end: utilization (bytes on the wire), waiting by Little's law [ms], share
// of packets lost, recoveries and timeouts of all flows, most packets waiting.
// Laws: reno (TcpLinuxReno), X (the same, but the ACK that ends a recovery does not grow the window), cubic (TcpCubic).

#include "reno_x.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

namespace
{

// Counts from the end of the warm-up on.
struct Meter
{
    double from{0.0};
    uint64_t arrived{0}, dropped{0}, sent{0}, bytes{0}, most{0};
    uint64_t recoveries{0}, timeouts{0};
    double area{0.0}, last{0.0};
    uint32_t waiting{0};

    bool On() const
    {
        return Simulator::Now().GetSeconds() >= from;
    }

    void Waiting(uint32_t, uint32_t now)
    {
        const double at = Simulator::Now().GetSeconds();
        if (at > from)
        {
            area += waiting * (at - std::max(last, from));
        }
        last = at;
        waiting = now;
        if (On())
        {
            most = std::max<uint64_t>(most, now);
        }
    }

    void Enqueued(Ptr<const Packet>)
    {
        arrived += On();
    }

    void Dropped(Ptr<const Packet>)
    {
        arrived += On();
        dropped += On();
    }

    void Sent(Ptr<const Packet> p)
    {
        if (On())
        {
            ++sent;
            bytes += p->GetSize();
        }
    }

    void State(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
    {
        recoveries += On() && now == TcpSocketState::CA_RECOVERY;
        timeouts += On() && now == TcpSocketState::CA_LOSS;
    }
};

void
Watch(Ptr<Node> node, Meter* meter)
{
    // A sender has one socket, made when its application starts.
    auto sockets = node->GetObject<TcpL4Protocol>();
    ObjectMapValue list;
    sockets->GetAttribute("SocketList", list);
    for (auto it = list.Begin(); it != list.End(); ++it)
    {
        it->second->TraceConnectWithoutContext("CongState", MakeCallback(&Meter::State, meter));
    }
}

} // namespace

int
main(int argc, char** argv)
{
    uint32_t flows = 1, buffer = 33, seed = 1, delack = 1;
    double mbps = 40, rttFrom = 40, rttTo = 40, until = 75, warmup = 15, access = 1000, startTo = 1;
    bool paced = false;
    std::string law = "reno";
    CommandLine cmd;
    cmd.AddValue("flows", "senders", flows);
    cmd.AddValue("mbps", "rate of the link [Mbit/s]", mbps);
    cmd.AddValue("access", "rate of the access links [Mbit/s]", access);
    cmd.AddValue("rttFrom", "shortest round-trip time [ms]", rttFrom);
    cmd.AddValue("rttTo", "longest round-trip time [ms]", rttTo);
    cmd.AddValue("buffer", "packets that may wait", buffer);
    cmd.AddValue("law", "reno, X or cubic", law);
    cmd.AddValue("paced", "whether senders pace", paced);
    cmd.AddValue("delack", "segments for an ACK", delack);
    cmd.AddValue("seed", "of the starts", seed);
    cmd.AddValue("until", "end [s]", until);
    cmd.AddValue("warmup", "not counted [s]", warmup);
    cmd.AddValue("startTo", "flows start within [s]", startTo);
    cmd.Parse(argc, argv);

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    const std::string type = law == "X" ? "elephan::TcpRenoX" : law == "cubic" ? "ns3::TcpCubic" : "ns3::TcpLinuxReno";
    TcpRenoX::GetTypeId();
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(type)));
    const uint32_t payload = 1460;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delack));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(paced));
    Config::SetDefault("ns3::TcpSocketState::PacingSsRatio", UintegerValue(200));
    Config::SetDefault("ns3::TcpSocketState::PacingCaRatio", UintegerValue(120));
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate("100Gbps")));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    NodeContainer routers, hosts;
    routers.Create(2);
    hosts.Create(flows);
    InternetStackHelper internet;
    internet.Install(routers);
    internet.Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    TrafficControlHelper control;

    auto join = [&](Ptr<Node> a, Ptr<Node> b, double rate, double ms, uint32_t there, uint32_t back) {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
        link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(uint64_t(ms * 1e6))));
        auto devices = link.Install(a, b);
        const uint32_t sizes[] = {there, back};
        for (uint32_t i = 0; i < 2; ++i)
        {
            auto device = DynamicCast<PointToPointNetDevice>(devices.Get(i));
            device->SetQueue(CreateObjectWithAttributes<DropTailQueue<Packet>>(
                "MaxSize",
                QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, sizes[i]))));
        }
        auto assigned = addresses.Assign(devices);
        control.Uninstall(devices);
        addresses.NewNetwork();
        return std::make_pair(devices, assigned);
    };

    // Half of the shortest way is the bottleneck's.
    const double delay = rttFrom / 4;
    auto bottleneck = join(routers.Get(0), routers.Get(1), mbps, delay, buffer, 1000000);
    const auto sinkAddress = bottleneck.second.GetAddress(1);
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double share = flows > 1 ? double(i) / (flows - 1) : 0.5;
        const double rtt = rttFrom + share * (rttTo - rttFrom);
        join(hosts.Get(i), routers.Get(0), access, rtt / 2 - delay, 1000000, 1000000);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Meter meter;
    meter.from = warmup;
    auto device = DynamicCast<PointToPointNetDevice>(bottleneck.first.Get(0));
    auto queue = device->GetQueue();
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Meter::Waiting, &meter));
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Meter::Enqueued, &meter));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&Meter::Dropped, &meter));
    device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Meter::Sent, &meter));

    auto starts = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint16_t port = 5000 + i;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(routers.Get(1)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinkAddress, port));
        source.SetAttribute("MaxBytes", UintegerValue(0));
        source.SetAttribute("SendSize", UintegerValue(payload));
        const double start = starts->GetValue(0, startTo);
        source.Install(hosts.Get(i)).Start(Seconds(start));
        Simulator::Schedule(Seconds(start) + NanoSeconds(1), &Watch, hosts.Get(i), &meter);
    }
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    meter.Waiting(0, meter.waiting);
    const double span = until - warmup;
    std::cout << "{\"flows\": " << flows << ", \"mbps\": " << mbps << ", \"buffer\": " << buffer << ", \"law\": \"" << law
              << "\", \"paced\": " << paced << ", \"seed\": " << seed << ", \"utilization\": "
              << meter.bytes * 8.0 / (span * mbps * 1e6) << ", \"delay_ms\": " << 1e3 * meter.area / meter.sent
              << ", \"loss\": " << double(meter.dropped) / meter.arrived << ", \"recoveries\": " << meter.recoveries
              << ", \"timeouts\": " << meter.timeouts << ", \"most\": " << meter.most << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
