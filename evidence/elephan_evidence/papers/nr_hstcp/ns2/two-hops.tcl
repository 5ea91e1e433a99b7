# Two hops of 1 Gbit/s with two standard TCP flows on each, and two HighSpeed flows over both, one of a longer round trip.
# Arguments: long RTT [s], waiting packets, access rate of the HighSpeed flows [bit/s], packets waiting there, jitter [s]
# (ns-2's overhead_: uniform, of each packet sent), start of the measured time [s], end [s], seed.
# Source: PhillipsHu2006, Section IV. ns-2 2.35 has HSTCP (windowOption_ 8), not NR-HSTCP.
lassign $argv rtt waiting access nic jitter from to seed

set ns [new Simulator]
Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ 1460
Agent/TCP set useHeaders_ true
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCP set high_decrease_ 0.1
Agent/TCP set max_ssthresh_ 0
Agent/TCP set singledup_ 1
Agent/TCP set minrto_ 1
Agent/TCP set overhead_ $jitter
Queue set limit_ 1000000
ns-random $seed

foreach r {1 2 3} { set router($r) [$ns node] }
foreach {a b} {1 2 2 3} {
    $ns duplex-link $router($a) $router($b) 1Gb 15ms DropTail
    # DropTail keeps at most limit_ - 1 packets waiting.
    $ns queue-limit $router($a) $router($b) [expr $waiting + 1]
    set monitor($a) [$ns monitor-queue $router($a) $router($b) ""]
}

# A flow from router a to router b with all that its RTT leaves on its own link.
proc flow {name a b rtt rate nic option start} {
    global ns router sink
    set host [$ns node]
    set delay [expr $rtt / 2 - 0.015 * ($b - $a)]
    $ns duplex-link $host $router($a) $rate $delay DropTail
    $ns queue-limit $host $router($a) $nic
    set tcp [new Agent/TCP/Sack1]
    $tcp set windowOption_ $option
    set sink($name) [new Agent/TCPSink/Sack1]
    $ns attach-agent $host $tcp
    $ns attach-agent $router($b) $sink($name)
    $ns connect $tcp $sink($name)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
}
flow short 1 3 0.075 $access $nic 8 50
flow long 1 3 $rtt $access $nic 8 50
flow cross1a 1 2 0.05 100Mb 100 1 0
flow cross1b 1 2 0.05 100Mb 100 1 0
flow cross2a 2 3 0.05 100Mb 100 1 0
flow cross2b 2 3 0.05 100Mb 100 1 0

# The sinks' counters have 32 bits: read and cleared every second.
foreach name [array names sink] { set got($name) 0.0 }
proc poll {} {
    global ns sink got from
    foreach name [array names sink] {
        if {[$ns now] > $from} { set got($name) [expr $got($name) + [$sink($name) set bytes_]] }
        $sink($name) set bytes_ 0
    }
    $ns at [expr [$ns now] + 1] poll
}
$ns at 0.0001 poll
$ns at $from {
    foreach hop {1 2} { set before($hop) [$monitor($hop) set pdepartures_] }
}
$ns at $to {
    set line "rtt=$rtt"
    foreach name [lsort [array names sink]] {
        append line " $name=[format %.2f [expr $got($name) * 8e-6 / ($to - $from)]]"
    }
    foreach hop {1 2} {
        append line " util$hop=[format %.4f [expr ([$monitor($hop) set pdepartures_] - $before($hop)) * 12000.0 / 1e9 / ($to - $from)]]"
    }
    puts $line
    exit 0
}
$ns run
