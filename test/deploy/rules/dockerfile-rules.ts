/** Rules for our Dockerfiles. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { filesOf } from './build-context.ts';
import { type Stage, type Step, stagesOf } from './dockerfile-parts.ts';
import { type Rule, SERVICES } from './rule.ts';

export type DockerfileSubject = {
  text: string;
  /** The stage from which the image is built. */
  readonly target: string;
  /** Files that .dockerignore does not exclude. */
  context: readonly string[];
};

type Manifest = { readonly name: string; readonly dependencies?: { readonly [n: string]: string } };
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));

const lastOf = ({ text, target }: DockerfileSubject): Stage =>
  stagesOf(text).find(({ name }) => name === target) ?? { name: undefined, image: '', steps: [] };
const allSteps = ({ text }: DockerfileSubject): readonly Step[] =>
  stagesOf(text).flatMap(({ steps }) => steps);
const stepsNamed = (steps: readonly Step[], keyword: string): readonly Step[] =>
  steps.filter((step) => step.keyword === keyword);

export const hasAStart: Rule<DockerfileSubject> = (subject) =>
  stagesOf(subject.text).length > 0 && stepsNamed(lastOf(subject).steps, 'CMD').length === 1
    ? []
    : ['nothing is started, or too much'];

/**
 * User and group are numbers, so that an orchestrator can tell that neither is root's. Nothing is created after them.
 */
export const endsAsNobody: Rule<DockerfileSubject> = (subject) => {
  const { steps } = lastOf(subject);
  const users = stepsNamed(steps, 'USER');
  const user = users.at(-1);
  if (user === undefined) return ['it runs as root'];
  const later = steps.slice(steps.indexOf(user) + 1).map(({ keyword }) => keyword);
  return [
    ...(/^[1-9]\d{3,}:[1-9]\d{3,}$/.test(user.words[0] ?? '') ? [] : [`USER ${user.text}`]),
    ...later.filter((keyword) => ['RUN', 'COPY', 'ADD'].includes(keyword)),
  ];
};

/** A shell in between would not forward signals to the process. */
export const startsWithoutShell: Rule<DockerfileSubject> = (subject) =>
  lastOf(subject)
    .steps.filter(({ keyword }) => ['CMD', 'ENTRYPOINT', 'HEALTHCHECK'].includes(keyword))
    .filter(({ isJson }) => !isJson)
    .map(({ keyword, text }) => `${keyword} ${text}`);

export const checksHealth: Rule<DockerfileSubject> = (subject) =>
  stepsNamed(lastOf(subject).steps, 'HEALTHCHECK')
    .filter(({ flags, text }) => /--timeout=\d+s/.test(flags.join(' ')) && text !== 'NONE')
    .map(() => true).length === 1
    ? []
    : ['nobody looks after it'];

/** An argument is visible in the image's history, a variable in its configuration. */
export const holdsNoSecret: Rule<DockerfileSubject> = (subject) => [
  ...allSteps(subject)
    .filter(({ keyword }) => keyword === 'ARG' || keyword === 'ENV')
    .filter(({ text }) => /SECRET|PASSWORD|TOKEN|_KEY|CREDENTIAL|_URL\b/i.test(text))
    .map(({ keyword, text }) => `${keyword} ${text.split('=')[0]}`),
  ...allSteps(subject)
    .filter(({ text }) => /(^|[\s/])\.(env|npmrc)\b/.test(text))
    .map(({ keyword, text }) => `${keyword} ${text}`),
];

export const copiesWhatExists: Rule<DockerfileSubject> = (subject) =>
  stepsNamed(allSteps(subject), 'COPY')
    .filter(({ from }) => from === undefined)
    .flatMap(({ words }) => words.slice(0, -1))
    .filter((source) => filesOf(source, subject.context).length === 0)
    .map((source) => `${source} is not there, or .dockerignore leaves it out`);

export const copiesFromItsStages: Rule<DockerfileSubject> = ({ text }) => {
  const stages = stagesOf(text);
  return stages.flatMap(({ steps }, at) => {
    const earlier = stages.slice(0, at).map(({ name }) => name);
    return stepsNamed(steps, 'COPY')
      .filter(({ from }) => from !== undefined && !earlier.includes(from))
      .map(({ from }) => `${from} is no earlier stage`);
  });
};

export const addsNothingFromAfar: Rule<DockerfileSubject> = (subject) =>
  allSteps(subject)
    .filter(({ keyword, text }) => keyword === 'ADD' || /\b(curl|wget)\b.*https?:/.test(text))
    .filter(({ keyword }) => keyword !== 'HEALTHCHECK')
    .map(({ keyword, text }) => `${keyword} ${text}`);

/** Bases are arguments, so that their digests can be given. */
export const pinsItsBase: Rule<DockerfileSubject> = ({ text }) => {
  const { catalog } = parse(readFileSync('pnpm-workspace.yaml', 'utf8'));
  const defaults = new Map(
    [...text.matchAll(/^ARG (\w+_IMAGE)=(\S+)$/gm)].map(([, name, image]) => [
      `$\{${name}}`,
      image ?? '',
    ]),
  );
  return stagesOf(text)
    .map(({ image }) => defaults.get(image) ?? image)
    .filter((image) =>
      image.startsWith('node:')
        ? image !== `node:${catalog.node}-bookworm-slim`
        : !/:\d+\.\d+\.\d+(-[a-z]+)?$/.test(image),
    )
    .map((image) => `FROM ${image}`);
};

export const installsWhatIsLocked: Rule<DockerfileSubject> = (subject) => {
  const pinned = /'(pnpm@[\d.]+)'/.exec(readFileSync('scripts/bootstrap.mjs', 'utf8'))?.[1];
  const installs = stepsNamed(allSteps(subject), 'RUN').filter(({ text }) => /install/.test(text));
  return installs.length === 1
    ? installs
        .filter(
          ({ text }) =>
            !['--frozen-lockfile', '--prod', `npx --yes ${pinned} install`].every((part) =>
              text.includes(part),
            ),
        )
        .map(({ text }) => `RUN ${text}`)
    : [`${installs.length} installations`];
};

/** Sources of the last stage below a folder, those of earlier stages included. */
export const copiedInto = (subject: DockerfileSubject, folder: string): readonly string[] =>
  stepsNamed(lastOf(subject).steps, 'COPY')
    .filter(({ words }) => words.at(-1)?.startsWith(folder))
    .flatMap(({ words }) => words.slice(0, -1));

/** The direct and indirect dependencies of a service, as folders of the workspace. */
export function closureOf(service: string): readonly string[] {
  const kept = new Set([`services/${service}`]);
  for (const folder of kept) {
    for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
      const short = name.replace(/^@cardea\//, '');
      const home = ['packages', 'services'].map((kind) => `${kind}/${short}`).find(existsSync);
      if (name !== short && home !== undefined) kept.add(home);
    }
  }
  return [...kept];
}

const copiedBy = (subject: DockerfileSubject): readonly string[] =>
  stepsNamed(allSteps(subject), 'COPY')
    .filter(({ from }) => from === undefined)
    .flatMap(({ words }) => words.slice(0, -1))
    .flatMap((source) => filesOf(source, subject.context));

/** For the image of the services: the COPYs include all that any service needs, and no tests. */
export const copiesTheClosure: Rule<DockerfileSubject> = (subject) => {
  const copied = copiedBy(subject);
  return [
    ...[...needed()]
      .flatMap((folder) => [`${folder}/package.json`, `${folder}/src`])
      .filter((path) => filesOf(path, copied).length === 0)
      .map((path) => `${path} is missing`),
    ...copied.filter((file) => /\.test\.ts$|^\w+\/[^/]+\/test\/|node_modules/.test(file)),
  ];
};

/** The imports that a file needs at run time: neither types nor Node's own modules. */
const IMPORT =
  /^(?:import|export)\s+(?!type\b)[\w*${},\s]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm;

/** Each import resolves to an existing file, or to a package that its own manifest depends on. */
export const copiesWhatIsImported: Rule<DockerfileSubject> = (subject) => {
  const copied = new Set(copiedBy(subject));
  const sources = [...copied].filter((file) => /^(packages|services)\/.*\.ts$/.test(file));
  const shipped = needed();
  const homes = new Map<string, Manifest>();
  return sources.flatMap((file) => {
    const home = file.split('/').slice(0, 2).join('/');
    // The test kit and similar packages are not part of any image.
    if (!shipped.has(home)) return [];
    const manifest = homes.get(home) ?? manifestOf(home);
    homes.set(home, manifest);
    return importsOf(file)
      .filter((specifier) =>
        specifier.startsWith('.')
          ? !copied.has(join(dirname(file), specifier))
          : !specifier.startsWith('node:') && !isAskedFor(specifier, manifest),
      )
      .map((specifier) => `${file} needs ${specifier}`);
  });
};

const needed = (): ReadonlySet<string> => new Set([...SERVICES, 'standalone'].flatMap(closureOf));
const importsOf = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(
    (found) => found.slice(1).find((each) => each !== undefined) ?? '',
  );
const isAskedFor = (specifier: string, { name, dependencies = {} }: Manifest): boolean => {
  const parts = specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1);
  return specifier === name || parts.join('/') in dependencies;
};

export const startsTheService: Rule<DockerfileSubject> = (subject) => {
  const { steps } = lastOf(subject);
  const start = stepsNamed(steps, 'CMD')[0]?.words.join(' ');
  const folder = stepsNamed(steps, 'WORKDIR').at(-1)?.text;
  const threads = stepsNamed(steps, 'ENV').some(({ text }) =>
    text.includes('UV_THREADPOOL_SIZE=8'),
  );
  return [
    ...(start === 'node src/main.ts' ? [] : [`it starts ${start}`]),
    ...(folder === ['/app/services/$', '{SERVICE}'].join('') ? [] : [`it starts in ${folder}`]),
    ...(threads ? [] : ['hashes wait for threads']),
  ];
};

export const contextHoldsNoSecret: Rule<Pick<DockerfileSubject, 'context'>> = ({ context }) =>
  context.filter((file) => /(^|\/)(\.env|\.npmrc|\.git\/|\.cardea\/|secrets\.json)/.test(file));

/** Rules for every image. */
export const imageRules: readonly Rule<DockerfileSubject>[] = [
  hasAStart,
  endsAsNobody,
  startsWithoutShell,
  checksHealth,
  holdsNoSecret,
  copiesWhatExists,
  copiesFromItsStages,
  addsNothingFromAfar,
  pinsItsBase,
  installsWhatIsLocked,
  contextHoldsNoSecret,
];

export const serviceImageRules: readonly Rule<DockerfileSubject>[] = [
  ...imageRules,
  copiesTheClosure,
  copiesWhatIsImported,
  startsTheService,
];
