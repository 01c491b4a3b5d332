/** Composes every kind of mail of every service as it is sent, and parses it with third-party parsers. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom, uuidV7Ids } from '@cardea/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES, type MailText, mailFolder } from '../../packages/mail/src/index.ts';
import {
  hasPython,
  type ReadMail,
  readByPostalMime,
  readByPython,
} from '../../services/standalone/test/mime-readers.ts';
import { MAIL_KINDS, TO } from './mail-kinds.ts';

const NAME = 'Grace & Söhne';
const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>`;

const wordsOf = (text: string): readonly string[] =>
  text
    .split(/\s+/)
    .map((word) => word.replace(/:$/, ''))
    .filter((word) => word !== '');
const shownBy = (html: string): string =>
  html
    .replace(/<head>.*<\/head>/s, ' ')
    .replaceAll(/<\/?(?:b|span|a)\b[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_whole, code) => String.fromCodePoint(Number(code)));
const tagsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<[!/]?[a-z][a-z0-9]*/gi)].map(([tag]) => tag);

describe('people 11 a mail', () => {
  it.each(MAIL_KINDS)(
    '$name in $language says the same in both parts, in its language',
    ({ of, language }) => {
      const { subject, text, html } = of(NAME, language);
      expect(wordsOf(shownBy(html))).toEqual(wordsOf(text));
      expect(html).toContain(`<html lang="${language}">`);
      expect(text).toContain(subject);
      expect(text).not.toMatch(/undefined|null|\{\w+\}/);
      const [other = 'en'] = LANGUAGES.filter((one) => one !== language);
      expect(of(NAME, other).subject).not.toBe(subject);
      expect(of(NAME, other).text).not.toBe(text);
    },
  );

  it.each(MAIL_KINDS)(
    '$name in $language is inert, whatever people and agents wrote',
    ({ of, language }) => {
      const { text, html } = of(HOSTILE, language);
      expect(tagsOf(html)).toEqual(tagsOf(of(NAME, language).html));
      expect(html).not.toMatch(/<(?:script|img|link|iframe|form|object)\b|url\(|@import/i);
      expect(wordsOf(shownBy(html))).toEqual(wordsOf(text));
    },
  );

  it.each(MAIL_KINDS)(
    '$name in $language has one button at most, and its address as text',
    ({ of, language }) => {
      const { text, html } = of(NAME, language);
      const links = [...html.matchAll(/<a [^>]*href="(https:[^"]*)"/g)].map(
        ([, href = '']) => href,
      );
      expect(links.length).toBeLessThanOrEqual(1);
      for (const link of links) expect(text).toContain(`: ${link}\n`);
    },
  );
});

describe('people 11 a mail as it is sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-mails-'));
  const sent: MailText[] = [];
  const files: string[] = [];
  beforeAll(async () => {
    const ids = uuidV7Ids(systemClock, systemRandom);
    const mails = mailFolder(folder, 'Cardea <no-reply@example.com>', { ids, clock: systemClock });
    for (const { of, language } of MAIL_KINDS) {
      const mail = of(NAME, language);
      const before = new Set(readdirSync(folder));
      await mails.send({ ...mail, to: TO });
      sent.push(mail);
      files.push(readdirSync(folder).find((f) => f.endsWith('.eml') && !before.has(f)) ?? '');
    }
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is read by postal-mime as it was written', async () => {
    for (const [at, mail] of sent.entries()) {
      expect(trimmed(await readByPostalMime(folder, files[at] ?? ''))).toEqual(trimmed(mail));
    }
  });

  it.skipIf(!hasPython)('is read by the standard library of Python as it was written', () => {
    const all = readByPython(folder);
    for (const [at, mail] of sent.entries()) {
      const read = all[files[at] ?? ''];
      expect(read).toMatchObject({ type: 'multipart/alternative', defects: 0 });
      expect(trimmed(read as ReadMail)).toEqual(trimmed(mail));
    }
  });
});

const trimmed = ({ subject, text, html }: ReadMail) => ({
  ...{ subject, text: text.trimEnd(), html: html.trimEnd() },
});
