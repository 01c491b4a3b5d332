/** Tests that lists of what is not built name no command, endpoint or event that exists. */
import { globSync, readFileSync } from 'node:fs';
import { EVENT_CATALOGUE, webhookPayloads } from '@cardea/contracts';
import { catalogue } from '@cardea/http';
import { describe, expect, it } from 'vitest';
import { product } from '../../scripts/gateway/files.ts';
import { commands } from '../../services/standalone/src/cli/commands.ts';

const { common, services } = await product();
const endpoints = catalogue([...common, ...services.flatMap((each) => each.endpoints)]);
const paths = endpoints.map(({ contract }) => contract.path);
const commandNames = commands.map(({ name }) => name);
const eventNames = new Set([
  ...Object.keys(webhookPayloads),
  ...Object.values(EVENT_CATALOGUE).flatMap(({ kinds }) => kinds.map(({ type }) => type)),
]);

const DOCUMENTS = globSync(['*.md', 'docs/**/*.md', 'services/*/README.md', 'packages/*/README.md'])
  .filter((path) => path !== 'CHANGELOG.md')
  .toSorted();

/** Sections with this title, paragraphs that begin with it, and rows of tables that contain it. */
function missing(text: string): readonly string[] {
  const sections = [...text.matchAll(/^## Not built yet\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)];
  const lines = text.split('\n').filter((line) => /^not built yet:|^\|.*\bnot built\b/i.test(line));
  return [...sections.flatMap(([, list = '']) => list.split('\n')), ...lines].filter(
    (line) => line.trim() !== '',
  );
}

/** Names in backticks that an entry gives to something that exists. */
function existing(entry: string): readonly string[] {
  const names = [...entry.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  return names.filter(
    (name) => isCommand(name) || isEndpoint(name) || eventNames.has(name.replace(/@\d+$/, '')),
  );
}

const isCommand = (name: string): boolean =>
  commandNames.includes(name.replace(/^(npm run )?cardea (-- )?/, ''));

/** `/api/v1/audit-integrity/*` stands for every path below it; parameters may have any name. */
function isEndpoint(name: string): boolean {
  const path = /^(?:(?:GET|POST|PUT|PATCH|DELETE) )?(\/\S+)$/.exec(name)?.[1];
  if (path === undefined) return false;
  const plain = (text: string): string => text.replace(/\{\w+\}/g, '{}').replace(/^\/api\/v1/, '');
  if (path.endsWith('/*')) {
    return paths.some((each) => plain(each).startsWith(plain(path.slice(0, -1))));
  }
  return paths.some((each) => plain(each) === plain(path));
}

describe('what is called not built', () => {
  it('O12 names no command, endpoint or event that exists', () => {
    const wrong = DOCUMENTS.flatMap((path) =>
      missing(readFileSync(path, 'utf8')).flatMap((entry) =>
        existing(entry).map((name) => `${path}: ${name}`),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('O12 is looked for in sections, paragraphs and rows', () => {
    const text =
      '## Not built yet\n\n- An MCP server and `cardea exec`.\n\n## Rows\n\nNot built yet: `webhooks replay`.\n| x | `POST /users/{id}/impersonate`, `consent.granted`: not built |\n';
    expect(missing(text)).toHaveLength(3);
    expect(missing(text).slice(0, 2).flatMap(existing)).toEqual(['cardea exec', 'webhooks replay']);
    expect(existing('`POST /admin/users/{user}/impersonate`, `consent.granted`')).toHaveLength(2);
    expect(existing('`/api/v1/audit-integrity/*`, `cardea audit verify`')).toEqual([]);
    expect(existing('`/api/v1/webhooks/*`')).toHaveLength(1);
  });
});

describe('what the documents list', () => {
  const contract = readFileSync('docs/contract.md', 'utf8');

  it('O12 has every event that a webhook can receive', () => {
    const [, section = ''] = /^### 6\.1 Webhooks\n([\s\S]*?)^### /m.exec(contract) ?? [];
    const listed = [...section.matchAll(/^\| ([a-z_]+\.[a-z_]+) +\|/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(Object.keys(webhookPayloads).toSorted());
  });

  it('O13 has every command', () => {
    const [line = ''] =
      /^`doctor` · .*$/m.exec(readFileSync('docs/design/operations.md', 'utf8')) ?? [];
    const listed = [...line.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) => {
      const [group = '', verbs] = text.replace(/ \[.*/, '').split(' ');
      return verbs === undefined ? [group] : verbs.split('|').map((verb) => `${group} ${verb}`);
    });
    expect(listed.toSorted()).toEqual(commandNames.toSorted());
  });
});
