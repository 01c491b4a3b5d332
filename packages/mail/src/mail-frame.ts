/**
 * The one frame of all mails: sender, reason, facts, one button with its address below, advice for a reader who did not
 * cause the mail, and a contact. HTML and text are built from the same blocks, so their contents are equal. Nothing is
 * loaded from elsewhere, and everything that people or agents wrote is plain text.
 */
import { cleaned } from '@cardea/runtime';
import type { Block, Fact } from './blocks.ts';
import { FRAME_TEXTS } from './frame-texts.ts';
import { htmlOf } from './html-part.ts';
import { DEFAULT_LANGUAGE, type Language } from './languages.ts';
import { type MailText, oneLine, untrustedText } from './mail-text.ts';

/** The content of one mail. */
export type MailContent = {
  readonly subject: string;
  /** One sentence: why the mail was sent. */
  readonly why: string;
  /** Labels with their values. An empty value is left out. */
  readonly facts?: readonly Fact[];
  /** A code to type, shown large. */
  readonly code?: { readonly label: string; readonly code: string } | undefined;
  readonly button?: { readonly label: string; readonly link: string } | undefined;
  /** A code to paste if the link was opened without its secret. */
  readonly paste?: { readonly label: string; readonly code: string } | undefined;
  /** The facts, and the advice for a reader who did not cause the mail. */
  readonly end: string;
};

/** The sender that a mail shows. */
export type MailBrand = {
  /** Chosen by strangers if anybody may create a tenant. If empty, no sender is named. */
  readonly name: string;
  /** `#rrggbb`. Null means Cardea's colour. */
  readonly color?: string | null;
  /** An address for questions. */
  readonly support?: string | null;
};

export function framedMail(
  { subject, why, facts = [], code, button, paste, end }: MailContent,
  brand: MailBrand,
  language: Language = DEFAULT_LANGUAGE,
): MailText {
  const name = untrustedText(brand.name);
  const known = facts.map(([label, value]): Fact => [label, asLine(value)]);
  const title = asLine(subject);
  const blocks: readonly (Block | undefined)[] = [
    name === '' ? undefined : { kind: 'brand', text: name },
    { kind: 'title', text: title },
    { kind: 'why', text: why },
    { kind: 'facts', facts: known.filter(([, value]) => value !== '') },
    button && { kind: 'button', ...button },
    paste && { kind: 'paste', ...paste },
    code && { kind: 'code', ...code },
    { kind: 'end', text: end },
    footOf(name, brand.support ?? null, language),
  ];
  const shown = blocks.filter((block) => block !== undefined);
  return {
    subject: title,
    text: `${shown.map(textOf).filter(isText).join('\n\n')}\n`,
    html: htmlOf(shown, { language, title, color: brand.color ?? null }),
  };
}

const asLine = (text: string): string => cleaned(oneLine(text));
const isText = (text: string): boolean => text !== '';

function footOf(name: string, support: string | null, language: Language): Block | undefined {
  const texts = FRAME_TEXTS[language];
  if (name === '' && support === null) return undefined;
  return {
    kind: 'foot',
    from: name === '' ? '' : texts.from.replace('{tenant}', () => name),
    support: support === null ? undefined : [texts.support, asLine(support)],
  };
}

/** Writes an address as it is, because mail programs turn addresses into links. */
function textOf(block: Block): string {
  switch (block.kind) {
    case 'brand':
    case 'title':
    case 'why':
    case 'end':
      return block.text;
    case 'facts':
      return block.facts.map(lineOf).join('\n');
    case 'code':
    case 'paste':
      return lineOf([block.label, block.code]);
    case 'button':
      return lineOf([block.label, block.link]);
    case 'foot':
      return [block.from, block.support === undefined ? '' : lineOf(block.support)]
        .filter(isText)
        .join('\n');
  }
}

const lineOf = ([label, value]: Fact): string => `${label}: ${value}`;
