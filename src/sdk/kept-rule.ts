/** An answer that a person gave for a whole project. */
import type { LoadedSettings } from '../config/load-settings.js';
import { addTrustedAllowRule } from '../config/local-rules.js';
import { stateLayout } from '../config/state-directory.js';
import type { Surroundings } from './surroundings.js';

/** A project that cannot be written to must not end the run: the answer holds for its session. */
export const keepRule = (
  text: string,
  { skeinHome, workspace, trust }: LoadedSettings,
  { notify }: Surroundings,
): void => {
  try {
    const file = addTrustedAllowRule(stateLayout(skeinHome).trust, workspace, text);
    if (trust === 'trusted') return;
    notify(`The answer is kept in ${file}; it applies once you run \`skein trust\`.`);
  } catch (error) {
    notify(`The answer holds for this session only: ${(error as Error).message}`);
  }
};
