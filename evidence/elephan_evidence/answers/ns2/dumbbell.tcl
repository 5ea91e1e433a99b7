# Two groups of flows over one link in ns-2 2.35, with its port of Linux's congestion controls (Agent/TCP/Linux).
#
# Arguments are key=value:
#   law, law2        congestion control of each group: reno, highspeed, scalable, htcp, bic, cubic, ...; "sack" and "newreno"
#                    (Reno's law), "hs-sack" and "hs-newreno" (HighSpeed's), "scalable-sack" (Scalable's) are ns-2's own
#                    agents Sack1 and Newreno
#   n, n2            flows of each group; back: flows of the first law in the other direction
#   rtt, rtt2        round-trip times [ms], lowest,highest: evenly spaced
#   start, start2    times of start [s], earliest,latest: a draw for each flow
#   jitter           greatest delay of a sender before what an ACK lets it send [us]: flows of equal round-trip times without it
#                    have phases that stay (Floyd and Jacobson 1991)
#   rate             rate of the link [Mbit/s]; buffer of both directions [packets that wait, without the one in service]
#   min_th, max_th   thresholds of RED [packets] (gentle, max_p 0.1); drop-tail without them
#   duration, warmup [s]; seed, the number of a substream
#   beta             factor of CUBIC's and BIC's window after a loss [1/1024]; CUBIC of Linux 2.6.22 has 819, later ones 717.
#                    The slope of CUBIC's Reno-friendly window stays that of 819: it is computed when ns-2 starts (tcp_cubic.c,
#                    cubictcp_register, beta_scale), which matters where windows are small
# Prints on stderr the utilization of the link, the mean time in its queue [s], its loss ratio, and the mean goodput of a flow of each
# group [bit/s], headers included, measured from the warm-up on.
array set o {law cubic law2 cubic n 10 n2 0 back 0 rtt 90,110 rtt2 90,110 start 0,10 start2 0,10 rate 1000 buffer 833
             min_th 0 max_th 0 beta 0 duration 100 warmup 40 seed 1 jitter 0}
foreach arg $argv {
    lassign [split $arg =] key value
    if {![info exists o($key)]} { puts stderr "unknown key \"$key\""; exit 2 }
    set o($key) $value
}

set ns [new Simulator]
ns-random $o(seed)
# Generators with the seeds 1, 2, 3 give nearly the same first numbers; substreams are independent.
set random [new RNG]
for {set i 0} {$i < $o(seed)} {incr i} { $random next-substream }
proc between {range} {
    lassign [split $range ,] low high
    return [$::random uniform $low [expr {$high eq "" ? $low + 1e-9 : $high}]]
}
# Round-trip time of flow i of n.
proc spaced {range i n} {
    lassign [split $range ,] low high
    return [expr {$high eq "" || $n == 1 ? double($low) : $low + ($high - double($low)) * $i / ($n - 1)}]
}

Agent/TCP set window_ 1000000
# Headers have 40 bytes, and timestamps ten: a packet has 1500.
Agent/TCP set packetSize_ 1450
Agent/TCP set useHeaders_ true
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP set timestamps_ true
Agent/TCP set singledup_ 1
Agent/TCP set overhead_ [expr {$o(jitter) * 1e-6}]
Agent/TCP set partial_ack_ 1
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCPSink set ts_echo_rfc1323_ true
Queue/RED set bytes_ false
Queue/RED set mean_pktsize_ 1500
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ true
Queue/RED set setbit_ false
Queue/RED set thresh_ $o(min_th)
Queue/RED set maxthresh_ $o(max_th)
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002

set left [$ns node]
set right [$ns node]
set kind [expr {$o(min_th) > 0 ? "RED" : "DropTail"}]
$ns simplex-link $left $right $o(rate)Mb 0.1ms $kind
$ns simplex-link $right $left $o(rate)Mb 0.1ms DropTail
# Drop-tail of this limit keeps one packet less waiting (drop-tail.cc, enque); RED does not.
$ns queue-limit $left $right [expr {$o(buffer) + ($kind eq "DropTail")}]
$ns queue-limit $right $left [expr {$o(buffer) + 1}]
set monitor [$ns monitor-queue $left $right ""]

# Receivers acknowledge each segment: windows grow by ACKs there, and by the segments that they acknowledge in Linux today.
# A flow has a link of its own at its sender, ten times as fast, with half of the round trip less the link's on each way.
proc flow {law rtt start from to} {
    global ns o
    set host [$ns node]
    set delay [expr {($rtt / 2 - 0.1)}]
    $ns duplex-link $host $from [expr {$o(rate) * 10}]Mb ${delay}ms DropTail
    $ns queue-limit $host $from 1000000
    $ns queue-limit $from $host 1000000
    array set own {sack {Sack1 1} newreno {Newreno 1} hs-sack {Sack1 8} hs-newreno {Newreno 8}
                   scalable-sack {Sack1 6}}
    if {[info exists own($law)]} {
        lassign $own($law) agent option
        set tcp [new Agent/TCP/$agent]
        $tcp set windowOption_ $option
        # Binomial control with k = -1, l = 1 is Scalable: one segment for 50 ACKs, 1/8 off.
        if {$option == 6} {
            foreach {name number} {k_parameter_ -1 l_parameter_ 1 increase_num_ 0.02 decrease_num_ 0.875} { $tcp set $name $number }
        }
        set sink [expr {$agent eq "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    } else {
        set tcp [new Agent/TCP/Linux]
        set sink [new Agent/TCPSink/Sack1]
        $ns at 0 "$tcp select_ca $law"
        if {$o(beta)} { $ns at 0 "$tcp set_ca_param $law beta $o(beta)" }
    }
    $ns attach-agent $host $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    return $tcp
}

set groups {}
foreach {suffix law n} [list "" $o(law) $o(n) 2 $o(law2) $o(n2)] {
    set group {}
    for {set i 0} {$i < $n} {incr i} {
        lappend group [flow $law [spaced $o(rtt$suffix) $i $n] [between $o(start$suffix)] $left $right]
    }
    lappend groups $group
}
for {set i 0} {$i < $o(back)} {incr i} {
    flow $o(law) [spaced $o(rtt) $i $o(back)] [between $o(start)] $right $left
}

proc acked {group} {
    set sum 0
    foreach tcp $group { incr sum [expr {int([$tcp set ack_])}] }
    return $sum
}
set integral [$monitor get-bytes-integrator]
# Bytes have 32 bits there: they are added up second by second.
set bytes 0.0
set last 0
proc count_bytes {} {
    global ns monitor bytes last
    set now [$monitor set bdepartures_]
    set bytes [expr {$bytes + (($now - $last) & 0xffffffff)}]
    set last $now
    $ns at [expr {[$ns now] + 1}] count_bytes
}
proc counts {} {
    global ns monitor groups integral bytes last
    set now [list [expr {$bytes + (([$monitor set bdepartures_] - $last) & 0xffffffff)}]]
    foreach name {parrivals_ pdrops_} { lappend now [$monitor set $name] }
    $integral newpoint [$ns now] [$monitor set size_]
    lappend now [$integral set sum_]
    foreach group $groups { lappend now [acked $group] }
    return $now
}
proc begin {} { set ::before [counts] }
proc finish {} {
    global o groups
    set moved {}
    foreach was $::before now [counts] { lappend moved [expr {double($now) - $was}] }
    lassign $moved bytes arrived dropped waited first second
    set time [expr {$o(duration) - $o(warmup)}]
    set line [format "utilization %.5f delay %.4e loss %.3e" [expr {$bytes * 8 / ($o(rate) * 1e6 * $time)}] \
        [expr {$waited / $bytes}] [expr {$dropped / $arrived}]]
    foreach name {goodput goodput2} group $groups segments [list $first $second] {
        if {[llength $group]} {
            append line [format " %s %.5e" $name [expr {$segments * 1500 * 8 / $time / [llength $group]}]]
        }
    }
    # ns-2 itself prints on stdout, in another buffer.
    puts stderr $line
    exit 0
}
count_bytes
$ns at $o(warmup) begin
$ns at $o(duration) finish
$ns run
