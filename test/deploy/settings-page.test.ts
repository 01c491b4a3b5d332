import { readFileSync } from 'node:fs';
import { SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { settingsPage } from '../../scripts/settings/page.ts';

describe('docs/settings.md', () => {
  it('O12 is what `node scripts/settings-page.ts --write` makes of the schema', () => {
    expect(readFileSync('docs/settings.md', 'utf8') === settingsPage()).toBe(true);
  });

  it('has one line for each setting, and shows no secret', () => {
    const page = settingsPage();
    const lines = page.split('\n').filter((line) => line.startsWith('| `'));
    expect(lines.length).toBe(SETTING_FORMS.length);
    for (const { name } of SETTING_FORMS) {
      expect(lines.filter((line) => line.startsWith(`| \`${name}\` |`)).length).toBe(1);
    }
    expect(page).not.toMatch(/somebody who makes a page|fedcba98/);
  });
});
