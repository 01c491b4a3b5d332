/**
 * The form of every mail: a subject of one line, paragraphs of plain text, and the same paragraphs as HTML,
 * in which everything that users or agents wrote is escaped.
 */
import { DEFAULT_LANGUAGE, type Language } from './languages.ts';

export type MailText = {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
};

/** Plain text, or a link (an anchor in the HTML), or a code (bold in the HTML), each after its label. */
export type Paragraph =
  | string
  | { readonly label: string; readonly link: string }
  | { readonly label: string; readonly code: string };

export function mailText(
  subject: string,
  paragraphs: readonly Paragraph[],
  language: Language = DEFAULT_LANGUAGE,
): MailText {
  const lines = paragraphs.map(asText);
  const html = paragraphs.map((each) => `<p>${asHtml(each)}</p>`).join('');
  return {
    subject: oneLine(subject),
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="${language}"><body>${html}</body></html>`,
  };
}

function asText(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return paragraph;
  return `${paragraph.label}: ${'link' in paragraph ? paragraph.link : paragraph.code}`;
}

function asHtml(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escapeHtml(paragraph);
  const label = escapeHtml(paragraph.label);
  return 'link' in paragraph
    ? `<a href="${escapeHtml(paragraph.link)}">${label}</a>`
    : `${label}: <b>${escapeHtml(paragraph.code)}</b>`;
}

/** For what people wrote where it must not begin a line of its own. */
export const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
