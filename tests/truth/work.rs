// SPDX-License-Identifier: GPL-2.0-or-later

// Input for rustc: generic code that takes some time to compile. NAME is replaced.
pub mod NAME {
    use std::collections::{BTreeMap, HashMap};

    pub fn count<T: Ord + Clone>(all: &[T]) -> BTreeMap<T, usize> {
        let mut m = BTreeMap::new();
        for x in all {
            *m.entry(x.clone()).or_insert(0) += 1;
        }
        m
    }

    pub fn words(text: &str) -> HashMap<String, Vec<usize>> {
        let mut m: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, w) in text.split_whitespace().enumerate() {
            m.entry(w.to_lowercase()).or_default().push(i);
        }
        m
    }

    pub fn run(n: usize) -> usize {
        let v: Vec<u64> = (0..n as u64).map(|x| x * 7919 % 10007).collect();
        let mut s: Vec<String> = v.iter().map(|x| format!("{:05}", x)).collect();
        s.sort();
        s.dedup_by_key(|x| x.len());
        count(&v).len() + words(&s.join(" ")).len()
    }
}
