import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { closureOf } from '../../deploy/closures.ts';
import { listedParts, type PartsList } from '../../deploy/listed-parts.ts';
import { defaultImages } from '../../scripts/containers/pinned-images.ts';

const root = process.cwd();
const folder = mkdtempSync(join(tmpdir(), 'cardea-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const held = [...closureOf(root, 'services/vault').keys()].map((home) => {
  const { name, version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': purl, purl };
});
const stranger = { 'bom-ref': 'vue', purl: 'pkg:npm/vue@3.0.0' };
const list: PartsList = {
  components: [...held, stranger],
  dependencies: held.map(({ purl }) => ({ ref: purl, dependsOn: ['vue'] })),
};

describe('the list of parts of an image', () => {
  it('holds what the image holds, and nothing that only the lockfile knows', () => {
    const { components, dependencies = [] } = listedParts(list, root, 'vault');
    expect(components).toEqual(held);
    expect(dependencies.flatMap(({ dependsOn = [] }) => dependsOn)).toEqual([]);
  });

  it('is not made when a part of the image is not in it', () => {
    const components = list.components.filter(({ purl }) => !purl?.startsWith('pkg:npm/ioredis@'));
    expect(() => listedParts({ ...list, components }, root, 'vault')).toThrow('ioredis');
  });
});

describe('deploy/release.sh', () => {
  /** A fake Docker whose registries return a digest for every image, or for none. */
  const release = (digest: string) => {
    const checkout = mkdtempSync(join(folder, 'checkout-'));
    mkdirSync(join(checkout, 'bin'));
    for (const part of ['deploy', 'scripts', 'services']) mkdirSync(join(checkout, part));
    for (const file of [
      'deploy/release.sh',
      'deploy/Dockerfile',
      'docker-compose.yml',
      'scripts/bootstrap.mjs',
    ])
      writeFileSync(join(checkout, file), readFileSync(file));
    writeFileSync(join(checkout, 'bin/docker'), `#!/bin/sh\necho '${digest}'\n`);
    chmodSync(join(checkout, 'bin/docker'), 0o755);
    const { status, stderr } = spawnSync('sh', ['deploy/release.sh'], {
      cwd: checkout,
      env: { PATH: `${join(checkout, 'bin')}:${process.env['PATH']}` },
      encoding: 'utf8',
    });
    const lock = () => readFileSync(join(checkout, 'deploy/images.lock'), 'utf8');
    return { status, stderr, lock };
  };

  it('pins each image of other people by its digest, under the variable that compose reads', () => {
    const digest = `sha256:${'a1'.repeat(32)}`;
    const lines = release(digest)
      .lock()
      .split('\n')
      .filter((line) => /^[A-Z]/.test(line));
    expect(lines.toSorted()).toEqual(
      Object.entries(defaultImages())
        .map(([name, image]) => `${name}=${image}@${digest}`)
        .toSorted(),
    );
    expect(lines).toHaveLength(8);
  });

  it('pins nothing when a registry names no digest', () => {
    const { status, stderr, lock } = release('');
    expect(status).not.toBe(0);
    expect(stderr).toContain('No registry names a digest of node:');
    expect(lock).toThrow('ENOENT');
  });
});
