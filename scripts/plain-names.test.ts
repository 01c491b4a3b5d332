/** Tests that names use the field's terms, and that files and folders which comments and documents refer to exist. */
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { files, NOT_OURS, text } from './test/repository-files.ts';

/** Words that no name may contain; the right-hand side is what to write instead. */
const REFUSED: { readonly [word: string]: string } = {
  admission: 'authorize; enqueue',
  admit: 'authorize; enqueue',
  admitted: 'authorized; enqueued',
  awake: 'wake signal',
  asked: 'request',
  behind: 'after, isNewer; lag',
  bell: 'wake signal',
  box: 'ciphertext',
  'come in': 'authorize',
  deaf: 'disconnected',
  demand: 'approval requirement',
  desk: 'aggregator',
  door: 'authentication pipeline, endpoint defaults',
  doors: 'addresses',
  dress: 'default headers',
  ending: 'revoked, shutdown',
  endings: 'revoked by stream',
  errand: 'pending mail',
  errands: 'pending mails',
  exchange: 'HTTP context',
  folded: 'snapshot, batched',
  'for vault': 'approval RPC',
  gate: 'require approval, limit',
  gathering: 'batching',
  'hear others': 'identity consumer',
  held: 'current grant, parked',
  judge: 'evaluate policies',
  judgement: 'verdict',
  letter: 'e-mail template',
  letters: 'e-mail templates',
  looks: 'doctor checks',
  machines: 'agents and keys',
  mark: 'revocation',
  marks: 'revocation list',
  memo: 'snapshot cache',
  memos: 'caches',
  mint: 'issue',
  needs: 'dependencies',
  owes: 'pending writes',
  passage: 'request pipeline',
  'passing moves': 'idle checkpointing',
  people: 'user directory',
  place: 'location, AAD',
  'post office': 'mail outbox',
  remembered: 'cached',
  rig: 'fixture',
  ring: 'wake signal',
  said: 'mapped, response',
  seals: 'encrypted fields',
  sight: 'visibility',
  slot: 'grant key',
  slots: 'grant keys, concurrency',
  spoilt: 'mutant',
  'stand in': 'fake',
  standing: 'status, grant basis',
  stretch: 'subscription epoch',
  surroundings: 'validity context',
  told: 'response, mapped',
  way: 'authorized request',
  words: 'text sanitizing',
};

/** Names that may contain such a word, each with its reason. */
const KEPT: { readonly [name: string]: string } = {
  'dead-letter.ts': 'a dead letter is what brokers call it, and the name of its topic',
  DeadLetter: 'as its file',
  DeadLetters: 'as its file',
  deadLetterTopicOf: 'as its file',
  '0200-machines.ts': 'the names of migrations stand in every database',
};

/** Terms of standards that contain such a word; the word alone stays refused. */
const TERMS = ['token exchange'];

/** The words of a name in any case, each between spaces. */
const wordsOf = (name: string): string =>
  TERMS.reduce((words, term) => words.replaceAll(` ${term} `, ' '), allWordsOf(name));

const allWordsOf = (name: string): string =>
  ` ${name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .toLowerCase()} `;

const refusedIn = (name: string): string[] =>
  name in KEPT
    ? []
    : Object.entries(REFUSED)
        .filter(([word]) => wordsOf(name).includes(` ${word} `))
        .map(([word, instead]) => `"${word}" (write: ${instead})`);

const exportsOf = (file: string): string[] =>
  [
    ...text(file).matchAll(
      /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/gm,
    ),
  ].map((match) => match[1] ?? '');

describe('names', () => {
  it('of files and folders are plain', () => {
    const parts = new Set(files.flatMap((file) => file.split('/')));
    const wrong = [...parts].flatMap((part) => refusedIn(part).map((why) => `${part}: ${why}`));
    expect(wrong).toEqual([]);
  });

  it('of exports are plain', () => {
    const wrong = files
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) =>
        exportsOf(file).flatMap((name) => refusedIn(name).map((why) => `${file}: ${name}: ${why}`)),
      );
    expect(wrong).toEqual([]);
  });

  it('are excepted only where they are', () => {
    const names = new Set(files.flatMap((file) => file.split('/')));
    const code = files.filter((file) => file.endsWith('.ts'));
    for (const name of code.flatMap(exportsOf)) names.add(name);
    expect(Object.keys(KEPT).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe('comments', () => {
  it('begin with a sentence of their own, not in the middle of one', () => {
    const begins = /^\s*(?:\/\*\*|\*|\/\/) (?:Of|Whose) /m;
    const wrong = files.filter((file) => file.endsWith('.ts') && begins.test(text(file)));
    expect(wrong).toEqual([]);
  });
});

describe('what comments and documents point at', () => {
  it('is a file of the repository', () => {
    const endings = new Set(files.flatMap((file) => tailsOf(file)));
    const missing = files.filter(isProse).flatMap((file) =>
      referencesIn(file)
        .filter((path) => !endings.has(path) && !files.includes(from(file, path)))
        .map((path) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('is a folder of the repository, or is listed as none', () => {
    const found = files
      .filter(isProse)
      .flatMap((file) =>
        foldersIn(file).map((path) => ({ file, path, isThere: isThere(file, path) })),
      );
    const missing = found.filter(({ path, isThere }) => !isThere && !(path in NO_FOLDERS));
    expect(missing.map(({ file, path }) => `${file}: ${path}`)).toEqual([]);
    const listed = new Set(found.filter(({ isThere }) => !isThere).map(({ path }) => path));
    expect(Object.keys(NO_FOLDERS).filter((path) => !listed.has(path))).toEqual([]);
  });

  it('is a constant or a setting that there is', () => {
    const known = new Set(
      files
        .filter((file) => !file.endsWith('.md'))
        .flatMap((file) => text(file).match(CONSTANT) ?? []),
    );
    const missing = files
      .filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md')
      .flatMap((file) =>
        (text(file).match(/`[^`\n]+`/g) ?? [])
          .flatMap((part) => part.match(CONSTANT) ?? [])
          // Any setting can be read from a file that `<NAME>_FILE` names.
          .filter((name) => !known.has(name) && !known.has(name.replace(/_FILE$/, '')))
          .map((name) => `${file}: ${name}`),
      );
    expect(missing).toEqual([]);
  });
});

describe('a request, file by file', () => {
  const FILES_MAX = 20;

  it('is a login in at most 20 files, one below the other', () => {
    const [, section = ''] = text('docs/architecture.md').split('### Three requests, file by file');
    const numbers = [...section.matchAll(/^\| (\d+) +\| `/gm)].map(([, number]) => Number(number));
    const lastOfLogin = numbers.findIndex((number, at) => (numbers[at + 1] ?? 0) < number);
    const login = numbers.slice(0, lastOfLogin + 1);
    expect(login).toEqual(login.map((_, at) => at + 1));
    expect(login.length).toBeGreaterThan(0);
    expect(login.length).toBeLessThanOrEqual(FILES_MAX);
  });
});

const CONSTANT = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g;

/** All suffixes of the path: a reference may leave out leading folders. */
const tailsOf = (file: string): string[] =>
  file.split('/').map((_, at, parts) => parts.slice(at).join('/'));

const from = (file: string, path: string): string =>
  path.startsWith('/') ? path.slice(1) : normalize(join(dirname(file), path));

const PATH = /(?<![\w/<>*.:-])(?:\.{0,2}\/)?(?:[\w.-]+\/)*[\w-][\w.-]*\.(?:ts|mjs|md)\b(?![\w*])/g;
/** A placeholder for a name: `NNNN-name.ts`. */
const PLACEHOLDER = /(^|\/)NNNN-/;

function isProse(file: string): boolean {
  return /\.(ts|mjs|md)$/.test(file) && file !== 'CHANGELOG.md';
}

const commentsOf = (file: string): string[] =>
  text(file).match(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm) ?? [];

function referencesIn(file: string): string[] {
  const prose = file.endsWith('.md')
    ? (text(file).match(/`[^`\n]+`|\]\([^)\s]+\)/g) ?? [])
    : commentsOf(file);
  return prose.flatMap((part) => part.match(PATH) ?? []).filter((path) => !PLACEHOLDER.test(path));
}

/**
 * Matches a path with a slash and without an extension, but no package, no URL and no label of a derived key
 * (`otp/v1`).
 */
const FOLDER = /^(?![@\d])(?:\.{1,2}\/)*[\w.-]+\/(?:[\w-][\w.-]*\/)*(?:[\w-]+\/?)?$/;
const LABEL = /^[\w-]+\/v\d+$/;

/** Finds folders between backticks and in the targets of links only, because elsewhere a slash often means "or". */
function foldersIn(file: string): string[] {
  const prose = file.endsWith('.md') ? [text(file)] : commentsOf(file);
  return prose
    .flatMap((part) => [...part.matchAll(/`([^`\n]+)`|\]\(([^)\s#]+)/g)])
    .flatMap(([, code, link]) => (code ?? link ?? '').split(' '))
    .filter((path) => FOLDER.test(path) && !LABEL.test(path) && !PLACEHOLDER.test(path))
    .map((path) => path.replace(/\/$/, ''))
    .filter((path) => !NOT_OURS.has(path.split('/')[0] ?? ''));
}

/** Texts that look like a folder and are none of the repository, each with its meaning. */
const NO_FOLDERS: { readonly [path: string]: string } = {
  'application/x-ndjson': 'a media type',
  'application/json': 'a media type',
  'text/html': 'a media type',
  'cardea/vault': 'an image',
  native: 'in the package that has the binaries of PostgreSQL',
  'postgres/kept-elsewhere': 'a marker in the data folder',
  schemas: 'written by `npm run documents`',
};

/** The folders above a file, from the topmost on. */
const foldersOf = (file: string): string[] =>
  file.split('/').flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join('/')]));

const paths = new Set(
  files
    .flatMap((file) => [file, file.replace(/\.test\.ts$/, ''), ...foldersOf(file)])
    .flatMap(tailsOf),
);

const isThere = (file: string, path: string): boolean => {
  const here = from(file, path);
  return paths.has(path) || files.some((other) => other === here || other.startsWith(`${here}/`));
};
