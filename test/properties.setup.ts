/**
 * Property tests use the cases of one seed, so that a failure means a change; the long form uses other
 * seeds.
 */
import fc from 'fast-check';
import { testForm } from '../packages/testing/src/test-form.ts';

fc.configureGlobal({ seed: testForm.seed });
