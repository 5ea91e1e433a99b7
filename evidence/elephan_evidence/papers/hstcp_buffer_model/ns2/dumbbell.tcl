# HighSpeed flows with SACK on one bottleneck in ns-2 2.35: the rows of ns2.csv.
# Arguments: rate [bit/s], one-way delay [s], base RTTs [ms, separated by commas], waiting packets, queue ("tail";
# "auto": Adaptive RED with thresholds of ns-2's own; "scaled": 0.4 of the buffer and the buffer), lower bound of its
# max_p, start spread [s], warm-up [s], duration [s], seed, agent (Sack1, Newreno).
# Prints utilization, loss ratio, window cuts per packet, timeouts, mean backlog, then each flow's goodput [Mbit/s].
lassign $argv rate delay rtts waiting queue bottom spread warmup duration seed agent

set ns [new Simulator]
Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ 960
Agent/TCP set useHeaders_ true
Agent/TCP set windowOption_ 8
Agent/TCP set max_ssthresh_ 0
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCP set high_decrease_ 0.1
Agent/TCP set singledup_ 1
Agent/TCP set minrto_ 1
Queue set limit_ 1000000
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set mean_pktsize_ 1000
Queue/RED set gentle_ true
Queue/RED set adaptive_ 1
# 1 - exp(-1/C): a time constant of one second, as its authors have it.
Queue/RED set q_weight_ 0
Queue/RED set bottom_ $bottom
Queue/RED set thresh_ [expr {$queue eq "scaled" ? 0.4 * $waiting : 0}]
Queue/RED set maxthresh_ [expr {$queue eq "scaled" ? $waiting : 0}]

set left [$ns node]
set right [$ns node]
if {$queue eq "tail"} {
    $ns duplex-link $left $right $rate $delay DropTail
    # DropTail keeps at most limit_ - 1 packets waiting.
    $ns queue-limit $left $right [expr $waiting + 1]
} else {
    $ns duplex-link $left $right $rate $delay RED
    $ns queue-limit $left $right $waiting
}
set monitor [$ns monitor-queue $left $right ""]

set random [new RNG]
$random seed $seed
set n 0
foreach rtt [split $rtts ,] {
    set host [$ns node]
    $ns duplex-link $host $left 10e9 [expr $rtt / 2e3 - $delay] DropTail
    set tcp($n) [new Agent/TCP/$agent]
    set sink($n) [new Agent/TCPSink[expr {$agent eq "Sack1" ? "/Sack1" : ""}]]
    $ns attach-agent $host $tcp($n)
    $ns attach-agent $right $sink($n)
    $ns connect $tcp($n) $sink($n)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($n)
    $ns at [$random uniform 0 $spread] "$ftp start"
    incr n
}

proc counts {} {
    global monitor tcp n
    set cuts 0
    set timeouts 0
    set acked {}
    for {set i 0} {$i < $n} {incr i} {
        incr cuts [$tcp($i) set ncwndcuts_]
        incr timeouts [$tcp($i) set nrexmit_]
        lappend acked [$tcp($i) set ack_]
    }
    list [$monitor set pdepartures_] [$monitor set parrivals_] [$monitor set pdrops_] $cuts $timeouts \
        [[$monitor get-pkts-integrator] set sum_] $acked
}

$ns at $warmup { set before [counts] }
$ns at $duration {
    lassign $before served0 arrived0 dropped0 cuts0 timeouts0 sum0 acked0
    lassign [counts] served1 arrived1 dropped1 cuts1 timeouts1 sum1 acked1
    set seconds [expr double($duration - $warmup)]
    set arrived [expr double($arrived1 - $arrived0)]
    set rates {}
    foreach a $acked0 b $acked1 { lappend rates [format %.1f [expr ($b - $a) * 8e-3 / $seconds]] }
    puts [format "%.4f %.3e %.3e %d %.1f %s" [expr ($served1 - $served0) * 8e3 / $seconds / $rate] \
        [expr ($dropped1 - $dropped0) / $arrived] [expr ($cuts1 - $cuts0) / $arrived] \
        [expr $timeouts1 - $timeouts0] [expr ($sum1 - $sum0) / $seconds] [join $rates ,]]
    exit 0
}
$ns run
