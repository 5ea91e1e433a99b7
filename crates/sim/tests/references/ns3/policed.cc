// Bulk TCP flows through ns-3's token bucket with a queue of one packet: what the numbers of ns3_policed.rs were made with.
//
//   g++ -O1 -std=c++17 policed.cc -o policed -Wl,--allow-shlib-undefined -lns3-core -lns3-network -lns3-internet
//   (and -lns3-point-to-point -lns3-applications -lns3-traffic-control)
//   ./policed --flows=1 --mbps=20 --burst=60000 --law=X --seed=1
//
// Prints one line of JSON, all of it between warm-up and end: what passes [Mbit/s, with IP headers], share of packets dropped,
// recoveries and timeouts of all flows.
// Laws: X (TcpLinuxReno, but the ACK that ends a recovery does not grow the window), cubic (TcpCubic).

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
    uint64_t dropped{0}, passed{0}, bytes{0};
    uint64_t recoveries{0}, timeouts{0};

    bool On() const
    {
        return Simulator::Now().GetSeconds() >= from;
    }

    void Passed(Ptr<const QueueDiscItem> item)
    {
        passed += On();
        bytes += On() ? item->GetSize() : 0;
    }

    void Dropped(Ptr<const QueueDiscItem>)
    {
        dropped += On();
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
    uint32_t flows = 1, seed = 1, burst = 60000, depth = 1;
    double mbps = 20, link = 100, rttFrom = 40, rttTo = 40, until = 130, warmup = 10;
    std::string law = "X";
    CommandLine cmd;
    cmd.AddValue("flows", "senders", flows);
    cmd.AddValue("mbps", "rate of the tokens [Mbit/s]", mbps);
    cmd.AddValue("burst", "of the bucket [bytes]", burst);
    cmd.AddValue("depth", "packets that may wait for tokens", depth);
    cmd.AddValue("link", "rate of the link [Mbit/s]", link);
    cmd.AddValue("rttFrom", "shortest round-trip time [ms]", rttFrom);
    cmd.AddValue("rttTo", "longest round-trip time [ms]", rttTo);
    cmd.AddValue("law", "X or cubic", law);
    cmd.AddValue("seed", "of the starts", seed);
    cmd.AddValue("until", "end [s]", until);
    cmd.AddValue("warmup", "not counted [s]", warmup);
    cmd.Parse(argc, argv);

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);
    TcpRenoX::GetTypeId();
    const std::string type = law == "cubic" ? "ns3::TcpCubic" : "elephan::TcpRenoX";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName(type)));
    const uint32_t payload = 1460;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 24));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    NodeContainer routers, hosts;
    routers.Create(2);
    hosts.Create(flows);
    InternetStackHelper internet;
    internet.Install(routers);
    internet.Install(hosts);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    TrafficControlHelper none, bucket;
    bucket.SetRootQueueDisc("ns3::TbfQueueDisc",
                            "MaxSize",
                            QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, depth)),
                            "Burst",
                            UintegerValue(burst),
                            "Rate",
                            DataRateValue(DataRate(uint64_t(mbps * 1e6))));

    Meter meter;
    meter.from = warmup;
    auto join = [&](Ptr<Node> a, Ptr<Node> b, double rate, double ms, bool policed) {
        PointToPointHelper helper;
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate * 1e6))));
        helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(uint64_t(ms * 1e6))));
        auto devices = helper.Install(a, b);
        if (policed)
        {
            // Both queues of the device hold more than ever waits there: the link is faster than the tokens.
            auto disc = bucket.Install(devices.Get(0)).Get(0);
            disc->TraceConnectWithoutContext("Dequeue", MakeCallback(&Meter::Passed, &meter));
            disc->TraceConnectWithoutContext("Drop", MakeCallback(&Meter::Dropped, &meter));
        }
        auto assigned = addresses.Assign(devices);
        none.Uninstall(policed ? NetDeviceContainer(devices.Get(1)) : devices);
        addresses.NewNetwork();
        return assigned;
    };

    // Half of the shortest way is the policed link's.
    const double delay = rttFrom / 4;
    const auto sinkAddress = join(routers.Get(0), routers.Get(1), link, delay, true).GetAddress(1);
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double share = flows > 1 ? double(i) / (flows - 1) : 0.5;
        join(hosts.Get(i), routers.Get(0), 1000, (rttFrom + share * (rttTo - rttFrom)) / 2 - delay, false);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    auto starts = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; ++i)
    {
        const uint16_t port = 5000 + i;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(routers.Get(1)).Start(Seconds(0));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(sinkAddress, port));
        source.SetAttribute("MaxBytes", UintegerValue(0));
        source.SetAttribute("SendSize", UintegerValue(payload));
        const double start = starts->GetValue(0, 1);
        source.Install(hosts.Get(i)).Start(Seconds(start));
        Simulator::Schedule(Seconds(start) + NanoSeconds(1), &Watch, hosts.Get(i), &meter);
    }
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    std::cout << "{\"flows\": " << flows << ", \"mbps\": " << mbps << ", \"burst\": " << burst << ", \"law\": \"" << law
              << "\", \"seed\": " << seed << ", \"passed_mbps\": " << meter.bytes * 8e-6 / (until - warmup)
              << ", \"loss\": " << double(meter.dropped) / (meter.dropped + meter.passed)
              << ", \"recoveries\": " << meter.recoveries << ", \"timeouts\": " << meter.timeouts << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
