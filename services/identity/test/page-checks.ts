/** Accessibility checks of a page for people with poor sight or without a mouse, run in Chromium. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const INTERACTIVE = new Set(['button', 'link', 'textbox', 'checkbox', 'radio', 'combobox']);

type AxNode = {
  readonly ignored: boolean;
  readonly role?: { readonly value?: string };
  readonly name?: { readonly value?: string };
};

export async function expectFaultless(page: Page): Promise<void> {
  expect(await faultsOf(page), page.url()).toEqual([]);
}

/** Presses the main button of the form that posts to `path`. */
export const submit = (page: Page, path: string): Promise<void> =>
  page.click(`form[action$="/${path}"] button.main`);

/** Returns all faults of the page as text. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  // The session stays open, because Chromium removes the page's virtual authenticators when one ends.
  const session = await page.context().newCDPSession(page);
  const { nodes } = (await session.send('Accessibility.getFullAXTree')) as {
    nodes: readonly AxNode[];
  };
  const shown = nodes.filter(({ ignored }) => !ignored);
  const ofRole = (role: string) => shown.filter((node) => node.role?.value === role);
  const nameless = shown
    .filter(({ role }) => INTERACTIVE.has(role?.value ?? ''))
    .filter(({ name }) => (name?.value ?? '').trim() === '')
    .map(({ role }) => `a ${role?.value} without a name`);
  const pictures = ofRole('image').filter(({ name }) => (name?.value ?? '') === '');
  return [
    ...nameless,
    ...pictures.map(() => 'a picture without a name'),
    ...(ofRole('main').length === 1 ? [] : ['not one main part']),
    ...(await shownFaults(page)),
    ...(await axeFaults(page)),
  ];
}

/** The looks of pages in which axe-core found nothing. */
const faultless = new Set<string>();

/** Most tests come through the same few pages, which need not be searched again while nothing in them differs. */
async function axeFaults(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(RUNS_SCRIPTS))) return [];
  const look = await page.evaluate<string>(LOOK);
  if (faultless.has(look)) return [];
  const faults = await page.evaluate<string[]>(AXE);
  if (faults.length === 0) faultless.add(look);
  return faults;
}

/** All of a page that axe-core judges. Tokens and ids, which differ each time, are left out. */
const LOOK = `[
  document.documentElement.outerHTML.replace(/[\\w.-]{20,}/g, '…'),
  innerWidth, innerHeight, matchMedia('(prefers-color-scheme: dark)').matches,
].join(' ')`;

/** If a page may not run scripts, parsers read the `noscript` content, and axe-core would wait forever. */
const RUNS_SCRIPTS = `(() => {
  const parsed = document.createElement('div');
  parsed.innerHTML = '<noscript><p></p></noscript>';
  return parsed.querySelector('p') === null;
})()`;

/** Runs axe-core with all of its rules, including best practices. */
const AXE = `${axe.source};axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => 'axe ' + id + ': ' + nodes.map(({ html }) => html).join(' ')))`;

/** Visual faults: contrast, size of controls, horizontal scrolling. */
export const shownFaults = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(LOOKED_AT);

/** This code runs in the page and is therefore text, since browser types are not available here. */
const LOOKED_AT = `(() => {
  const TEXT_CONTRAST_MIN = 4.5;
  const TARGET_MIN_PX = 24;
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const part = (value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  const luminance = ([red, green, blue]) =>
    0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
  const backdrop = (element) => {
    if (element === null) return [255, 255, 255];
    const color = rgb(getComputedStyle(element).backgroundColor);
    return color.length === 3 || color[3] > 0 ? color : backdrop(element.parentElement);
  };
  const isShown = (element) => element.checkVisibility() && element.clientHeight > 0;
  const faults = [];
  if (!['en', 'de'].includes(document.documentElement.lang)) faults.push('no known language');
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  if (document.title.trim() === '') faults.push('no title');
  if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls sideways');
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.textContent.trim()).join('');
    if (text === '' || !isShown(element) || element.closest('svg,script,style')) continue;
    const color = luminance(rgb(getComputedStyle(element).color));
    const back = luminance(backdrop(element));
    const contrast = (Math.max(color, back) + 0.05) / (Math.min(color, back) + 0.05);
    if (contrast < TEXT_CONTRAST_MIN) faults.push('contrast ' + contrast.toFixed(2) + ' of ' + text);
  }
  for (const target of document.querySelectorAll('button,a,summary,input:not([type=hidden])')) {
    if (!isShown(target) || target.closest('label') !== null) continue;
    const { height, width } = target.getBoundingClientRect();
    if (Math.min(height, width) < TARGET_MIN_PX) faults.push('small: ' + target.outerHTML);
  }
  const alert = [...document.querySelectorAll('[role=alert]')].find(isShown);
  if (alert && document.activeElement !== alert) faults.push('an alert out of focus');
  return faults;
})()`;

const FOCUS_NOTHING = `document.activeElement?.blur(); getSelection()?.removeAllRanges();`;
const TOP_OF_FOCUS = `document.activeElement === null || document.activeElement === document.body
  ? undefined : document.activeElement.getBoundingClientRect().top + scrollY`;

const TABS_MAX = 40;

/** The vertical positions of the elements that the Tab key reaches, in order, until it leaves the page. */
export async function tabOrder(page: Page): Promise<readonly number[]> {
  await page.evaluate(FOCUS_NOTHING);
  const tops: number[] = [];
  for (let tab = 0; tab < TABS_MAX; tab += 1) {
    await page.keyboard.press('Tab');
    const top = await page.evaluate<number | undefined>(TOP_OF_FOCUS);
    if (top === undefined) break;
    tops.push(top);
  }
  return tops;
}
