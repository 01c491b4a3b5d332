/**
 * A histogram of prom-client's registry for values that are observed at every request. The library's own histogram
 * joins all labels into one text at each observation, and finds its series by that text. Here maps lead from the
 * labels' values, in the order of their names, to the series.
 */
import type { MetricObject, MetricValue } from 'prom-client';

type LabelValue = string | number;
type Series = {
  readonly labels: { readonly [name: string]: LabelValue };
  /** Counts by bucket, each without the lower ones. The last counts values above all bounds. */
  readonly counts: number[];
  sum: number;
};
type Branch = Map<LabelValue, Branch | Series>;

export type SeriesHistogramOptions = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly buckets: readonly number[];
};

export class SeriesHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #buckets: readonly number[];
  readonly #series: Series[] = [];
  /**
   * Maps the values of each label to the next map. The last map has the series. Without labels the series is under ''.
   */
  readonly #root: Branch = new Map();

  constructor({ name, help, labelNames, buckets }: SeriesHistogramOptions) {
    this.name = name;
    this.#help = help;
    this.#labelNames = labelNames;
    this.#buckets = buckets;
  }

  /** One value per label, in the order of their names. */
  observe(value: number, ...labels: readonly LabelValue[]): void {
    const series = this.#seriesOf(labels);
    series.sum += value;
    let bucket = 0;
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
  }

  /** Returns the lines that the registry prints. */
  async get(): Promise<Omit<MetricObject, 'collect'> & { values: MetricValue<string>[] }> {
    return {
      name: this.name,
      help: this.#help,
      type: 'histogram' as never,
      aggregator: 'sum',
      values: this.#series.flatMap((series) => this.#printed(series)),
    };
  }

  #seriesOf(labels: readonly LabelValue[]): Series {
    let branch = this.#root;
    const last = labels.length - 1;
    for (let at = 0; at < last; at += 1) {
      const value = labels[at] as LabelValue;
      let next = branch.get(value) as Branch | undefined;
      if (next === undefined) {
        next = new Map();
        branch.set(value, next);
      }
      branch = next;
    }
    const value = last < 0 ? '' : (labels[last] as LabelValue);
    const known = branch.get(value) as Series | undefined;
    if (known !== undefined) return known;
    const named = this.#labelNames.map((name, at) => [name, labels[at] as LabelValue]);
    const series: Series = {
      labels: Object.fromEntries(named),
      counts: new Array(this.#buckets.length + 1).fill(0),
      sum: 0,
    };
    branch.set(value, series);
    this.#series.push(series);
    return series;
  }

  #printed({ labels, counts, sum }: Series): MetricValue<string>[] {
    let upTo = 0;
    const bucket = (le: LabelValue, at: number) => {
      upTo += counts[at] as number;
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: upTo };
    };
    const buckets = [...this.#buckets.map(bucket), bucket('+Inf', this.#buckets.length)];
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: upTo },
    ] as MetricValue<string>[];
  }
}
