/** A person at a browser, who signs in and consents wherever a page of Cardea asks for it. */
import { untilTrue } from '@cardea/testing';
import { chromiumFixture } from '../../services/identity/test/chromium-fixture.ts';

const PAGE_MS_MAX = 60_000;
const PASSWORD_BUTTON = 'button[value=password]';
const CONSENT_BUTTON = 'form[action$="/consent"] button.main';

export type GuideBrowser = {
  /** Opens a page, and waits until it or one that it leads to has a text that fits. */
  readonly open: (url: string, fits: (text: string) => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function guideBrowser(
  base: string,
  person: { readonly email: string; readonly password: string },
): Promise<GuideBrowser> {
  const chromium = await chromiumFixture(base);
  return {
    close: chromium.stop,
    open: async (url, fits) => {
      const page = await chromium.open();
      // The server of the guide may still be starting.
      const isReached = (): Promise<boolean> =>
        page.goto(url).then(
          () => true,
          () => false,
        );
      await untilTrue(isReached, { deadlineMs: PAGE_MS_MAX, what: `${url} is served` });
      const isSignedIn = async (): Promise<boolean> => {
        if (await page.isVisible(PASSWORD_BUTTON)) {
          await page.fill('#email', person.email);
          await page.fill('#password', person.password);
          await page.click(PASSWORD_BUTTON);
        } else if (await page.isVisible(CONSENT_BUTTON)) await page.click(CONSENT_BUTTON);
        return fits((await page.textContent('body')) ?? '');
      };
      await untilTrue(isSignedIn, {
        deadlineMs: PAGE_MS_MAX,
        what: `${url} ends at a page that fits`,
      }).catch(async (cause: unknown) => {
        throw new Error(`${page.url()} says\n${await page.textContent('body')}`, { cause });
      });
      await page.context().close();
    },
  };
}
