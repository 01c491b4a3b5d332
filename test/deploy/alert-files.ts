/** The expressions of the alarms and of the dashboard, parsed, and the series that they name. */
import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

export type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
};
type Panel = {
  readonly type: string;
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string }[];
};

const groups = parse(readFileSync('deploy/prometheus/alerts.yaml', 'utf8')).groups as readonly {
  readonly name: string;
  readonly rules: readonly Alert[];
}[];
export const alerts: readonly Alert[] = groups.flatMap(({ rules }) => rules);
export const panels = JSON.parse(readFileSync('deploy/grafana/cardea.json', 'utf8'))
  .panels as readonly Panel[];

export const expressions: readonly string[] = [
  ...alerts.map(({ expr }) => expr),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** Returns the faults of an expression; empty if there are none. */
export function faultsOf(expression: string): readonly string[] {
  const faults: string[] = [];
  parser.parse(expression).iterate({
    enter: (node) => {
      if (node.type.isError) faults.push(`at ${node.from} of ${expression}`);
    },
  });
  return faults;
}

export function seriesIn(expression: string): readonly string[] {
  const names: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, node, from, to }) => {
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') {
        names.push(expression.slice(from, to));
      }
    },
  });
  return names;
}
