import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { givesEachServiceItsOwn } from './rules/compartment-rules.ts';
import * as rules from './rules/kubernetes-rules.ts';
import { manifestMutants } from './rules/manifest-mutants.ts';
import { documentsIn, kustomizationOf, type Manifests, readManifests } from './rules/manifests.ts';
import { brokenRules, type Rule } from './rules/rule.ts';
import * as traffic from './rules/traffic-rules.ts';

const BASE = 'deploy/k8s/base';
const EXAMPLE = 'deploy/k8s/overlays/example';
const original = readManifests(BASE);
const ALL: readonly Rule<Manifests>[] = [
  rules.isWellFormed,
  rules.spellsEachField,
  rules.hasItsParts,
  rules.selectsItsPods,
  rules.servesWhatItListensOn,
  rules.runsTwoReplicas,
  rules.migratesFirst,
  rules.probesItsState,
  rules.confinesEachContainer,
  rules.boundsItsMemory,
  rules.stopsInTime,
  rules.carriesNoToken,
  rules.takesNoServiceLinks,
  rules.keepsSecretsInFiles,
  rules.keepsTheOwnerApart,
  rules.knowsItsSettings,
  givesEachServiceItsOwn,
  traffic.letsInItsCallers,
  traffic.believesNobodyUnnamed,
  traffic.requiresTls,
  traffic.asksWhomItMay,
  traffic.reachesOutsideWhereItMust,
  traffic.deniesTheRest,
];

describe('the manifests', () => {
  it.each(ALL.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    expect(rule(original)).toEqual([]);
  });

  it('are all listed, and all there', () => {
    const { resources, configMapGenerator = [] } = kustomizationOf(BASE);
    const listed = [...resources, ...configMapGenerator.flatMap(({ envs = [] }) => envs)];
    const files = readdirSync(BASE).filter((name) => name !== 'kustomization.yaml');
    expect(files.toSorted()).toEqual(listed.toSorted());
    const { resources: others, patches = [] } = kustomizationOf(EXAMPLE);
    const named = [...others, ...patches.map(({ path }) => path)];
    expect(named.filter((name) => !existsSync(join(EXAMPLE, name)))).toEqual([]);
  });

  it('of the example fit the same models, and its patches what they are laid over', () => {
    const { documents } = readManifests(EXAMPLE);
    expect(rules.isWellFormed({ documents, settings: {} })).toEqual([]);
    expect(rules.spellsEachField({ documents, settings: {} })).toEqual([]);
    const [admin] = documentsIn(join(EXAMPLE, 'first-admin.yaml'));
    const [patched] = admin === undefined ? [] : rules.podOf(admin).containers;
    expect(patched?.name).toBe('identity');
    expect(patched?.volumeMounts?.map(({ name }) => name)).toEqual(
      admin && rules.podOf(admin).volumes?.map(({ name }) => name),
    );
  });
});

describe('O6 a manifest', () => {
  it.each(manifestMutants)('O6 with $what is refused by $breaks.name', ({ breaks, spoil }) => {
    const all = structuredClone(original);
    spoil(all);
    expect(brokenRules(ALL, all)).toContain(breaks.name);
  });

  it('O6 has for each rule a broken one', () => {
    const tried = new Set(manifestMutants.map(({ breaks }) => breaks.name));
    expect(ALL.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
  });
});
