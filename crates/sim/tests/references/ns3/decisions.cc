// One bulk TCP flow that fills a link in ns-3, with a callback at each decision: what any environment in ns-3 needs at the least,
// without an agent, a socket or shared memory. What docs/guide/learning-agents.md says of ns-3 was measured with it.
//
//   g++ -O2 -std=c++17 decisions.cc -o decisions -Wl,--allow-shlib-undefined -lns3-core -lns3-network -lns3-internet
//   (and -lns3-point-to-point -lns3-applications)
//   ./decisions --mbps=1000 --rtt=100 --every=10 --sack=1
//
// Prints one line of JSON: decisions and segments from the third second on, and the seconds of processor that they took. Two nodes and one link,
// whose queue is that of the sender's device: no router, no trace. The window is one bandwidth-delay product.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>

using namespace ns3;

namespace
{

uint64_t decisions = 0;
uint64_t received = 0;

void Decide(Time every)
{
    decisions++;
    Simulator::Schedule(every, &Decide, every);
}

void Receive(Ptr<const Packet> packet, const Address&)
{
    received += packet->GetSize();
}

double Processor()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

double processor = 0.0;
uint64_t before = 0;

void Begin()
{
    processor = Processor();
    before = received;
    decisions = 0;
}

} // namespace

int main(int argc, char* argv[])
{
    double mbps = 1000, rtt = 100, every = 10, from = 2, until = 4;
    bool sack = true;
    CommandLine cmd(__FILE__);
    cmd.AddValue("mbps", "rate of the link", mbps);
    cmd.AddValue("rtt", "round-trip time without queues [ms]", rtt);
    cmd.AddValue("every", "time between decisions [ms]", every);
    cmd.AddValue("from", "from when on it is counted [s]", from);
    cmd.AddValue("until", "end [s]", until);
    cmd.AddValue("sack", "selective acknowledgements", sack);
    cmd.Parse(argc, argv);
    const uint32_t mss = 1448;
    const double window = mbps * 1e6 * rtt / 1e3 / 8;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(uint32_t(2 * window)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(uint32_t(window * mss / 1500)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(100));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("100000p"));
    NodeContainer nodes;
    nodes.Create(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(mbps * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(uint64_t(rtt * 500))));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper internet;
    internet.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer receiver = sink.Install(nodes.Get(1));
    receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Receive));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    bulk.SetAttribute("SendSize", UintegerValue(mss));
    bulk.Install(nodes.Get(0));
    Simulator::Schedule(Seconds(0), &Decide, MicroSeconds(uint64_t(every * 1000)));
    Simulator::Schedule(Seconds(from), &Begin);
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    const double taken = Processor() - processor;
    std::cout << "{\"decisions\": " << decisions << ", \"segments\": " << (received - before) / mss << ", \"processor_s\": " << taken
              << ", \"decisions_per_s\": " << decisions / taken << "}\n";
    Simulator::Destroy();
    return 0;
}
