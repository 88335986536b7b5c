/** Which governor a run sends its requests through. */
import { createHash } from 'node:crypto';
import { governor } from '../../../model/governor.js';
import { systemClock } from '../../../protocol/clock.js';
import type { Governor } from '../../../protocol/model/governor.js';
import type { OpenedStore } from './open-store.js';
import type { Provider } from './provider.js';

/** All processes of an organisation send through one, where they can reach each other. */
export const governorOf = (
  { governorFor }: OpenedStore,
  places: number,
  { baseUrl, apiKey, authToken }: Provider,
): Governor => {
  if (governorFor === undefined) return governor(systemClock, places);
  const key = [baseUrl, apiKey, authToken].join('\n');
  return governorFor(places, createHash('sha256').update(key).digest('hex').slice(0, 32));
};
