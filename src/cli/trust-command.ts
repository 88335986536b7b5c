/** `skein trust`: a person vouches for the settings of a workspace, or takes it back. */
import { resolve } from 'node:path';
import { openStateDirectory } from '../config/state-directory.js';
import { trustWorkspace, untrustWorkspace } from '../config/trust.js';
import { settingsFor } from '../sdk/workbench-settings.js';
import { EXIT } from './exit-code.js';
import { harmless } from './harmless-text.js';
import type { Machine } from './machine.js';
import type { RunFlags } from './run-flags.js';

export const changeTrust = (
  flags: RunFlags & { revoke?: boolean; json?: boolean },
  machine: Machine,
): number => {
  const cwd = flags.cwd === undefined ? machine.cwd : resolve(machine.cwd, flags.cwd);
  const settings = settingsFor(machine, flags, cwd);
  const { trust: file } = openStateDirectory(settings.skeinHome);
  const { workspace, projectFiles } = settings;
  const revoked = flags.revoke === true;
  if (revoked) untrustWorkspace(file, workspace);
  else trustWorkspace(file, workspace, projectFiles);
  const state = revoked ? 'untrusted' : 'trusted';
  if (flags.json === true) {
    machine.out(`${JSON.stringify({ workspace: workspace.root, state })}\n`);
  } else {
    const said = revoked
      ? `${workspace.root} is no longer trusted.`
      : `${workspace.root} is trusted until its settings change.`;
    machine.out(`${harmless(said)}\n`);
  }
  return EXIT.done;
};
