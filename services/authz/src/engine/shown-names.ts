import { WILDCARD } from '../relations/relation.ts';

/** The maximum characters of a type or an id that is shown. */
const PART_LENGTH_MAX = 128;
const BARE = /^[A-Za-z0-9._~@/-]+$/;

/** Whether reasons show a type or an id unquoted and in full. */
export const isPlain = (text: string): boolean => text.length <= PART_LENGTH_MAX && BARE.test(text);

/** `type:id`. Parts that contain our own punctuation are quoted; long parts are truncated. */
export const shownName = (type: string, id: string): string => `${shownPart(type)}:${shownId(id)}`;

export const shownId = (id: string): string => (id === WILDCARD ? id : shownPart(id));

export function shownPart(text: string): string {
  if (isPlain(text)) return text;
  const short = cut(text);
  return BARE.test(text) ? short : JSON.stringify(short);
}

/** Cuts by code points, so that no surrogate pair is split. */
function cut(text: string): string {
  if (text.length <= PART_LENGTH_MAX) return text;
  const characters = [...text];
  if (characters.length <= PART_LENGTH_MAX) return text;
  return `${characters.slice(0, PART_LENGTH_MAX).join('')}…`;
}
