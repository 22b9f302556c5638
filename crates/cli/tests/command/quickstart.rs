//! `quickstart`: true numbers, and a face that looks good on a terminal.

use crate::lab::Lab;

#[test]
fn tells_what_happened() {
    let lab = Lab::new();
    let text = lab.good("quickstart");
    // What differs from run to run, or is for other layers to decide, is masked.
    let mut masked = String::new();
    for line in text.lines() {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for index in 1..words.len() {
            let unit = words[index].trim_end_matches([',', ';', ':']);
            if ["ms", "million", "bytes", "syncs", "%"].contains(&unit) {
                words[index - 1] = "#".to_owned();
            }
        }
        masked += words.join(" ").trim_end();
        masked.push('\n');
    }
    insta::assert_snapshot!(masked);
    assert!(text.lines().count() <= 32 && text.lines().all(|line| line.chars().count() <= 110), "{text}");
    assert_eq!(lab.names(), [""; 0]);
}
