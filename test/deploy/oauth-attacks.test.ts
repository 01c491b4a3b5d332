/** The page of attacks on sign-ins for applications: each is played by a test that is there. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** The attacks that the page has to tell of. */
const ATTACKS = [
  'A device code that is sent to a victim',
  "A logout by another site's page",
  "A logout by another person's hint",
  'A hint of another tenant',
  'A machine that raises itself',
  "A token of a client's key as an access token",
  'Another application at a private-use scheme',
];
const [, ...parts] = readFileSync('docs/security/oauth-attacks.md', 'utf8').split(/^## /m);
const attacks = parts.map((text) => ({
  attack: text.slice(0, text.indexOf('\n')),
  text,
  tests: [...text.matchAll(/^- `([^`]+)`: (.+)$/gm)].map(([, file = '', title = '']) => ({
    ...{ file, title },
  })),
}));

describe('the page of attacks', () => {
  it('tells of each', () => {
    expect(attacks.map(({ attack }) => attack)).toEqual(ATTACKS);
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
