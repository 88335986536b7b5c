/** An answer that a person gave for a whole project. */
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { addTrustedAllowRule } from '../../config/settings/local-rules.js';
import { stateLayout } from '../../config/workspace/state-directory.js';
import type { HostEnvironment } from './options/host-environment.js';

/** A project that cannot be written to must not end the run: the answer holds for its session. */
export const keepRule = (
  text: string,
  { skeinHome, workspace, trust }: LoadedSettings,
  { notify }: HostEnvironment,
): void => {
  try {
    const file = addTrustedAllowRule(stateLayout(skeinHome).trust, workspace, text);
    if (trust === 'trusted') return;
    notify(`The answer is kept in ${file}; it applies once you run \`skein trust\`.`);
  } catch (error) {
    notify(`The answer holds for this session only: ${(error as Error).message}`);
  }
};
