//! Confidence over replications, for the tests that compare published behaviours.

#![allow(dead_code, clippy::allow_attributes, reason = "each test uses its part")]

/// Mean, and half of its 95 % interval (Student's t).
pub fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    let square: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    // Quantile 0.975 with n - 1 degrees of freedom.
    let quantile = match n {
        3 => 4.303,
        5 => 2.776,
        8 => 2.365,
        _ => panic!("no quantile for {n} replications"),
    };
    (mean, quantile * (square / (n - 1) as f64 / n as f64).sqrt())
}

/// Differences `b - a` for each replication; both use the same random numbers.
pub fn more(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| b - a).collect()
}
