//! Peak memory of each converter as a multiple of the page size: over all pages, and for the worst page of 10
//! kB or more.

use harvestman_content_bench::{CONVERTERS, pages};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Smaller pages are not representative.
const SMALL_BYTES: usize = 10_000;

fn main() {
    let pages = pages();
    let bytes: usize = pages.iter().map(String::len).sum();
    println!("peak memory, in bytes per byte of page\n");
    for converter in &CONVERTERS {
        let (mut sum, mut worst) = (0, 0.0f64);
        for page in &pages {
            let before = ALLOCATED.current_usage();
            ALLOCATED.reset_peak_usage();
            (converter.run)(page);
            let peak = ALLOCATED.peak_usage().saturating_sub(before);
            sum += peak;
            if page.len() >= SMALL_BYTES {
                worst = worst.max(peak as f64 / page.len() as f64);
            }
        }
        println!(
            "{:<40} {:5.1}   worst {worst:5.1}",
            converter.name,
            sum as f64 / bytes as f64
        );
    }
}
