//! Bytes of HTML per second of processor time, for all converters in one run. Processor time is used because
//! wall-clock time on a busy machine would measure its other processes.

use std::time::Duration;

use cpu_time::ProcessTime;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use harvestman_content_bench::{CONVERTERS, pages};

/// Processor time of this process.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = ProcessTime;
    type Value = Duration;

    fn start(&self) -> ProcessTime {
        ProcessTime::now()
    }

    fn end(&self, start: ProcessTime) -> Duration {
        start.elapsed()
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        (&WallTime as &'static WallTime).formatter()
    }
}

fn speed(criterion: &mut Criterion<CpuTime>) {
    let pages = pages();
    let bytes: usize = pages.iter().map(String::len).sum();
    println!("{} pages, {bytes} bytes", pages.len());
    let mut group = criterion.benchmark_group("pages");
    group
        .throughput(Throughput::Bytes(bytes as u64))
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5));
    for converter in &CONVERTERS {
        group.bench_function(converter.name, |bencher| {
            bencher.iter(|| pages.iter().for_each(|page| (converter.run)(page)));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime).without_plots();
    targets = speed
}
criterion_main!(benches);
