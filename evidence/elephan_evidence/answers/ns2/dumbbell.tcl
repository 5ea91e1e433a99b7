# Two groups of flows over a link, or over up to three in a row, in ns-2 2.35, with its port of Linux's congestion controls (Agent/TCP/Linux).
#
# Arguments are key=value:
#   law, law2        congestion control of each group: reno, highspeed, scalable, htcp, bic, cubic, ...; "sack" and "newreno"
#                    (Reno's law), "hs-sack" and "hs-newreno" (HighSpeed's), "scalable-sack" (Scalable's), "aimd-sack" (1.5
#                    segments each round trip, 3/4 kept) are ns-2's own agents Sack1 and Newreno
#   n, n2            flows of each group; back: flows of the first law in the other direction
#   links            links in a row, of equal rate and buffer: the first group passes all, the second has n2 flows on each
#   rtt, rtt2        round-trip times [ms], lowest,highest: evenly spaced
#   start, start2    times of start [s], earliest,latest: a draw for each flow
#   jitter           greatest delay of a sender before what an ACK lets it send [us]: flows of equal round-trip times without it
#                    have phases that stay (Floyd and Jacobson 1991)
#   rate             rate of the link [Mbit/s]; buffer of both directions [packets that wait, without the one in service]
#   min_th, max_th   thresholds of RED [packets] (gentle, max_p 0.1); drop-tail without them
#   ared             1 for thresholds that RED adapts itself (Floyd, Gummadi and Shenker 2001), with a target of 5 ms as elephan
#   cbr              rate of a stream of packets of 200 bytes [Mbit/s]; poisson: rate of Poisson packets as large as the others'
#   packet           size of packets [bytes]; window: receive window [packets]
#   loss             share of packets lost at random beyond the link
#   delayed          share of packets delayed beyond the link, and by how much [ms]: 0.25,10
#   policer          rate and burst of a token bucket that drops what exceeds it [Mbit/s, kB]: 100,125
#   duration, warmup [s]; seed, the number of a substream
#   beta             factor of CUBIC's and BIC's window after a loss [1/1024]; CUBIC of Linux 2.6.22 has 819, later ones 717.
#                    The slope of CUBIC's Reno-friendly window stays that of 819: it is computed when ns-2 starts (tcp_cubic.c,
#                    cubictcp_register, beta_scale), which matters where windows are small
# The quantities are those of the first link, but for idlest, the smallest utilization of all.
# Prints on stderr the utilization of the link, the mean time in its queue [s], its loss ratio, and the mean goodput of a flow of each
# group [bit/s], headers included, measured from the warm-up on.
array set o {law cubic law2 cubic n 10 n2 0 back 0 rtt 90,110 rtt2 90,110 start 0,10 start2 0,10 rate 1000 buffer 833
             min_th 0 max_th 0 beta 0 duration 100 warmup 40 seed 1 jitter 0 links 1 ared 0 cbr 0 poisson 0 packet 1500
             window 1000000 loss 0 delayed 0 policer 0}
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

Agent/TCP set window_ $o(window)
# Headers have 40 bytes, and timestamps ten.
Agent/TCP set packetSize_ [expr {$o(packet) - 50}]
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
Queue/RED set mean_pktsize_ $o(packet)
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ true
Queue/RED set setbit_ false
Queue/RED set thresh_ $o(min_th)
Queue/RED set maxthresh_ $o(max_th)
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002

set kind [expr {$o(policer) != 0 ? "dsRED/edge" : $o(min_th) > 0 || $o(ared) ? "RED" : "DropTail"}]
if {$o(ared)} {
    foreach {name number} {adaptive_ 1 targetdelay_ 0.005 thresh_ 0 maxthresh_ 0 q_weight_ 0} { Queue/RED set $name $number }
}
set nodes [list [$ns node]]
for {set i 0} {$i < $o(links)} {incr i} {
    set from [lindex $nodes end]
    set to [$ns node]
    lappend nodes $to
    $ns simplex-link $from $to $o(rate)Mb 0.1ms $kind
    $ns simplex-link $to $from $o(rate)Mb 0.1ms DropTail
    # Drop-tail of this limit keeps one packet less waiting (drop-tail.cc, enque); RED does not.
    $ns queue-limit $from $to [expr {$o(buffer) + ($kind eq "DropTail")}]
    $ns queue-limit $to $from [expr {$o(buffer) + 1}]
    lappend monitors [$ns monitor-queue $from $to ""]
}
set left [lindex $nodes 0]
set right [lindex $nodes end]
set monitor [lindex $monitors 0]

# An error model of which each packet's fate is a draw.
proc drawn {rate seed} {
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $rate
    set own [new RNG]
    for {set i 0} {$i < 1000 * $seed + $::o(seed)} {incr i} { $own next-substream }
    set draw [new RandomVariable/Uniform]
    $draw use-rng $own
    $model ranvar $draw
    return $model
}
if {$o(loss) > 0} {
    set model [drawn $o(loss) 1]
    $ns link-lossmodel $model $left $right
    # Or the monitor of the queue would count them.
    $model drop-target [new Agent/Null]
}
if {$o(delayed) != 0} {
    lassign [split $o(delayed) ,] share late
    set model [drawn $share 2]
    $model set delay_pkt_ true
    $model set drop_ false
    $model set delay_ [expr {$late * 1e-3}]
    $ns link-lossmodel $model $left $right
}

# Receivers acknowledge each segment: windows grow by ACKs there, and by the segments that they acknowledge in Linux today.
# A flow has a link of its own at its sender, ten times as fast, with half of the round trip less the link's on each way.
proc flow {law rtt start from to {passed 1}} {
    global ns o
    set host [$ns node]
    set delay [expr {($rtt / 2 - 0.1 * $passed)}]
    $ns duplex-link $host $from [expr {$o(rate) * 10}]Mb ${delay}ms DropTail
    $ns queue-limit $host $from 1000000
    $ns queue-limit $from $host 1000000
    array set own {sack {Sack1 1} newreno {Newreno 1} hs-sack {Sack1 8} hs-newreno {Newreno 8}
                   scalable-sack {Sack1 6} aimd-sack {Sack1 1}}
    if {[info exists own($law)]} {
        lassign $own($law) agent option
        set tcp [new Agent/TCP/$agent]
        $tcp set windowOption_ $option
        # Binomial control with k = -1, l = 1 is Scalable: one segment for 50 ACKs, 1/8 off.
        if {$option == 6} {
            foreach {name number} {k_parameter_ -1 l_parameter_ 1 increase_num_ 0.02 decrease_num_ 0.875} { $tcp set $name $number }
        }
        if {$law eq "aimd-sack"} {
            $tcp set increase_num_ 1.5
            $tcp set decrease_num_ 0.75
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
set group {}
for {set i 0} {$i < $o(n)} {incr i} {
    lappend group [flow $o(law) [spaced $o(rtt) $i $o(n)] [between $o(start)] $left $right $o(links)]
}
lappend groups $group
set group {}
foreach from [lrange $nodes 0 end-1] to [lrange $nodes 1 end] {
    for {set i 0} {$i < $o(n2)} {incr i} {
        lappend group [flow $o(law2) [spaced $o(rtt2) $i $o(n2)] [between $o(start2)] $from $to]
    }
}
lappend groups $group
for {set i 0} {$i < $o(back)} {incr i} {
    flow $o(law) [spaced $o(rtt) $i $o(back)] [between $o(start)] $right $left
}

# A stream of datagrams through the first link: equal gaps, or exponential ones.
proc datagrams {rate size kind} {
    global ns o left right
    set host [$ns node]
    $ns duplex-link $host $left [expr {$o(rate) * 10}]Mb 20ms DropTail
    set udp [new Agent/UDP]
    $udp set packetSize_ $size
    set null [new Agent/Null]
    $ns attach-agent $host $udp
    $ns attach-agent $right $null
    $ns connect $udp $null
    set source [new Application/Traffic/$kind]
    $source set packetSize_ $size
    if {$kind eq "CBR"} {
        $source set rate_ ${rate}Mb
    } else {
        # Bursts of one packet: the rate within one is as good as infinite.
        $source set burst_time_ 0
        $source set rate_ 1e12
        $source set idle_time_ [expr {$size * 8 / ($rate * 1e6)}]
    }
    $source attach-agent $udp
    $ns at 0 "$source start"
}
if {$o(cbr) > 0} { datagrams $o(cbr) 200 CBR }
if {$o(poisson) > 0} { datagrams $o(poisson) $o(packet) Exponential }

if {$o(policer) != 0} {
    lassign [split $o(policer) ,] rate burst
    set queue [[$ns link $left $right] queue]
    $queue meanPktSize $o(packet)
    $queue set numQueues_ 1
    $queue setNumPrec 2
    # Precedence 0 waits in the whole buffer, precedence 1 nowhere.
    $queue setMREDMode DROP 0
    $queue addPolicyEntry [expr {[$right id] + 1}] [$right id] TokenBucket 10 [expr {$rate * 1e6}] [expr {$burst * 1e3}]
    $queue addPolicerEntry TokenBucket 10 11
    $queue addPHBEntry 10 0 0
    $queue addPHBEntry 11 0 1
    $queue configQ 0 0 $o(buffer) $o(buffer) 1
    $queue configQ 0 1 -1 -1 1
}

proc acked {group} {
    set sum 0
    foreach tcp $group { incr sum [expr {int([$tcp set ack_])}] }
    return $sum
}
set integral [$monitor get-bytes-integrator]
# Bytes have 32 bits there: they are added up in short steps.
set step [expr {$o(rate) > 10000 ? 0.1 : 1}]
foreach each $monitors { set bytes($each) 0.0; set last($each) 0 }
proc count_bytes {} {
    global ns monitors bytes last step
    foreach each $monitors {
        set now [expr {int([$each set bdepartures_])}]
        set bytes($each) [expr {$bytes($each) + (($now - $last($each)) & 0xffffffff)}]
        set last($each) $now
    }
    $ns at [expr {[$ns now] + $step}] count_bytes
}
proc departed {} {
    global monitors bytes last
    foreach each $monitors {
        lappend found [expr {$bytes($each) + ((int([$each set bdepartures_]) - $last($each)) & 0xffffffff)}]
    }
    return $found
}
proc counts {} {
    global ns monitor groups integral
    set now [list [lindex [departed] 0]]
    foreach name {parrivals_ pdrops_} { lappend now [$monitor set $name] }
    $integral newpoint [$ns now] [$monitor set size_]
    lappend now [$integral set sum_]
    foreach group $groups { lappend now [acked $group] }
    return $now
}
proc begin {} {
    set ::before [counts]
    set ::departed [departed]
}
proc finish {} {
    global o groups
    set moved {}
    foreach was $::before now [counts] { lappend moved [expr {double($now) - $was}] }
    lassign $moved bytes arrived dropped waited first second
    set time [expr {$o(duration) - $o(warmup)}]
    set line [format "utilization %.5f delay %.4e loss %.3e" [expr {$bytes * 8 / ($o(rate) * 1e6 * $time)}] \
        [expr {$waited / $bytes}] [expr {$dropped / $arrived}]]
    foreach was $::departed now [departed] { lappend used [expr {($now - $was) * 8 / ($o(rate) * 1e6 * $time)}] }
    append line [format " idlest %.5f" [lindex [lsort -real $used] 0]]
    foreach name {goodput goodput2} group $groups segments [list $first $second] {
        if {[llength $group]} {
            append line [format " %s %.5e" $name [expr {$segments * $o(packet) * 8 / $time / [llength $group]}]]
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
