/**
 * The HTML part. Mail programs support tables and inline styles. Optional features (screen width, dark colours) are in
 * one style sheet, and nothing is missing in programs that drop it.
 */
import type { Block, Fact } from './blocks.ts';
import { BRAND_COLOR, CARD_COLORS, INKS, inkOn, PAGE_COLORS, readable } from './colors.ts';
import type { Language } from './languages.ts';
import { escapeHtml } from './mail-text.ts';

const WIDTH_MAX_PX = 600;
const FONT = `font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif`;
const MONO = `font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace`;
const TEXT = `${FONT};font-size:16px;line-height:24px`;
const SMALL = `${FONT};font-size:14px;line-height:20px`;

/** The greys of the pages. */
const LIGHT = { text: INKS.dark, muted: '#57606a', line: '#d8dee4' };
const DARK = { text: '#e8edf2', muted: '#a9b4c0', line: '#333c47' };

/** A long address may break anywhere, so that it never widens the mail. */
const BREAKS = 'overflow-wrap:anywhere;word-break:break-word';
/** The style of text that is not read as words. It fills its lines. */
const BREAKS_ALL = 'word-break:break-all';

const COLOR = /^#[0-9a-f]{6}$/i;

type Look = {
  readonly language: Language;
  readonly title: string;
  readonly color: string | null;
};

export function htmlOf(blocks: readonly Block[], { language, title, color: chosen }: Look): string {
  const color = chosen !== null && COLOR.test(chosen) ? chosen : BRAND_COLOR;
  const rows = blocks.map((block) => rowOf(block, color)).join('\n');
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${styleOf(color)}</style>
</head>
<body class="page" style="margin:0;padding:0;background:${PAGE_COLORS.light};-webkit-text-size-adjust:100%">
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background:${PAGE_COLORS.light}">
<tr><td align="center" class="edge" style="padding:24px 16px">
<table role="presentation" class="card" width="${WIDTH_MAX_PX}" cellpadding="0" cellspacing="0" border="0" style="width:100%;max-width:${WIDTH_MAX_PX}px;background:${CARD_COLORS.light};border:1px solid ${LIGHT.line};border-radius:10px;text-align:left">
${rows}
</table>
</td></tr>
</table>
</body>
</html>
`;
}

/** Style sheets of mails override inline styles only with `!important`. */
function styleOf(color: string): string {
  const dark = [
    `.page{background:${PAGE_COLORS.dark}!important}`,
    `.card{background:${CARD_COLORS.dark}!important;border-color:${DARK.line}!important}`,
    `.text{color:${DARK.text}!important}`,
    `.muted{color:${DARK.muted}!important}`,
    `.line{border-color:${DARK.line}!important}`,
    `.name,.link{color:${readable(color, CARD_COLORS.dark)}!important}`,
    `.button{border-color:${readable(color, CARD_COLORS.dark)}!important}`,
  ];
  const narrow = [
    '.edge{padding:0!important}',
    '.card{border-width:0!important;border-radius:0!important}',
    '.cell{padding-left:20px!important;padding-right:20px!important}',
    '.label,.value{display:block!important;width:auto!important}',
    '.label{padding-bottom:0!important}',
    '.value{border-top:0!important;padding-top:0!important}',
  ];
  return `:root{color-scheme:light dark}@media(prefers-color-scheme:dark){${dark.join('')}}@media(max-width:480px){${narrow.join('')}}`;
}

const row = (style: string, content: string, classes = 'text'): string =>
  `<tr><td class="cell ${classes}" style="${style}">${content}</td></tr>`;

function rowOf(block: Block, color: string): string {
  switch (block.kind) {
    case 'brand':
      return row(
        `padding:28px 32px 0;${TEXT};font-weight:600;color:${readable(color, CARD_COLORS.light)};${BREAKS}`,
        escapeHtml(block.text),
        'name',
      );
    case 'title':
      return row(
        `padding:16px 32px 0`,
        `<h1 class="text" style="margin:0;${FONT};font-size:20px;line-height:28px;font-weight:600;color:${LIGHT.text};${BREAKS};hyphens:auto">${escapeHtml(block.text)}</h1>`,
      );
    case 'why':
      return row(paragraph(), escapeHtml(block.text));
    case 'facts':
      return block.facts.length === 0 ? '' : row(`padding:16px 32px 0`, tableOf(block.facts));
    case 'code':
      return codeRow(block);
    case 'button':
      return buttonRow(block, color);
    case 'paste':
      return row(
        `padding:12px 32px 0;${SMALL};color:${LIGHT.muted}`,
        `${escapeHtml(block.label)}: <span style="${MONO};font-size:13px;${BREAKS_ALL}">${escapeHtml(block.code)}</span>`,
        'muted',
      );
    case 'end':
      return row(`${paragraph()};padding-bottom:28px`, escapeHtml(block.text));
    case 'foot':
      return footRow(block);
  }
}

const paragraph = (): string => `padding:12px 32px 0;${TEXT};color:${LIGHT.text};${BREAKS}`;

function tableOf(facts: readonly Fact[]): string {
  const line = `border-top:1px solid ${LIGHT.line};vertical-align:top;text-align:left`;
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th scope="row" class="label line muted" width="34%" style="${line};padding:10px 16px 10px 0;${SMALL};font-weight:400;color:${LIGHT.muted}">${escapeHtml(label)}</th>` +
      `<td class="value line text" style="${line};padding:10px 0;${SMALL};color:${LIGHT.text};${BREAKS}">${escapeHtml(value)}</td></tr>`,
  );
  return `<table class="line" width="100%" cellpadding="0" cellspacing="0" border="0" style="border-bottom:1px solid ${LIGHT.line};border-collapse:collapse">${rows.join('')}</table>`;
}

/** One click selects the code, and its digits and letters are distinguishable. */
const codeRow = ({ label, code }: { readonly label: string; readonly code: string }): string =>
  row(
    `padding:20px 32px 8px;${SMALL};color:${LIGHT.muted}`,
    `${escapeHtml(label)}<br><b class="text" style="${MONO};font-size:28px;line-height:40px;letter-spacing:3px;color:${LIGHT.text};${BREAKS}">${escapeHtml(code)}</b>`,
    'muted',
  );

/** The cell has the colour too, for mail programs that remove it from links. */
function buttonRow(
  { label, link }: { readonly label: string; readonly link: string },
  color: string,
): string {
  const ink = inkOn(color);
  const href = escapeHtml(link);
  const anchor = `<a class="button" href="${href}" style="display:inline-block;padding:11px 24px;${TEXT};font-weight:600;color:${ink};text-decoration:none;background:${color};border:1px solid ${readable(color, CARD_COLORS.light)};border-radius:6px">${escapeHtml(label)}</a>`;
  return [
    row('padding:20px 32px 0', anchor),
    row(
      `padding:12px 32px 0;${SMALL};color:${LIGHT.muted}`,
      `<span class="muted" style="color:${LIGHT.muted};${BREAKS_ALL}">${href}</span>`,
      'muted',
    ),
  ].join('\n');
}

function footRow({ from, support }: Extract<Block, { kind: 'foot' }>): string {
  const lines = [
    ...(from === '' ? [] : [escapeHtml(from)]),
    ...(support === undefined ? [] : [supportOf(support)]),
  ];
  return row(
    `padding:16px 32px 20px;border-top:1px solid ${LIGHT.line};${SMALL};color:${LIGHT.muted};${BREAKS}`,
    lines.join('<br>'),
    'muted line',
  );
}

const supportOf = ([label, address]: Fact): string =>
  `${escapeHtml(label)}: <a class="link" href="mailto:${encodeURI(address)}" style="color:${LIGHT.muted}">${escapeHtml(address)}</a>`;
