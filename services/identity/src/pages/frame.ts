/** The frame of this service's pages: the shared frame with this service's texts. */
import { type Frame as AnyFrame, catalogue, frameOf as frameIn } from '@cardea/pages';
import { DE } from './texts-de.ts';
import { EN, type OwnTextKey } from './texts-en.ts';

export const CATALOGUE = catalogue({ en: EN, de: DE });

export type Frame = AnyFrame<OwnTextKey>;
export type TextKey = Parameters<Frame['say']>[0];

type Framed = Parameters<typeof frameIn<OwnTextKey>>;

export const frameOf = (tenant: Framed[1], headers: Framed[2], more: Framed[3] = {}): Frame =>
  frameIn(CATALOGUE, tenant, headers, more);
