/** HTML as a value. A template escapes its values unless they are markup already. */
const KIND = Symbol('markup');

export type Markup = { readonly [KIND]: true; readonly text: string };
export type Part = string | number | Markup | undefined | readonly Markup[];

const ENTITIES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const SPECIAL = /[&<>"']/;

const escaped = (text: string): string =>
  SPECIAL.test(text) ? text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '') : text;

const isMarkup = (part: Markup | readonly Markup[]): part is Markup => KIND in part;

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  if (isMarkup(part)) return part.text;
  let text = '';
  for (const each of part) text += each.text;
  return text;
}

export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = texts[0] ?? '';
  for (const [at, part] of parts.entries()) text += textOf(part) + (texts[at + 1] ?? '');
  return trusted(text);
}

/** Marks text that this program has made as markup: style sheets, scripts, drawings. */
export const trusted = (text: string): Markup => ({ [KIND]: true, text });

export const NOTHING = trusted('');
