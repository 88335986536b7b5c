/** Saves a permission answer that a person gave for the whole project. */

import { addTrustedAllowRule } from '../../config/settings/add-local-allow-rule.js';
import type { LoadedSettings } from '../../config/settings/load-settings.js';
import { stateLayout } from '../../config/workspace/state-layout.js';
import type { HostEnvironment } from './options/host-environment.js';

/** Adds an allow rule to the project's local settings. Never throws: on failure a notice says so. */
export const keepRule = (
  text: string,
  { skeinHome, workspace, trust }: LoadedSettings,
  { notify }: HostEnvironment,
): void => {
  try {
    const file = addTrustedAllowRule(stateLayout(skeinHome).trust, workspace, text);
    if (trust === 'trusted') return;
    notify(`The rule was saved in ${file}. It applies after you run \`skein trust\`.`);
  } catch (error) {
    notify(`The rule was not saved and applies to this session only: ${(error as Error).message}`);
  }
};
