# Permanent flows beside 25 Mbit/s of Poisson background on 50 Mbit/s for ns-2 2.35, first come first served or DRR.
# Arguments: queue (DropTail or DRR), agent (Newreno or Sack1), windowOption_ (1 Reno, 8 HighSpeed), flows, buffer [packets],
# seed, duration [s], measured from [s], start of one more flow [s] (0: none).
# Prints goodput, utilization, what the background lost, packets that the permanent flows and the background lost at the link
# (the one more of neither), window reductions, and the share of common reductions.
lassign $argv queue agent option n buffer seed duration from later

set ns [new Simulator]
Agent/TCP set window_ 100000
Agent/TCP set packetSize_ 960
Agent/TCP set useHeaders_ true
Agent/TCP set overhead_ 0.00016
Agent/TCP set minrto_ 1
Agent/TCP set windowOption_ $option
Agent/TCP set max_ssthresh_ 0
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCP set high_decrease_ 0.1
Queue set limit_ 1000000
# Bytes, each source a flow: its node is what DRR tells flows apart by.
Queue/DRR set buckets_ 1024
Queue/DRR set quantum_ 1000
Queue/DRR set blimit_ [expr $buffer * 1000]
Queue/DRR set mask_ 0
set random [new RNG]
$random seed $seed

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right 50Mb 40ms $queue
$ns simplex-link $right $left 50Mb 40ms DropTail
# DropTail keeps at most limit_ - 1 packets waiting.
if {$queue eq "DropTail"} { $ns queue-limit $left $right [expr $buffer + 1] }
set monitor [$ns monitor-queue $left $right ""]
set drops [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $left $right] $drops

# DRR's hash takes nodes 16 k - 1 and 16 k for one.
proc host {} {
    global ns
    set node [$ns node]
    while {[$node id] % 16 == 0} { set node [$ns node] }
    return $node
}
proc permanent {i at} {
    global ns agent left right tcp sink
    set host [host]
    $ns duplex-link $host $left 1Gb 10ms DropTail
    set tcp($i) [new Agent/TCP/$agent]
    set sink($i) [new Agent/TCPSink[expr {$agent eq "Sack1" ? "/Sack1" : ""}]]
    $tcp($i) set fid_ $i
    $ns attach-agent $host $tcp($i)
    $ns attach-agent $right $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at $at "$ftp start"
}
for {set i 0} {$i < $n} {incr i} { permanent $i [expr 2 * $i + [$random uniform 0 0.1]] }
if {$later > 0} { permanent $n $later }

for {set i 0} {$i < 50} {incr i} {
    set host [host]
    $ns duplex-link $host $left 1Gb 10ms DropTail
    set udp [new Agent/UDP]
    $udp set packetSize_ 1000
    $udp set fid_ [expr 1000 + $i]
    set lost($i) [new Agent/LossMonitor]
    $ns attach-agent $host $udp
    $ns attach-agent $right $lost($i)
    $ns connect $udp $lost($i)
    # A burst of one packet: what is exponential is the time between them.
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ 1000
    $source set burst_time_ 0
    $source set idle_time_ 0.016
    $source set rate_ 100Gb
    $source use-rng $random
    $source attach-agent $udp
    $ns at [$random uniform 0 0.1] "$source start"
}

# A cut is a window that has fallen by a quarter or more within 200 ms; two in neighbouring samples are one epoch.
set epochs {}
proc watch {} {
    global ns n tcp last epochs quiet from
    set now [$ns now]
    for {set i 0} {$i < $n} {incr i} {
        set cwnd [$tcp($i) set cwnd_]
        if {[info exists last($i)] && $cwnd < 0.75 * $last($i) && $now >= $from && $now > $quiet($i)} {
            lappend epochs [list $now $i]
            set quiet($i) [expr $now + 0.45]
        }
        if {![info exists quiet($i)]} { set quiet($i) 0 }
        set last($i) $cwnd
    }
    $ns at [expr $now + 0.2] watch
}
$ns at 0.2 watch

proc counters {} {
    global n tcp sink lost monitor drops
    set got {}
    set cuts 0
    for {set i 0} {$i < $n} {incr i} {
        lappend got [expr [$tcp($i) set ack_] * 1000.0]
        incr cuts [$tcp($i) set ncwndcuts_]
    }
    set gaps {}
    for {set i 0} {$i < 50} {incr i} { lappend gaps [$lost($i) set nlost_] }
    set old 0
    set background 0
    foreach flow [$drops flows] {
        if {[$flow set flowid_] < $n} { incr old [$flow set pdrops_] }
        if {[$flow set flowid_] >= 1000} { incr background [$flow set pdrops_] }
    }
    return [list $got $cuts $gaps [$monitor set pdepartures_] $old $background]
}
$ns at $from { set first [counters] }
$ns at $duration {
    set second [counters]
    set span [expr $duration - $from]
    set rates {}
    foreach a [lindex $first 0] b [lindex $second 0] { lappend rates [format %.2f [expr ($b - $a) * 8e-6 / $span]] }
    set gaps 0
    set hit 0
    foreach a [lindex $first 2] b [lindex $second 2] { incr gaps [expr $b - $a]; incr hit [expr $b > $a] }
    set groups 0
    set common 0
    set before -10
    set size 0
    foreach epoch [lsort -real -index 0 $epochs] {
        set at [lindex $epoch 0]
        if {$at - $before > 0.3} { incr groups; set size 1 } else { incr size; if {$size == 2} { incr common } }
        set before $at
    }
    puts "$argv | Mbit/s $rates | utilization [format %.4f [expr ([lindex $second 3] - [lindex $first 3]) * 8000.0 / 50e6 / $span]]\
 | background lost $gaps of $hit flows\
 | dropped [expr [lindex $second 4] - [lindex $first 4]] and [expr [lindex $second 5] - [lindex $first 5]] | cuts [expr [lindex $second 1] - [lindex $first 1]]\
 | common [format %.3f [expr $groups ? double($common) / $groups : 0]]"
    exit 0
}
$ns run
