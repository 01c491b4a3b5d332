/** Properties are tried on the cases of one seed, so that a red run means a change; the long form tries others. */
import fc from 'fast-check';
import { testForm } from '../packages/testing/src/test-form.ts';

fc.configureGlobal({ seed: testForm.seed });
