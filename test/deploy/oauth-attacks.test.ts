/** Tests that each attack on the pages of attacks is played by an existing test. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** The attacks that each page has to describe. */
const ATTACKS: { readonly [page: string]: readonly string[] } = {
  'oauth-attacks.md': [
    'A device code that is sent to a victim',
    "A logout by another site's page",
    "A logout by another person's hint",
    'A hint of another tenant',
    'A machine that raises itself',
    "A token of a client's key as an access token",
    'Another application at a private-use scheme',
  ],
  'decision-attacks.md': [
    'Details that hide a line',
    'An agent that widens itself by access-requests',
    'A page that another site frames, forges or posts to',
    "A sign-in to pages that is forged, replayed or somebody else's",
    'Words of agents and people that are more than words',
    'A scanner that opens and posts',
    'Somebody who is not the person',
    'A key with fga:write that makes its holder an approver',
    'A deputy of a deputy',
    'A stolen mailbox against the address change',
  ],
};
const pages = Object.entries(ATTACKS).map(([page, attacks]) => {
  const [, ...parts] = readFileSync(`docs/security/${page}`, 'utf8').split(/^## /m);
  return { page, attacks, parts };
});
const attacks = pages.flatMap(({ page, parts }) =>
  parts.map((text) => ({
    page,
    attack: text.slice(0, text.indexOf('\n')),
    text,
    tests: [...text.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({
      ...{ file, title },
    })),
  })),
);

describe('the pages of attacks', () => {
  it.each(pages)('tell of each: $page', ({ page, attacks: told }) => {
    const found = attacks.filter((each) => each.page === page).map(({ attack }) => attack);
    expect(found).toEqual(told);
  });

  it.each(attacks)('says what stops it and what does not, and who plays it: $attack', (of) => {
    expect(of.text).toContain('**What stops it**');
    expect(of.text).toContain('**What does not**');
    expect(of.tests.length).toBeGreaterThan(0);
    for (const { file, title } of of.tests) {
      expect(existsSync(file), file).toBe(true);
      expect(readFileSync(file, 'utf8'), file).toContain(title);
    }
  });
});
