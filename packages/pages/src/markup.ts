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

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const isMarkup = (part: Markup | readonly Markup[]): part is Markup => KIND in part;

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (typeof part === 'string') return escaped(part);
  if (typeof part === 'number') return String(part);
  return isMarkup(part) ? part.text : part.map(({ text }) => text).join('');
}

export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
  trusted(String.raw({ raw: texts }, ...parts.map(textOf)));

/** Marks text that this program has made as markup: style sheets, scripts, drawings. */
export const trusted = (text: string): Markup => ({ [KIND]: true, text });

export const NOTHING = trusted('');
