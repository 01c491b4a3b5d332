/** Generates `docs/events.md`: an introduction for subscribers, and each published event. */
import { readFileSync } from 'node:fs';
import { PERSONAL_DATA } from '@cardea/contracts';
import {
  exampleHeaders,
  isNullable,
  jsonText,
  type PublishedEvent,
  type PublishedTopic,
  recordHeaders,
  type Schema,
  schemaFile,
  typesOf,
} from '@cardea/documents';

/** The text around the tables, with `{{placeholders}}` that are filled here. */
const FRAME = new URL('./events.frame.md', import.meta.url);

export function eventsPage(topics: readonly PublishedTopic[]): string {
  const [topic] = topics;
  const first = topic?.events[0];
  if (topic === undefined || first === undefined) throw new Error('nothing is published');
  const places: { readonly [name: string]: string } = {
    partitions: String(topic.partitions),
    retention: `${topic.retentionDays} days`,
    topics: topicTable(topics),
    headers: headerTable(),
    example: exampleRecord(first),
    context: fieldTable(first.schema.properties?.['context'] ?? {}),
    tests: testTable(),
    events: topics.map(topicPart).join('\n\n'),
  };
  return readFileSync(FRAME, 'utf8').replaceAll(/\{\{(\w+)\}\}/g, (place, name: string) => {
    const filling = places[name];
    if (filling === undefined) throw new Error(`nothing fills ${place}`);
    return filling;
  });
}

type Row = readonly string[];

/** A table with aligned columns, as in our other pages. */
function table(head: Row, rows: readonly Row[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: Row) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

const topicTable = (topics: readonly PublishedTopic[]): string =>
  table(
    ['Topic', 'What about', 'Types'],
    topics.map(({ service, topic, events }) => [
      `\`${topic}\``,
      ABOUT[service],
      `[${events.length}](#${anchorOf(topic)})`,
    ]),
  );

const ABOUT: { readonly [Service in PublishedTopic['service']]: string } = {
  identity: 'organizations, tenants, users, sessions, keys, agents',
  authz: 'relationship tuples',
  vault: 'registered services, secrets, policies, credentials handed to agents',
  approval: 'requests of agents to people, and the answers',
  webhooks: 'webhooks, and deliveries that failed',
  audit: 'exports of the audit log',
};

const anchorOf = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z0-9_ -]/g, '');

const headerTable = (): string =>
  table(
    ['Header', 'There', 'What it says'],
    Object.entries(recordHeaders.properties ?? {}).map(([header, schema]) => [
      `\`${header}\``,
      recordHeaders.required?.includes(header) ? 'always' : 'may be missing',
      described(schema),
    ]),
  );

function exampleRecord(event: PublishedEvent): string {
  const headers = exampleHeaders(event);
  const key = `key      ${headers['ce_tenantid']}:${headers['ce_subject']}`;
  const lines = Object.entries(headers).map(([header, value]) => `headers  ${header}: ${value}`);
  return ['```', key, ...lines, 'value', jsonText(event.example as object).trim(), '```'].join(
    '\n',
  );
}

const BUS_TESTS = 'packages/event-bus/test';

/** The test of each promise: file and name, which a test of the documents looks up. */
export const PROMISES: readonly Row[] = [
  [
    'order of a key',
    `${BUS_TESTS}/conformance.ts`,
    'brings all that was published, each stream in its order',
  ],
  [
    'a key stays in its partition',
    `${BUS_TESTS}/conformance.ts`,
    'keeps a stream in one partition, and offsets without a hole',
  ],
  [
    'nothing is left out, little is repeated',
    `${BUS_TESTS}/relay-suite.ts`,
    'R3 brings 5,000 events to the topic in order, with less than one repeat in a hundred',
  ],
  [
    'nothing is lost when senders and readers are killed',
    `${BUS_TESTS}/relay-suite.ts`,
    'R2 loses nothing and doubles no effect, wherever relay and consumer are killed',
  ],
  [
    'a stream that was held up comes whole and in order',
    `${BUS_TESTS}/relay-suite.ts`,
    'R27 parks a stream that cannot be mapped, and sends it in order when it can',
  ],
  [
    'skipping repeats by position applies each event once',
    `${BUS_TESTS}/example-consumer.int.test.ts`,
    'counts each login once, killed again and again, while records come twice',
  ],
  [
    'headers and values are as told here',
    `${BUS_TESTS}/example-consumer.int.test.ts`,
    'has the headers and the value that subscribers are told of',
  ],
  [
    'what is marked `erasable` is null after an erasure',
    'services/identity/src/relay.test.ts',
    'tells nothing of them once they are erased',
  ],
];

const testTable = (): string =>
  table(
    ['Promise', 'File', 'Test'],
    PROMISES.map(([promise = '', file = '', name = '']) => [promise, `\`${file}\``, name]),
  );

const topicPart = ({ topic, service, events }: PublishedTopic): string =>
  [
    `## ${topic}`,
    `${sentence(ABOUT[service])} Every \`data\` has [\`context\`](#context) beside what stands here.`,
    ...events.map(eventPart),
  ].join('\n\n');

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

function eventPart(event: PublishedEvent): string {
  const { context: _, ...properties } = event.schema.properties ?? {};
  const { type, version, meaning } = event;
  return [
    `### ${service(event)}${type}`,
    `${meaning} Version ${version}, schema \`schemas/${schemaFile(event)}\`.`,
    fieldTable({ ...event.schema, properties }),
  ].join('\n\n');
}

/** One type is published on every topic: its headings have to differ so that links work. */
const service = ({ service: of, type }: PublishedEvent) =>
  type === 'action.denied' ? `${of}: ` : '';

const fieldTable = (schema: Schema): string =>
  table(['Field', 'Type', 'What it holds', 'Personal'], fieldRows(schema, ''));

const fieldRows = ({ properties = {}, required = [] }: Schema, above: string): readonly Row[] =>
  Object.entries(properties).flatMap(([name, schema]): readonly Row[] => {
    const field = `${above}${name}`;
    const inner = schema.items?.properties === undefined ? schema : schema.items;
    const below = schema.items?.properties === undefined ? `${field}.` : `${field}[].`;
    return [
      [
        `\`${field}\``,
        typeText(schema, required.includes(name)),
        described(schema),
        schema[PERSONAL_DATA] ?? '',
      ],
      ...fieldRows(inner, below),
    ];
  });

function typeText(schema: Schema, isRequired: boolean): string {
  const { type = '', items, format } = schema;
  const [first = ''] = typesOf(type);
  const name = first === 'array' ? `array of ${typesOf(items?.type ?? '')[0]}` : first;
  const whole = format === undefined ? name : `${name} (${format})`;
  return `${whole}${isNullable(schema) ? ' or null' : ''}${isRequired ? '' : ', optional'}`;
}

function described({ description = '', enum: values = [] }: Schema): string {
  const words = values.filter((value) => value !== null).map((value) => `\`${value}\``);
  return words.length === 0 ? description : `${description} One of ${words.join(', ')}.`;
}
