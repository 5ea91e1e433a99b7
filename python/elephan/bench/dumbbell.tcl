# A dumbbell of SACK flows for ns-2 2.35, timed by `elephan bench`.
# Arguments: flows, rate [bit/s], delay [s], smallest and largest base RTT [s], packet on the wire [bytes], waiting
# packets, access rate [bit/s], duration [s], windowOption_ (1 Reno, 8 HighSpeed), max_ssthresh_ (0: classic slow start).
# Differs from the scenario: the timer ticks every 10 ms, ns-2's default.
lassign $argv n rate delay rtt_min rtt_max packet waiting access duration option max_ssthresh

set ns [new Simulator]
Agent/TCP set window_ 1000000
Agent/TCP set packetSize_ [expr $packet - 40]
Agent/TCP set useHeaders_ true
Agent/TCP set windowOption_ $option
Agent/TCP set max_ssthresh_ $max_ssthresh
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCP set high_decrease_ 0.1
Agent/TCP set singledup_ 1
Agent/TCP set minrto_ 1
Queue set limit_ 1000000

set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right $rate $delay DropTail
# DropTail keeps at most limit_ - 1 packets waiting.
$ns queue-limit $left $right [expr $waiting + 1]
set monitor [$ns monitor-queue $left $right ""]

set random [new RNG]
$random seed 1
for {set i 0} {$i < $n} {incr i} {
    set host($i) [$ns node]
    set share [expr $n > 1 ? double($i) / ($n - 1) : 0.5]
    set rtt [expr $rtt_min + $share * ($rtt_max - $rtt_min)]
    $ns duplex-link $host($i) $left $access [expr $rtt / 2 - $delay] DropTail
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $tcp set fid_ $i
    $ns attach-agent $host($i) $tcp
    $ns attach-agent $right $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at [$random uniform 0 1] "$ftp start"
}
$ns at $duration {
    puts "delivered [format %.0f [$monitor set pdepartures_]]"
    exit 0
}
$ns run
