//! Sessions: transfers that open again and again, in both engines.

use crate::equality::equal;

fn users(more: &str) -> String {
    format!(
        r#"
duration = "40 s"
warmup = "4 s"
[[links]]
name = "there"
rate = "4 Mbit/s"
delay = "5 ms"
buffer = "20 packets"
[[links]]
name = "back"
rate = "100 kbit/s"
delay = "5 ms"
buffer = "5 packets"
[[flows]]
count = 20
path = ["there"]
rtt = {{ from = "30 ms", to = "90 ms" }}
packet = "500 B"
start = {{ from = "0 s", to = "1 s" }}
traffic = {{ kind = "engset", size = "20 kB", think = "1 s" }}
{more}
[record]
every = "10 ms"
"#
    )
}

#[test]
fn users_are_the_same_in_both_engines() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "prr", "rack"] {
        for back in ["", "return = [\"back\"]"] {
            for law in ["reno", "cubic", "bbr", "bbr1", "westwood"] {
                if law.starts_with("bbr") && !["sack", "prr", "rack"].contains(&recovery) {
                    continue;
                }
                let name = format!("{recovery} {back} {law}");
                let more = format!("recovery = \"{recovery}\"\ncontrol = \"{law}\"\n{back}\n");
                let outcome = equal(&name, &users(&more));
                let group = outcome.transfers[0].as_ref().expect("sessions");
                assert!(group.completed > 20, "{name}: {}", group.completed);
            }
        }
    }
}
