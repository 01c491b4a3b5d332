/**
 * Reads the elements of one array of a large JSON file, each with the line at which it begins. The array is the file
 * itself, or a named member of its object. Only one element is in memory at a time.
 */
import { NotDone } from '../failures.ts';
import { type FileRecord, RECORD_CHARACTERS_MAX } from './file-text.ts';

export type WantedArray = 'whole file' | { readonly member: string };

export async function* jsonElements(
  chunks: AsyncIterable<string>,
  wanted: WantedArray,
): AsyncGenerator<FileRecord, void> {
  const reader = elementReader(wanted);
  for await (const chunk of chunks) yield* reader.read(chunk);
  reader.end();
}

type Started = {
  readonly line: number;
  /** Undefined after the text became too large. */
  text: string | undefined;
};

const beginning = () => ({
  line: 1,
  /** The number of open objects and arrays. */
  depth: 0,
  isInString: false,
  isEscaped: false,
  /** The text of the last string at depth 1, which may be a member name. */
  name: '',
  isName: false,
  isInArray: false,
  hasArray: false,
  element: undefined as Started | undefined,
});

function elementReader(wanted: WantedArray) {
  const state = beginning();
  const arrayDepth = wanted === 'whole file' ? 1 : 2;
  const isWanted = () =>
    wanted === 'whole file' ? state.depth === 0 : state.depth === 1 && state.name === wanted.member;

  const inString = (character: string): void => {
    if (state.isEscaped) state.isEscaped = false;
    else if (character === '\\') state.isEscaped = true;
    else if (character === '"') {
      state.isInString = false;
      state.isName = false;
    }
    if (state.isName && state.name.length < NAME_CHARACTERS_MAX) state.name += character;
  };
  const opens = (character: string): void => {
    if (character === '[' && !state.hasArray && isWanted()) {
      state.isInArray = true;
      state.hasArray = true;
    }
    state.depth += 1;
  };
  /** Whether the array ends here. */
  const closes = (): boolean => {
    state.depth -= 1;
    if (!state.isInArray || state.depth >= arrayDepth) return false;
    state.isInArray = false;
    return true;
  };
  const startsString = (): void => {
    state.isInString = true;
    state.isName = !state.isInArray && state.depth === 1;
    if (state.isName) state.name = '';
  };
  const ended = (): FileRecord | undefined => {
    const { element } = state;
    state.element = undefined;
    return element;
  };
  return {
    *read(chunk: string): Generator<FileRecord, void> {
      let from = 0;
      const keep = (to: number): void => {
        const { element } = state;
        if (element?.text !== undefined) element.text += chunk.slice(from, to);
        if ((element?.text?.length ?? 0) > RECORD_CHARACTERS_MAX && element !== undefined) {
          element.text = undefined;
        }
        from = to;
      };
      for (let at = 0; at < chunk.length; at += 1) {
        const character = chunk[at] ?? '';
        if (character === '\n') state.line += 1;
        if (state.isInString) {
          inString(character);
          continue;
        }
        const isBetween = state.isInArray && state.depth === arrayDepth;
        if (isBetween && state.element === undefined && !SEPARATORS.includes(character)) {
          state.element = { line: state.line, text: '' };
          from = at;
        }
        const isEnd = isBetween && (character === ',' || character === ']');
        if (isEnd) keep(at);
        if (character === '"') startsString();
        else if (character === '{' || character === '[') opens(character);
        else if (character === '}' || character === ']') closes();
        const record = isEnd ? ended() : undefined;
        if (record !== undefined) yield record;
      }
      keep(chunk.length);
    },
    end: (): void => {
      if (state.depth !== 0 || state.isInString) throw new NotDone('the file was cut');
      if (!state.hasArray) throw new NotDone('the file has no list of users in that form');
    },
  };
}

const NAME_CHARACTERS_MAX = 64;
const SEPARATORS = ' \t\r\n,]';
