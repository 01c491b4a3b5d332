import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts, expressions, faultsOf, panels, seriesIn } from './alert-files.ts';

const GROUPS = ['HTTP', 'Commands', 'Read side', 'Bus', 'Areas', 'Base'];

/** Anchors in the form that Markdown renderers generate. */
const anchorsOf = (markdown: string): readonly string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replace(/\s/g, '-'),
  );

describe('O10 the expressions of alarms and dashboard', () => {
  it.each(expressions)('parse: %s', (expression) => {
    expect(faultsOf(expression)).toEqual([]);
    expect(seriesIn(expression)).not.toEqual([]);
  });

  it('are told apart from wrong ones', () => {
    expect(faultsOf('sum by (x (rate(a[5m]))')).not.toEqual([]);
    expect(seriesIn('max by (a) (cardea_x{b="cardea_y"}) > 3')).toEqual(['cardea_x']);
  });
});

describe('every alarm', () => {
  const anchors = anchorsOf(readFileSync('docs/runbook.md', 'utf8'));
  it.each(alerts)('$alert has an entry in the runbook', ({ annotations, labels }) => {
    const [file, anchor] = annotations.runbook.split('#');
    expect(file).toBe('docs/runbook.md');
    expect(anchors).toContain(anchor);
    expect(['page', 'ticket']).toContain(labels.severity);
  });

  it('has a name of its own', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});

describe('the dashboard', () => {
  it('has a row per group of metrics, and panels that lie beside each other', () => {
    expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual(GROUPS);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

describe('prometheus', () => {
  it('loads the alarms, and scrapes the management port of each service of the compose file', () => {
    const config = parse(readFileSync('deploy/prometheus/prometheus.yaml', 'utf8'));
    expect(config.rule_files).toEqual(['/etc/prometheus/alerts.yaml']);
    const [{ job_name: job, dns_sd_configs: found }] = config.scrape_configs;
    expect(job).toBe('cardea');
    const { services } = parse(readFileSync('docker-compose.yml', 'utf8'));
    expect(Object.keys(services)).toEqual(expect.arrayContaining(found[0].names));
    expect(found[0]).toMatchObject({ port: 8081, type: 'A' });
    expect(found[0].names).toHaveLength(6);
  });
});
