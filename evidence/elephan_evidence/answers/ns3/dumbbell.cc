// Two groups of flows, transfers or pages, and a stream of datagrams over one link, in ns-3 3.37.
//
// Arguments are key=value; `options` below lists them with their defaults. Prints on stdout one line of names and values,
// measured from the warm-up on: utilization of the link, mean time in its queue [s], its loss ratio, mean goodput of a flow of
// each group [bit/s, headers included], 95th percentile of the waiting times of the stream's datagrams [s], and mean and 95th
// percentile of the times of transfers or pages [s].
//
// Hosts have links of their own at the sender, `access` times as fast as the link, with half of the round trip less the link's
// on each way. Packets have `packet` bytes with all headers: two of the link layer, 20 of IP, 32 of TCP with timestamps.
// Differs from Linux: no offload, no RACK, no tail loss probe, and CUBIC of ns-3 3.37 has no Reno-friendly window.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

using namespace ns3;

namespace {

std::map<std::string, std::string> options = {
    // Congestion control of each group: reno, cubic, bbr; whether CUBIC has HyStart,
    // and the delay at which that leaves slow start [ms], or 0 for that of ns-3, a whole round-trip time (Linux: an eighth).
    {"law", "cubic"}, {"law2", "cubic"}, {"hystart", "1"}, {"hystart_delay", "0"},
    // Flows of each group, their round-trip times [ms] (lowest,highest: evenly spaced), and their times of start [s]
    // (earliest,latest: drawn).
    {"n", "2"}, {"n2", "0"}, {"rtt", "90,110"}, {"rtt2", "90,110"}, {"start", "0,5"}, {"start2", "0,5"},
    // Rate of the link and of the one back [Mbit/s], 0 for the same; rate of hosts, in rates of the link.
    {"rate", "100"}, {"back_rate", "0"}, {"access", "10"},
    // Queue: drop-tail, pie, codel, fq-codel (targets and intervals of the RFCs).
    // Whether waiting times count the device's place behind the discipline, in which one packet waits.
    {"queue", "drop-tail"}, {"device", "1"},
    // Buffer of the link and of the one back [packets that wait, without the one in service].
    {"buffer", "833"}, {"back_buffer", "100000"},
    // Rate of a stream of packets of 200 bytes [Mbit/s].
    {"cbr", "0"},
    // Transfers that open at random: their mean rate [Mbit/s, headers included], their mean size [bytes, exponential].
    {"transfers", "0"}, {"size", "5e6"}, {"transfers_rtt", "80"},
    // Users who open pages of ten objects (Pareto, shape 1.5) of 12 kB (Pareto, 1.2) 1 ms apart over six connections, and read
    // for `think` seconds (Pareto, shape 2); pages come over the link, or over the one back.
    {"pages", "0"}, {"pages_rtt", "20,80"}, {"pages_start", "0,10"}, {"think", "5"}, {"pages_back", "0"},
    // Size of packets and of the send buffer, which is full [bytes]; segments for an ACK.
    {"packet", "1500"}, {"window", "6e6"}, {"delayed_ack", "2"},
    {"duration", "60"}, {"warmup", "20"}, {"seed", "1"},
};

constexpr double kLinkDelay = 0.1e-3; // one way [s]
constexpr uint32_t kHeaders = 54;     // of a data packet [bytes]

double Number(const std::string& name) { return std::stod(options.at(name)); }

std::pair<double, double> Range(const std::string& name) {
    const std::string& text = options.at(name);
    const auto comma = text.find(',');
    const double low = std::stod(text);
    return {low, comma == std::string::npos ? low : std::stod(text.substr(comma + 1))};
}

double Spaced(const std::string& name, uint32_t i, uint32_t n) {
    const auto [low, high] = Range(name);
    return n == 1 ? 0.5 * (low + high) : low + (high - low) * i / (n - 1);
}

Ptr<UniformRandomVariable> chance;

// Strictly between 0 and 1.
double Uniform() { return std::max(chance->GetValue(), 1e-12); }

double Between(const std::string& name) {
    const auto [low, high] = Range(name);
    return low + (high - low) * Uniform();
}

double Exponential(double mean) { return -mean * std::log(Uniform()); }

double Pareto(double mean, double shape) { return mean * (shape - 1) / shape * std::pow(Uniform(), -1 / shape); }

uint32_t payload; // of a segment [bytes]
Time warmup;

bool IsMeasured() { return Simulator::Now() >= warmup; }

[[noreturn]] void Refuse(const std::string& what) {
    std::cerr << "unknown " << what << "\n";
    std::exit(2);
}

double Percentile(std::vector<double> values, double share) {
    const auto nth = static_cast<size_t>(share * (values.size() - 1) + 0.5);
    std::nth_element(values.begin(), values.begin() + nth, values.end());
    return values[nth];
}

double Mean(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) { sum += value; }
    return sum / values.size();
}

// What leaves the link, and how long it waited for that: in the discipline, and in the one place of the device behind it.
class Meter {
  public:
    void Dequeued(Ptr<const QueueDiscItem> item) {
        const auto ip = DynamicCast<const Ipv4QueueDiscItem>(item);
        m_device.push_back({item->GetTimeStamp(), Simulator::Now(), ip && ip->GetHeader().GetProtocol() == 17});
    }

    void DroppedAfterDequeue(Ptr<const QueueDiscItem>, const char*) { m_device.pop_back(); }

    void Transmitted(Ptr<const Packet> packet) {
        const auto [since, dequeued, is_datagram] = m_device.front();
        m_device.pop_front();
        if (!IsMeasured()) { return; }
        const double wait = ((m_with_device ? Simulator::Now() : dequeued) - since).GetSeconds();
        m_bytes += packet->GetSize();
        m_packets += 1;
        m_waited += wait;
        if (is_datagram) { m_datagrams.push_back(wait); }
    }

    void Begin(Ptr<QueueDisc> queue) {
        m_arrived = queue->GetStats().nTotalReceivedPackets;
        m_dropped = queue->GetStats().nTotalDroppedPackets;
    }

    void Print(Ptr<QueueDisc> queue) const {
        const double time = Number("duration") - Number("warmup");
        const auto& stats = queue->GetStats();
        std::cout << "utilization " << m_bytes * 8 / (Number("rate") * 1e6 * time) << " delay " << m_waited / m_packets
                  << " loss "
                  << double(stats.nTotalDroppedPackets - m_dropped) / (stats.nTotalReceivedPackets - m_arrived);
        if (!m_datagrams.empty()) { std::cout << " wait95 " << Percentile(m_datagrams, 0.95); }
    }

  private:
    std::deque<std::tuple<Time, Time, bool>> m_device;
    const bool m_with_device = Number("device") != 0;
    double m_bytes = 0;
    double m_packets = 0;
    double m_waited = 0;
    double m_arrived = 0;
    double m_dropped = 0;
    std::vector<double> m_datagrams;
};

// A transfer: what its sender is still to write, what its receiver still lacks, and since when it has all.
struct Transfer {
    double unwritten = 0;
    double missing = 0;
    std::function<void(Time)> done;
    Time arrived;
};

// Connections from one host to another under one law. Handshakes take place ahead, so that no transfer waits for its own.
class Source {
  public:
    Source(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, const std::string& law)
        : m_from(from),
          m_peer(address, s_port++),
          m_law(Law(law)) {
        m_listener = to->GetObject<TcpL4Protocol>()->CreateSocket(m_law);
        m_listener->Bind(m_peer);
        m_listener->Listen();
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Source::Accept, this));
    }

    void Prepare(uint32_t connections) {
        for (uint32_t i = 0; i < connections; i++) {
            Ptr<Socket> socket = m_from->GetObject<TcpL4Protocol>()->CreateSocket(m_law);
            socket->Bind();
            socket->SetConnectCallback(MakeCallback(&Source::Connected, this), MakeNullCallback<void, Ptr<Socket>>());
            socket->SetSendCallback(MakeCallback(&Source::Write, this));
            socket->Connect(m_peer);
        }
    }

    // Opens a transfer; it waits if no connection is ready. When its sender knows that all has arrived, `done` gets the time at
    // which that was so.
    void Open(double bytes, std::function<void(Time)> done) {
        m_waiting.push_back({bytes, done});
        Assign();
    }

    void OpenEndless() {
        Prepare(1);
        Open(std::numeric_limits<double>::infinity(), [](Time) {});
    }

    // Payload that has arrived in the measured time.
    double Received() const { return m_received; }

  private:
    void Connected(Ptr<Socket> socket) {
        m_ready.push_back(socket);
        Assign();
    }

    void Assign() {
        while (!m_ready.empty() && !m_waiting.empty()) {
            const auto [bytes, done] = m_waiting.front();
            m_waiting.pop_front();
            Ptr<Socket> socket = m_ready.front();
            m_ready.pop_front();
            Address own;
            socket->GetSockName(own);
            auto transfer = std::make_shared<Transfer>(Transfer{bytes, bytes, done, Time()});
            m_by_port[InetSocketAddress::ConvertFrom(own).GetPort()] = transfer;
            m_by_socket[socket] = transfer;
            Write(socket, socket->GetTxAvailable());
            if (std::isfinite(bytes)) { Prepare(1); }
        }
    }

    void Write(Ptr<Socket> socket, uint32_t room) {
        const auto found = m_by_socket.find(socket);
        if (found == m_by_socket.end()) { return; }
        const auto transfer = found->second;
        if (transfer->unwritten <= 0) {
            if (room >= m_room && transfer->missing <= 0) {
                m_by_socket.erase(found);
                socket->Close();
                transfer->done(transfer->arrived);
            }
            return;
        }
        while (transfer->unwritten > 0) {
            // Whole segments: others would be split and joined again.
            const auto bytes = static_cast<uint32_t>(std::min<double>(payload, transfer->unwritten));
            if (socket->GetTxAvailable() < bytes || socket->Send(Create<Packet>(bytes)) < 0) { return; }
            transfer->unwritten -= bytes;
        }
    }

    void Accept(Ptr<Socket> socket, const Address& from) {
        m_port_of[socket] = InetSocketAddress::ConvertFrom(from).GetPort();
        socket->SetRecvCallback(MakeCallback(&Source::Read, this));
        socket->SetCloseCallbacks(MakeCallback(&Source::CloseToo, this), MakeNullCallback<void, Ptr<Socket>>());
    }

    void CloseToo(Ptr<Socket> socket) { socket->Close(); }

    void Read(Ptr<Socket> socket) {
        while (Ptr<Packet> packet = socket->Recv()) {
            if (packet->GetSize() == 0) { return; }
            m_received += IsMeasured() ? packet->GetSize() : 0;
            const auto port = m_port_of.find(socket);
            Transfer& transfer = *m_by_port.at(port->second);
            transfer.missing -= packet->GetSize();
            if (transfer.missing <= 0) {
                transfer.arrived = Simulator::Now();
                m_by_port.erase(port->second);
                m_port_of.erase(port);
                return;
            }
        }
    }

    static TypeId Law(const std::string& name) {
        const std::map<std::string, std::string> laws = {
            {"reno", "ns3::TcpLinuxReno"},
            {"cubic", "ns3::TcpCubic"},
            {"bbr", "ns3::TcpBbr"},
        };
        const auto found = laws.find(name);
        if (found == laws.end()) { Refuse("law " + name); }
        return TypeId::LookupByName(found->second);
    }

    static inline uint16_t s_port = 5000;

    Ptr<Node> m_from;
    InetSocketAddress m_peer;
    TypeId m_law;
    Ptr<Socket> m_listener;
    std::deque<Ptr<Socket>> m_ready;
    std::deque<std::pair<double, std::function<void(Time)>>> m_waiting;
    std::map<uint16_t, std::shared_ptr<Transfer>> m_by_port;
    std::map<Ptr<Socket>, std::shared_ptr<Transfer>> m_by_socket;
    std::map<Ptr<Socket>, uint16_t> m_port_of;
    double m_received = 0;
    const uint32_t m_room = uint32_t(Number("window"));
};

std::vector<double> times; // of the transfers or pages that opened and ended in the measured time [s]

void Finished(Time opened, Time arrived) {
    if (opened >= warmup) { times.push_back((arrived - opened).GetSeconds()); }
}

double WholeSegments(double bytes) { return std::ceil(bytes / payload) * payload; }

void OpenTransfer(Source* source) {
    const Time opened = Simulator::Now();
    source->Open(WholeSegments(Exponential(Number("size"))), [opened](Time arrived) { Finished(opened, arrived); });
    const double size = Number("size") * Number("packet") / payload;
    Simulator::Schedule(Seconds(Exponential(size * 8 / (Number("transfers") * 1e6))), OpenTransfer, source);
}

// A user who opens one page after the other.
class User {
  public:
    explicit User(Source* source) : m_source(source) {}

    void OpenPage() {
        m_opened = Simulator::Now();
        m_left = m_to_come = static_cast<uint32_t>(std::min(std::ceil(Pareto(10, 1.5)), 1e6));
        Come();
    }

  private:
    void Come() {
        m_come += 1;
        m_to_come -= 1;
        Request();
        if (m_to_come > 0) { Simulator::Schedule(MilliSeconds(1), &User::Come, this); }
    }

    void Request() {
        while (m_come > 0 && m_open < 6) {
            m_come -= 1;
            m_open += 1;
            m_source->Open(WholeSegments(Pareto(12e3, 1.2)), [this](Time arrived) { Arrived(arrived); });
        }
    }

    void Arrived(Time arrived) {
        m_last = std::max(m_last, arrived);
        m_open -= 1;
        m_left -= 1;
        Request();
        if (m_left == 0) {
            Finished(m_opened, m_last);
            Simulator::Schedule(Seconds(Pareto(Number("think"), 2)), &User::OpenPage, this);
        }
    }

    Source* m_source;
    Time m_opened, m_last;
    uint32_t m_left = 0;
    uint32_t m_to_come = 0;
    uint32_t m_come = 0;
    uint32_t m_open = 0;
};

// The network: two routers, the link between them, and hosts at either.
class Network {
  public:
    Network() {
        m_stack.SetIpv6StackInstall(false);
        m_stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
        left = Host();
        right = Host();
        PointToPointHelper link;
        link.SetChannelAttribute("Delay", TimeValue(Seconds(kLinkDelay)));
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(Number("rate") * 1e6))));
        // One place, since the discipline is above the device, which takes one packet ahead.
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
        const NetDeviceContainer devices = link.Install(left, right);
        auto back = DynamicCast<PointToPointNetDevice>(devices.Get(1));
        const double back_rate = Number("back_rate") > 0 ? Number("back_rate") : Number("rate");
        back->SetDataRate(DataRate(uint64_t(back_rate * 1e6)));
        back->GetQueue()->SetMaxSize(QueueSize(options.at("back_buffer") + "p"));
        const uint32_t forth = Address(devices.Get(0), "172.16.0.1");
        const uint32_t home = Address(devices.Get(1), "172.16.0.2");
        Routing(left)->SetDefaultRoute("172.16.0.2", forth);
        Routing(right)->SetDefaultRoute("172.16.0.1", home);
        queue = Discipline().Install(devices.Get(0)).Get(0);
        queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Meter::Dequeued, &meter));
        queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Meter::DroppedAfterDequeue, &meter));
        devices.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Meter::Transmitted, &meter));
    }

    // A host at the left router, so that the whole path has this round-trip time [ms]; returns its address, too.
    std::pair<Ptr<Node>, Ipv4Address> At(double rtt) {
        Ptr<Node> host = Host();
        PointToPointHelper access;
        access.SetChannelAttribute("Delay", TimeValue(Seconds(std::max(rtt * 0.5e-3 - kLinkDelay, 0.0))));
        access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(Number("rate") * Number("access") * 1e6))));
        access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        const NetDeviceContainer devices = access.Install(host, left);
        const Ipv4Address own(0x0a000002 + 4 * m_hosts);
        const Ipv4Address router(0x0a000001 + 4 * m_hosts);
        m_hosts += 1;
        Routing(host)->SetDefaultRoute(router, Address(devices.Get(0), own));
        Address(devices.Get(1), router);
        return {host, own};
    }

    Ptr<Node> left, right;
    Ptr<QueueDisc> queue;
    Meter meter;

  private:
    Ptr<Node> Host() {
        Ptr<Node> node = CreateObject<Node>();
        m_stack.Install(node);
        return node;
    }

    // By hand: the helper would install a discipline of its own.
    static uint32_t Address(Ptr<NetDevice> device, Ipv4Address address) {
        Ptr<Ipv4> ipv4 = device->GetNode()->GetObject<Ipv4>();
        const uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, "255.255.255.252"));
        ipv4->SetUp(interface);
        return interface;
    }

    static uint32_t Address(Ptr<NetDevice> device, const char* address) {
        return Address(device, Ipv4Address(address));
    }

    static Ptr<Ipv4StaticRouting> Routing(Ptr<Node> node) {
        return Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
    }

    static TrafficControlHelper Discipline() {
        const std::map<std::string, std::string> kinds = {
            {"drop-tail", "ns3::FifoQueueDisc"},
            {"pie", "ns3::PieQueueDisc"},
            {"codel", "ns3::CoDelQueueDisc"},
            {"fq-codel", "ns3::FqCoDelQueueDisc"},
        };
        const auto found = kinds.find(options.at("queue"));
        if (found == kinds.end()) { Refuse("queue " + options.at("queue")); }
        // The packet in the device's place waits, too.
        const QueueSizeValue room(QueueSize(std::to_string(uint32_t(Number("buffer")) - 1) + "p"));
        TrafficControlHelper helper;
        helper.SetRootQueueDisc(found->second, "MaxSize", room);
        return helper;
    }

    InternetStackHelper m_stack;
    uint32_t m_hosts = 0;
};

void SendDatagram(Ptr<Socket> socket, Time gap) {
    socket->Send(Create<Packet>(200 - 30)); // two bytes of the link layer, 28 of IP and UDP
    Simulator::Schedule(gap, SendDatagram, socket, gap);
}

void SetDefaults() {
    Config::SetDefault("ns3::PieQueueDisc::MaxBurstAllowance", TimeValue(MilliSeconds(150)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    // The receive window never limits: in a recovery ns-3 3.37 sends beyond it, and stops with a fault. The send buffer does.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(uint32_t(4 * Number("window"))));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(uint32_t(Number("window"))));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(uint32_t(Number("delayed_ack"))));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    // A connection is never given up.
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
    // Ends of connections are not kept: the tables of a host are searched from end to end for each packet.
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.1));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(Number("hystart") != 0));
    if (Number("hystart_delay") > 0) {
        // The round-trip time is held between these two.
        const TimeValue delay(Seconds(Number("hystart_delay") * 1e-3));
        Config::SetDefault("ns3::TcpCubic::HyStartDelayMin", delay);
        Config::SetDefault("ns3::TcpCubic::HyStartDelayMax", delay);
    }
    // Rates of BBR are not limited.
    Config::SetDefault("ns3::TcpSocketState::MaxPacingRate", DataRateValue(DataRate("400Gb/s")));
}

} // namespace

int main(int count, char** words) {
    for (int i = 1; i < count; i++) {
        const std::string word = words[i];
        const auto sign = word.find('=');
        const auto found = options.find(word.substr(0, sign));
        if (sign == std::string::npos || found == options.end()) { Refuse("key " + word.substr(0, sign)); }
        found->second = word.substr(sign + 1);
    }
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(uint64_t(Number("seed")));
    chance = CreateObject<UniformRandomVariable>();
    payload = uint32_t(Number("packet")) - kHeaders;
    warmup = Seconds(Number("warmup"));
    SetDefaults();
    Network network;

    std::vector<std::unique_ptr<Source>> sources;
    const Ipv4Address far("172.16.0.2");
    std::vector<std::vector<Source*>> groups;
    for (const std::string suffix : {"", "2"}) {
        groups.emplace_back();
        const auto n = uint32_t(Number("n" + suffix));
        for (uint32_t i = 0; i < n; i++) {
            const auto host = network.At(Spaced("rtt" + suffix, i, n)).first;
            sources.push_back(std::make_unique<Source>(host, network.right, far, options.at("law" + suffix)));
            groups.back().push_back(sources.back().get());
            Simulator::Schedule(Seconds(Between("start" + suffix)), &Source::OpenEndless, sources.back().get());
        }
    }
    if (Number("transfers") > 0) {
        const auto host = network.At(Spaced("transfers_rtt", 0, 1)).first;
        sources.push_back(std::make_unique<Source>(host, network.right, far, options.at("law")));
        Simulator::Schedule(Seconds(0), &Source::Prepare, sources.back().get(), 20);
        Simulator::Schedule(Seconds(1), OpenTransfer, sources.back().get());
    }
    std::vector<std::unique_ptr<User>> users;
    const auto n = uint32_t(Number("pages"));
    for (uint32_t i = 0; i < n; i++) {
        const auto [host, own] = network.At(Spaced("pages_rtt", i, n));
        const bool is_back = Number("pages_back") != 0;
        sources.push_back(is_back ? std::make_unique<Source>(network.right, host, own, options.at("law"))
                                  : std::make_unique<Source>(host, network.right, far, options.at("law")));
        users.push_back(std::make_unique<User>(sources.back().get()));
        // Twice the connections, so that one is always ready.
        const double start = Between("pages_start");
        Simulator::Schedule(Seconds(start), &Source::Prepare, sources.back().get(), 12);
        Simulator::Schedule(Seconds(start + 0.5), &User::OpenPage, users.back().get());
    }
    Ptr<Socket> stream;
    if (Number("cbr") > 0) {
        stream = Socket::CreateSocket(network.At(50).first, UdpSocketFactory::GetTypeId());
        stream->Connect(InetSocketAddress(far, 9));
        const Time gap = Seconds(200 * 8 / (Number("cbr") * 1e6));
        Simulator::Schedule(gap * Uniform(), SendDatagram, stream, gap);
    }

    Simulator::Schedule(Seconds(Number("warmup")), &Meter::Begin, &network.meter, network.queue);
    Simulator::Stop(Seconds(Number("duration")));
    Simulator::Run();

    const double time = Number("duration") - Number("warmup");
    network.meter.Print(network.queue);
    const char* names[] = {" goodput ", " goodput2 "};
    for (size_t g = 0; g < groups.size(); g++) {
        double received = 0;
        for (const Source* source : groups[g]) { received += source->Received(); }
        if (!groups[g].empty()) {
            std::cout << names[g] << received * 8 * Number("packet") / payload / time / groups[g].size();
        }
    }
    if (!times.empty()) { std::cout << " time " << Mean(times) << " time95 " << Percentile(times, 0.95); }
    std::cout << std::endl;
    // Tearing the network down would take longer than it is worth.
    std::_Exit(0);
}
