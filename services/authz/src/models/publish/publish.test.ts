import { given } from '@cardea/testing';
import { describe, it } from 'vitest';
import type { Types } from '../../relations/rules.ts';
import { type ModelPublished, models } from '../model.ts';
import { publish } from './publish.ts';

const types: Types = { user: {} };
const published = (version: number): ModelPublished => ({
  type: 'ModelPublished',
  data: { version, types },
});

describe('publishing a model', () => {
  it('makes the next version', () => {
    given(models)
      .when((model) => publish({ expectedVersion: 0, types }, model))
      .accepts(published(1));
    given(models, published(1), published(2))
      .when((model) => publish({ expectedVersion: 2, types }, model))
      .accepts(published(3));
  });

  it('is for those who have seen the version that it replaces', () => {
    given(models, published(1))
      .when((model) => publish({ expectedVersion: 0, types }, model))
      .refuses('version_conflict');
    given(models)
      .when((model) => publish({ expectedVersion: 1, types }, model))
      .refuses('version_conflict');
  });
});
