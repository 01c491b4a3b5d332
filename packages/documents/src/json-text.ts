import type { Json } from '@cardea/contracts';

/** JSON in the style of our formatter: a value that fits on a line and contains no object is on one line. */
export const jsonText = (value: object): string => `${written(value as Json, 0)}\n`;

const LINE_CHARS_MAX = 100;

function written(value: Json, depth: number, prefix = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = '  '.repeat(depth + 1);
  const end = `\n${'  '.repeat(depth)}`;
  if (isList(value)) {
    const items = value.map((item) => written(item, depth + 1));
    const line = `[${items.join(', ')}]`;
    const room = LINE_CHARS_MAX - depth * 2 - prefix - 1;
    if (!line.includes('\n') && line.length <= room) return line;
    return `[\n${items.map((item) => inner + item).join(',\n')}${end}]`;
  }
  const lines = Object.entries(value).map(([name, of]) => {
    const key = `${JSON.stringify(name)}: `;
    return inner + key + written(of, depth + 1, key.length);
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}${end}}`;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
