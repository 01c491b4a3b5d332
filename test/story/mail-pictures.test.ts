/** Every kind of mail as a browser shows it: on a phone and beside other windows, light and dark. */
import { testForm } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CHROMIUM,
  type ChromiumFixture,
  chromiumFixture,
} from '../../services/identity/test/chromium-fixture.ts';
import { shownFaults } from '../../services/identity/test/page-checks.ts';
import { MAIL_KINDS } from '../deploy/mail-kinds.ts';

const WIDTHS_PX = [320, 700];
/** The maximum length of texts of people and agents, without a space. */
const LONG = 'W'.repeat(60);

describe.skipIf(CHROMIUM === undefined)('people 11 a mail as it is shown', () => {
  let chromium: ChromiumFixture;
  beforeAll(async () => {
    chromium = await chromiumFixture('http://127.0.0.1:9');
  });
  afterAll(() => chromium?.stop());

  const views = WIDTHS_PX.flatMap((width) =>
    (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
  ).filter(
    ({ width, colorScheme }) => testForm.long || (width === 320) === (colorScheme === 'dark'),
  );
  it.each(views)('is readable at $width px, $colorScheme, and loads nothing', async (view) => {
    const { width, colorScheme } = view;
    const page = await chromium.open({ viewport: { width, height: 600 }, colorScheme });
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    for (const { name, language, of } of MAIL_KINDS) {
      for (const by of ['Grace & Söhne', LONG]) {
        await page.setContent(of(by, language).html);
        expect(await shownFaults(page), `${name} in ${language}`).toEqual([]);
      }
    }
    expect(loaded).toEqual([]);
  });
});
