# The dumbbell of the tables in ns-2 2.35: five senders on 100 Mbit/s and five on 1 Gbit/s share 2.5 Gbit/s.
# Arguments: tcp1, option1 (1 Reno, 8 HighSpeed), tcp2, option2, queue (DropTail, RED, ARED), delay [ms], duration [s], seed, then
# key=value: max_p, min_rto [s], udp [Mbit/s], wait, access (packets), bytes, tick [s], dupfrac, bottom, decrease (high_decrease_),
# max_ssthresh, precision, exitfr, window, cuts [s], plugin (era.so, for "era-reno"), peak [Mbit/s] and on [s]
# of UDP in bursts.
# Prints, every 50 s, U [% of 2.5 Gbit/s], the max-min index and the groups' mean goodput [Mbit/s] since the print before.
lassign $argv tcp1 option1 tcp2 option2 queue delay duration seed
array set o {max_p 0.1 min_rto 1 udp 50 wait true access 10000 bytes false tick 0.01 dupfrac 1000000000 bottom 0.01 buffer 10001 overhead 0 singledup 1 bugfix true decrease 0.1 max_ssthresh 0 precision true exitfr true window 1000000 cuts 0 plugin {} peak 0 on 0.5}
foreach arg [lrange $argv 8 end] { lassign [split $arg =] key value; set o($key) $value }

set ns [new Simulator]
ns-random $seed
if {$o(plugin) != ""} { load $o(plugin) era }
Agent/TCP set window_ $o(window)
Agent/TCP set packetSize_ 1460
Agent/TCP set useHeaders_ true
Agent/TCP set low_window_ 38
Agent/TCP set high_window_ 83000
Agent/TCP set high_p_ 1e-7
Agent/TCP set high_decrease_ $o(decrease)
Agent/TCP set max_ssthresh_ $o(max_ssthresh)
Agent/TCP set precisionReduce_ $o(precision)
Agent/TCP set exitFastRetrans_ $o(exitfr)
Agent/TCP set singledup_ $o(singledup)
Agent/TCP set bugFix_ $o(bugfix)
Agent/TCP set minrto_ $o(min_rto)
Agent/TCP set tcpTick_ $o(tick)
Agent/TCP set numdupacksFrac_ $o(dupfrac)
Agent/TCP set overhead_ $o(overhead)
Queue set limit_ 1000000
Queue/RED set bytes_ $o(bytes)
Queue/RED set queue_in_bytes_ $o(bytes)
Queue/RED set mean_pktsize_ [expr {$o(bytes) ? 500 : 1500}]
Queue/RED set gentle_ true
Queue/RED set wait_ $o(wait)
Queue/RED set setbit_ false
Queue/RED set thresh_ 2500
Queue/RED set maxthresh_ 7500
Queue/RED set linterm_ [expr 1.0 / $o(max_p)]
Queue/RED set q_weight_ 0.002
Queue/RED set adaptive_ 0
if {$queue == "ARED"} {
    set queue RED
    Queue/RED set adaptive_ 1
    Queue/RED set q_weight_ 0
    Queue/RED set bottom_ $o(bottom)
}

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right 2.5Gb ${delay}ms $queue
$ns simplex-link $right $left 2.5Gb ${delay}ms DropTail
$ns queue-limit $left $right $o(buffer)
set monitor [$ns monitor-queue $left $right ""]

set random [new RNG]
$random seed $seed
for {set i 0} {$i < 10} {incr i} {
    set group [expr $i < 5 ? 1 : 2]
    set host($i) [$ns node]
    $ns duplex-link $host($i) $left [expr $group == 1 ? 1e8 : 1e9] 0.2ms DropTail
    $ns queue-limit $host($i) $left $o(access)
    set kind [set tcp$group]
    array set classes {sack Sack1 reno Reno era-reno EraReno}
    set tcp($i) [new Agent/TCP/$classes($kind)]
    set sink [expr {[string match *sack $kind] ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    $tcp($i) set windowOption_ [set option$group]
    $tcp($i) set fid_ $i
    $ns attach-agent $host($i) $tcp($i)
    $ns attach-agent $right $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$random uniform 0 1] "$ftp start"
    set acked($i) 0
}
if {$o(udp) > 0} {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $udp set packetSize_ 1500
    $ns attach-agent $left $udp
    $ns attach-agent $right $null
    $ns connect $udp $null
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ 1500
    if {$o(peak) > 0} {
        $source set burst_time_ $o(on)
        $source set idle_time_ [expr $o(on) * (1.0 * $o(peak) / $o(udp) - 1)]
        $source set rate_ $o(peak)Mb
    } else {
        $source set burst_time_ 0
        $source set idle_time_ [expr 12000.0 / ($o(udp) * 1e6)]
        $source set rate_ 1000Gb
    }
    $source attach-agent $udp
    $ns at 0 "$source start"
}
proc report {every} {
    global ns tcp acked monitor
    set sums {0 0}; set x 0; set xx 0; set timeouts {0 0}; set cuts {0 0}; set each {}
    for {set i 0} {$i < 10} {incr i} {
        set now [$tcp($i) set ack_]
        set rate [expr ($now - $acked($i)) * 0.012 / $every]
        set acked($i) $now
        set g [expr $i / 5]
        lset sums $g [expr [lindex $sums $g] + $rate]
        lset timeouts $g [expr [lindex $timeouts $g] + [$tcp($i) set nrexmit_]]
        lset cuts $g [expr [lindex $cuts $g] + [$tcp($i) set ncwndcuts_]]
        set share [expr $rate / ($i < 5 ? 100.0 : 400.0)]
        set x [expr $x + $share]; set xx [expr $xx + $share * $share]
        lappend each [format %.1f $rate]
    }
    puts [format "%4.0f U %.2f F %.3f S1 %.1f S2 %.1f timeouts %s cuts %s drops %.0f each %s" [$ns now] [expr ([lindex $sums 0] + [lindex $sums 1]) / 25.0] \
        [expr $x * $x / 10 / $xx] [expr [lindex $sums 0] / 5] [expr [lindex $sums 1] / 5] $timeouts $cuts [$monitor set pdrops_] $each]
    flush stdout
    $ns at [expr [$ns now] + $every] "report $every"
}
# What S2's windows were before and after each cut, seen every so often: "cut", time, flow, before, after, timeouts so far.
proc watch {every} {
    global ns tcp seen window
    for {set i 5} {$i < 10} {incr i} {
        set cuts [$tcp($i) set ncwndcuts_]
        set now [$tcp($i) set cwnd_]
        if {$cuts != $seen($i)} {
            puts [format "cut %.3f %d %d %.1f %.1f %d" [$ns now] $i [expr $cuts - $seen($i)] $window($i) $now [$tcp($i) set nrexmit_]]
            set seen($i) $cuts
        }
        set window($i) $now
    }
    $ns at [expr [$ns now] + $every] "watch $every"
}
if {$o(cuts) > 0} {
    for {set i 5} {$i < 10} {incr i} { set seen($i) 0; set window($i) 0 }
    $ns at $o(cuts) "watch $o(cuts)"
}
$ns at 50 "report 50"
$ns at [expr $duration + 0.001] "exit 0"
$ns run
