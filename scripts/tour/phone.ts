/** A person at a phone: Chromium opens the page of a request, signs in there, and approves or takes a picture of it. */
import { existsSync } from 'node:fs';

const PATHS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);
const SIZE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
const PICTURE = {
  viewport: { width: 720, height: 900 },
  locale: 'en-US',
  colorScheme: 'light',
} as const;
const STEP_MS_MAX = 30_000;

type SignIn = { readonly email: string; readonly password: string };

export type Phone = {
  /** Approves at the page. Throws if the browser does not end at the page of an approved request. */
  readonly approves: (page: string, as: SignIn) => Promise<void>;
  /** Writes a picture of the page without its navigation to a file. */
  readonly takesPicture: (page: string, as: SignIn, file: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Undefined if no Chromium is installed. `CHROMIUM_BINARY` names one in another folder. */
export async function phone(): Promise<Phone | undefined> {
  const executablePath = [process.env['CHROMIUM_BINARY'] ?? '', ...PATHS].find(existsSync);
  if (executablePath === undefined) return undefined;
  // Loaded only for a tour with a browser, because containers that play the story do not have it installed.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const opened = async (url: string, as: SignIn, size: typeof SIZE | typeof PICTURE) => {
    const page = await (await browser.newContext(size)).newPage();
    page.setDefaultTimeout(STEP_MS_MAX);
    await page.goto(url);
    await page.fill('#email', as.email);
    await page.fill('#password', as.password);
    await page.click('button[value=password]');
    await page.waitForURL(/\/approve\//);
    return page;
  };
  return {
    approves: async (url, as) => {
      const page = await opened(url, as, SIZE);
      await page.click('section[aria-labelledby=approve] button');
      await page.waitForSelector('.tag.good');
      await page.context().close();
    },
    takesPicture: async (url, as, file) => {
      const page = await opened(url, as, PICTURE);
      await page.locator('main').screenshot({ path: file });
      await page.context().close();
    },
    close: () => browser.close(),
  };
}
