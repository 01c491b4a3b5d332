/** The list of endpoints that need no credential, so that a new one is seen in review. */
import { readFileSync } from 'node:fs';
import { documentEndpoints, isInternal } from '@cardea/http';
import { describe, expect, it } from 'vitest';
import { product, version } from '../../scripts/gateway/files.ts';

const { common, services } = await product();
const own = [...common, ...services.flatMap(({ endpoints }) => endpoints)];
const documents = documentEndpoints({
  ...{ endpoints: own, version, publicUrl: 'https://example.com' },
  isDevelopment: false,
});
const open = [...own, ...documents]
  .map(({ contract }) => contract)
  .filter(({ who }) => who === 'anyone')
  .filter((contract) => !isInternal(contract) || isOfDocument(contract.path));

/** The document does not describe itself, but clients can read it. */
function isOfDocument(path: string): boolean {
  return documents.some(({ contract }) => contract.path === path);
}

const listed = (): string[] => {
  const contract = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');
  const [, section = ''] = contract.split('### 5.1 Endpoints without a credential\n');
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\S+) /gm)].map(
    ([, method, path]) => `${method} ${path}`,
  );
};

describe('an endpoint that needs no credential', () => {
  it('is in the list of docs/contract.md, and nothing else is', () => {
    const served = open.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(listed().toSorted()).toEqual(served.toSorted());
  });

  it('has a limit if it changes anything', () => {
    const unlimited = open.filter(
      ({ method, refusals }) => method !== 'get' && !('rate_limited' in refusals),
    );
    expect(unlimited.map(({ name }) => name)).toEqual([]);
  });
});
